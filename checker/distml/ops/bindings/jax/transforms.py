"""jax: functions of functions: gradients, vmap, loops and branches.

Each is followed as JAX traces it: the function runs once on what stands for its arguments.
https://docs.jax.dev/en/latest/jax.html, https://docs.jax.dev/en/latest/jax.lax.html#control-flow-operators
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.call import ZERO
from distml.ops.registry import op
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.sizes import shape_from
from distml.ops.semantics.transforms import (
    Axes,
    axes_of,
    common_size,
    gradient,
    jacobian,
    map_over,
    per_argument,
    stacked,
    traced,
    without,
)
from distml.ops.semantics.trees import leaves, mapped
from distml.shapes import Dim, Shape
from distml.values import NONE, Lib, Partial, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


def later(signature: str, name: str) -> None:
    """Register what makes a function of a function; to call that is the op `<name>.__call__` with the same arguments first."""
    bind(lambda call, *given: Partial(Lib(f"{name}.__call__"), given), signature, name)


_GRADIENT = "fun argnums=0 has_aux=False -holomorphic=False -allow_int=False -reduce_axes=()"
later(_GRADIENT, "jax.grad")
later(_GRADIENT, "jax.value_and_grad")
later("fun argnums=0 has_aux=False -holomorphic=False -allow_int=False", "jax.jacfwd")
for _name in ("jax.jacrev", "jax.jacobian"):
    later("fun argnums=0 has_aux=False -holomorphic=False -allow_int=False", _name)
later("fun argnums=0 has_aux=False -holomorphic=False", "jax.hessian")
_MAPPED = "fun in_axes=0 out_axes=0"
later(f"{_MAPPED} -axis_name=None -axis_size=None -spmd_axis_name=None -sum_match=False", "jax.vmap")
later(
    "fun -axis_name=None * in_axes=0 out_axes=0 static_broadcasted_argnums=() -devices=None -backend=None"
    " -axis_size=None -donate_argnums=() -global_arg_shapes=None",
    "jax.pmap",
)


@op("jax.grad.__call__", "jax.value_and_grad.__call__")
def gradient_of(call: Call, fun: Value, argnums: Value, has_aux: Value, *args: Value, **kwargs: Value) -> Value:
    """jax.grad(fun)(*args): of the shape of what is differentiated, with the value or what else the function gives."""
    made, slope, aux = gradient(call, fun, argnums, has_aux, args, kwargs)
    if call.name.startswith("jax.value_and_grad"):
        return Tup((made, slope))
    return slope if aux is None else Tup((slope, aux)) if call.flag(has_aux) else call.unknown()


@op("jax.jacfwd.__call__", "jax.jacrev.__call__", "jax.jacobian.__call__", "jax.hessian.__call__")
def jacobian_of(call: Call, fun: Value, argnums: Value, has_aux: Value, *args: Value, **kwargs: Value) -> Value:
    """jax.jacfwd(fun)(*args), jax.hessian(fun)(*args)"""
    return jacobian(call, fun, argnums, has_aux, args, kwargs, 2 if "hessian" in call.name else 1)


@op("jax.vmap.__call__")
def mapped_over(call: Call, fun: Value, in_axes: Value, out_axes: Value, *args: Value, **kwargs: Value) -> Value:
    """jax.vmap(fun)(*args): named arguments are mapped over their first axis."""
    return map_over(call, fun, Axes(in_axes, out_axes, ZERO), args, kwargs)


@op("jax.pmap.__call__")
def over_devices(
    call: Call, fun: Value, in_axes: Value, out_axes: Value, static: Value, *args: Value, **kwargs: Value
) -> Value:
    """jax.pmap(fun, static_broadcasted_argnums=...)(*args): what is static goes to every device as it is."""
    listed = call.items(static)
    numbers = [call.const(number, int) for number in ((static,) if listed is None else listed)]
    axes = per_argument(call, in_axes, len(args))
    if axes is None or not all(isinstance(number, int) for number in numbers):
        return call.unknown()
    taken = Tup(tuple(NONE if at in numbers else axis for at, axis in enumerate(axes.items)))
    return map_over(call, fun, Axes(taken, out_axes, ZERO), args, kwargs)


later("pyfunc * -excluded=() signature=None", "jax.numpy.vectorize")


@op("jax.numpy.vectorize.__call__")
def vectorized(call: Call, function: Value, signature: Value, *args: Value) -> Value:
    """jnp.vectorize(f, signature="(n),(n)->()")(*args): axes before those that are named broadcast, f sees the named ones."""
    text = call.const(signature, str)
    given, arrow, _ = text.partition("->") if isinstance(text, str) else ("", "", "")
    cores = [group.count(",") + 1 if group.strip() else 0 for group in re.findall(r"\(([^()]*)\)", given)]
    shapes = [call.facts.shape(call.shape(arg)) for arg in args]
    if not arrow or len(cores) != len(args) or any(shape.dims is None for shape in shapes):
        return call.unknown()
    ahead, inner = Shape(()), []
    for arg, shape, core in zip(args, shapes, cores, strict=True):
        if len(shape.head) < core:
            call.fail("SHP301", f"{call.text}: {text} asks for {core} axes, {call.show(arg)} has {len(shape.head)}")
        cut = len(shape.head) - core
        ahead = call.broadcast(ahead, Shape(shape.head[:cut]))
        inner.append(call.tensor(Shape(shape.head[cut:]), kind_of(arg)))
    made = call.apply(function, *inner)
    if ahead.dims is None:
        return call.unknown()
    axes = ahead.dims

    def wider(leaf: Value) -> Value:
        own = call.shape(leaf)
        dims = None if own.dims is None else (*axes, *own.dims)
        return call.unranked(kind_of(leaf)) if dims is None else call.tensor(Shape(dims), kind_of(leaf))

    return mapped(call, wider, made)


def require_same(call: Call, before: Value, after: Value, what: str) -> None:
    """Two trees whose arrays must have the same shapes (SHP405)."""
    left, right = leaves(call, before), leaves(call, after)
    if left is None or right is None:
        return
    if len(left) != len(right):
        return
    for one, other in zip(left, right, strict=True):
        a, b = call.shape(one), call.shape(other)
        if a.dims is None or b.dims is None:
            continue
        text = f"{call.text}: {what}: {a!r} and {b!r}"
        if not a.may_equal(b):
            call.fail("SHP405", text, *call.notes(*a.dims, *b.dims))


_CARRY = "the carry goes in and comes out with different shapes"


def scan(call: Call, f: Value, init: Value, xs: Value, length: Value) -> Value:
    """jax.lax.scan: the carry keeps its shape, what each step gives is stacked."""
    return scanned(
        call, f, init, (xs,), Axes(Tup((ZERO,)), ZERO, NONE), None if call.is_none(length) else call.dim(length)
    )


def scanned(call: Call, f: Value, init: Value, xs: tuple[Value, ...], axes: Axes, length: Dim | None) -> Value:
    """What a scan over some axes gives: the carry, and what the steps give."""
    taken = per_argument(call, axes.taken, len(xs))
    if taken is None:
        return call.unknown()
    size = common_size(call, axes_of(call, taken, Tup(xs)) or []) or length
    carry = traced(call, init)
    made = call.apply(f, carry, *(without(call, axis, each) for axis, each in zip(taken.items, xs, strict=True)))
    pair = call.items(made)
    if pair is None or len(pair) != 2:
        return Tup((carry, call.unknown()))
    require_same(call, carry, pair[0], _CARRY)
    return Tup((carry, stacked(call, pair[1], axes.given, size)))


def map_(call: Call, f: Value, xs: Value) -> Value:
    """jax.lax.map: the function of each slice, stacked."""
    rows = leaves(call, xs)
    size = None if rows is None else common_size(call, [(leaf, ZERO) for leaf in rows])
    return stacked(call, call.apply(f, without(call, ZERO, xs)), ZERO, size)


def fori_loop(call: Call, body: Value, init: Value) -> Value:
    """jax.lax.fori_loop: the carry keeps its shape."""
    carry = traced(call, init)
    require_same(call, carry, call.apply(body, call.tensor([], "int"), carry), _CARRY)
    return carry


def while_loop(call: Call, condition: Value, body: Value, init: Value) -> Value:
    """jax.lax.while_loop: the carry keeps its shape, the condition is one truth value (SHP301)."""
    carry = traced(call, init)
    goes_on = call.apply(condition, carry)
    if isinstance(goes_on, Tensor) and call.shape(goes_on).least > 0:
        text = f"{call.text}: the condition must be one truth value, it is {call.show(goes_on)}"
        call.fail("SHP301", text, *call.notes(*call.shape(goes_on).head))
    require_same(call, carry, call.apply(body, carry), _CARRY)
    return carry


def branches(call: Call, functions: tuple[Value, ...], operands: tuple[Value, ...]) -> Value:
    """What every branch gives, of the same shapes (SHP405)."""
    given = [traced(call, operand) for operand in operands]
    results = [call.apply(function, *given) for function in functions]
    for other in results[1:]:
        require_same(call, results[0], other, "the branches give different shapes")
    return traced(call, results[0]) if results else call.unknown()


@op("jax.lax.cond")
def cond(call: Call, pred: Value, true_fun: Value, false_fun: Value, *operands: Value, **options: Value) -> Value:
    """jax.lax.cond(pred, true_fun, false_fun, *operands)"""
    operands = (*operands, options["operand"]) if "operand" in options else operands
    return branches(call, (true_fun, false_fun), operands)


@op("jax.lax.switch")
def switch(call: Call, index: Value, functions: Value, *operands: Value) -> Value:
    """jax.lax.switch(index, branches, *operands)"""
    listed = call.items(functions)
    return call.unknown() if not listed else branches(call, listed, operands)


bind(scan, "f init xs=None length=None -reverse=False -unroll=1 -_split_transpose=False", "jax.lax.scan")
bind(map_, "f xs * -batch_size=None", "jax.lax.map")
bind(fori_loop, "-lower -upper body_fun init_val * -unroll=None", "jax.lax.fori_loop")
bind(while_loop, "cond_fun body_fun init_val", "jax.lax.while_loop")
bind(traced, "-fn elems -reverse=False -axis=0", "jax.lax.associative_scan")


@op("jax.eval_shape")
def eval_shape(call: Call, fun: Value, *args: Value, **kwargs: Value) -> Value:
    """jax.eval_shape(fun, *args): the shapes of what the function gives."""
    return traced(call, call.apply(fun, *args, kwargs=kwargs))


def struct(call: Call, shape: Value) -> Value:
    """jax.ShapeDtypeStruct: what stands for an array."""
    return call.tensor(shape_from(call, shape))


bind(struct, "shape -dtype * -named_shape=None -sharding=None -weak_type=False -vma=None", "jax.ShapeDtypeStruct")


@op("jax.jvp")
def jvp(call: Call, fun: Value, primals: Value, tangents: Value, **options: Value) -> Value:
    """jax.jvp(fun, primals, tangents): the value and its change, of one shape."""
    items = call.items(primals)
    if items is None or options:
        return call.unknown()
    made = call.apply(fun, *items)
    return Tup((made, traced(call, made)))


@op("jax.vjp")
def vjp(call: Call, fun: Value, *primals: Value, **options: Value) -> Value:
    """jax.vjp(fun, *primals): the value, and a function that is not followed."""
    made = call.apply(fun, *primals)
    return call.unknown() if options else Tup((made, call.unknown()))


def shared(call: Call, x: Value) -> Value:
    """jax.lax.psum over the devices of an axis: the shapes stay."""
    return traced(call, x)


_NAMES = "psum pmean pmax pmin"
bind(shared, "x -axis_name -axis_index_groups=None", *(f"jax.lax.{name}" for name in _NAMES.split()))
bind(shared, "x -axis_name -perm=None", "jax.lax.ppermute", "jax.lax.pshuffle")
bind(lambda call: call.tensor([], "int"), "-axis_name", "jax.lax.axis_index")
bind(
    shared,
    "x -device=None -src=None -donate=False -may_alias=None",
    "jax.device_put",
    "jax.block_until_ready",
    "jax.lax.with_sharding_constraint",
)


def fetched(call: Call, x: Value) -> Value:
    """jax.device_get: arrays of NumPy."""
    return mapped(call, lambda leaf: call.tensor(call.shape(leaf), kind_of(leaf), "numpy"), x)


bind(fetched, "x", "jax.device_get")
