"""jax: functions of functions: gradients, vmap, loops and branches.

Each is followed as JAX traces it: the function runs once on what stands for its arguments.
https://docs.jax.dev/en/latest/jax.html, https://docs.jax.dev/en/latest/jax.lax.html#control-flow-operators
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distml.ops.bindings.jax.trees import leaves, mapped, parts_of, rebuilt
from distml.ops.bindings.signature import bind
from distml.ops.call import UNKNOWN
from distml.ops.registry import op
from distml.ops.rules.axes import drop_axis, unsqueeze
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.sizes import shape_from
from distml.shapes import Dim, Shape
from distml.values import NONE, Const, Lib, Partial, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

ZERO = Const(0)


def traced(call: Call, tree: Value) -> Value:
    """What stands for a tree of numbers while a function is traced: its arrays without their elements."""
    return mapped(call, lambda leaf: call.tensor(call.shape(leaf), kind_of(leaf)), tree)


def later(signature: str, name: str) -> None:
    """Register what makes a function of a function; to call that is the op `<name>.__call__` with the same arguments first."""
    bind(lambda call, *given: Partial(Lib(f"{name}.__call__"), given), signature, name)


_GRADIENT = "fun argnums=0 has_aux=False -holomorphic=False -allow_int=False -reduce_axes=()"
later(_GRADIENT, "jax.grad")
later(_GRADIENT, "jax.value_and_grad")
later("fun argnums=0 has_aux=False -holomorphic=False -allow_int=False", "jax.jacfwd")
later("fun argnums=0 has_aux=False -holomorphic=False -allow_int=False", "jax.jacrev")
later("fun argnums=0 has_aux=False -holomorphic=False", "jax.hessian")
_MAPPED = "fun in_axes=0 out_axes=0"
later(f"{_MAPPED} -axis_name=None -axis_size=None -spmd_axis_name=None -sum_match=False", "jax.vmap")
later(
    "fun -axis_name=None * in_axes=0 out_axes=0 -static_broadcasted_argnums=() -devices=None -backend=None"
    " -axis_size=None -donate_argnums=() -global_arg_shapes=None",
    "jax.pmap",
)


def chosen(call: Call, numbers: Value, args: tuple[Value, ...]) -> Value:
    """The arguments that are differentiated: one, or a tuple of them."""
    single = call.const(numbers, int)
    if isinstance(single, int):
        return args[single] if -len(args) <= single < len(args) else call.unknown()
    items = call.items(numbers)
    if items is None:
        return call.unknown()
    return Tup(tuple(chosen(call, item, args) for item in items))


def scalar(call: Call, value: Value) -> None:
    """A gradient is that of one number (SHP301)."""
    if isinstance(value, Tensor) and call.shape(value).least > 0:
        text = f"{call.text}: a gradient needs a function that gives one number, this one gives {call.show(value)}"
        call.fail("SHP301", text, *call.notes(*call.shape(value).head))


@op("jax.grad.__call__", "jax.value_and_grad.__call__")
def gradient(call: Call, fun: Value, argnums: Value, has_aux: Value, *args: Value, **kwargs: Value) -> Value:
    """jax.grad(fun)(*args): of the shape of what is differentiated, with the value or what else the function gives."""
    made = call.apply(fun, *args, kwargs=kwargs)
    aux = call.flag(has_aux)
    pair = made.items if isinstance(made, Tup) and len(made.items) == 2 else None
    if aux is False:
        scalar(call, made)
    elif aux and pair is not None:
        scalar(call, pair[0])
    slope = traced(call, chosen(call, argnums, args))
    if call.name.startswith("jax.value_and_grad"):
        return Tup((made, slope))
    if not aux:
        return slope if aux is False else call.unknown()
    return Tup((slope, pair[1] if pair is not None else call.unknown()))


@op("jax.jacfwd.__call__", "jax.jacrev.__call__", "jax.hessian.__call__")
def jacobian(call: Call, fun: Value, argnums: Value, has_aux: Value, *args: Value, **kwargs: Value) -> Value:
    """jax.jacfwd(fun)(*args): the axes of the result, and those of the argument, of a hessian twice."""
    made, given = call.apply(fun, *args, kwargs=kwargs), chosen(call, argnums, args)
    if call.flag(has_aux) is not False or not isinstance(made, Tensor) or not isinstance(given, Tensor):
        return call.unknown()
    result, own = call.shape(made), call.shape(given)
    if result.dims is None or own.dims is None:
        return call.unranked("float")
    return call.tensor(Shape(result.dims + own.dims * (2 if "hessian" in call.name else 1)), kind_of(made))


def axes_of(call: Call, axes: Value, tree: Value) -> list[tuple[Value, Value]] | None:
    """Each array of a tree with the axis it is mapped over; None where they are not known."""
    if not isinstance(axes, Const):
        inner, parts = parts_of(call, axes), parts_of(call, tree)
        if inner is None or parts is None or inner.keys() != parts.keys():
            return None
        found: list[tuple[Value, Value]] = []
        for key, part in parts.items():
            below = axes_of(call, inner[key], part)
            if below is None:
                return None
            found += below
        return found
    listed = leaves(call, tree)
    return None if listed is None else [(leaf, axes) for leaf in listed]


def _without(call: Call, axes: Value, tree: Value) -> Value:
    """The tree of arrays without the axis they are mapped over."""
    if isinstance(axes, Const):
        return mapped(call, lambda leaf: _slice(call, leaf, axes), tree)
    inner, parts = parts_of(call, axes), parts_of(call, tree)
    if inner is None or parts is None or inner.keys() != parts.keys():
        return call.unknown()
    return rebuilt(call, tree, {key: _without(call, inner[key], part) for key, part in parts.items()})


def _slice(call: Call, leaf: Value, axis: Value) -> Value:
    shape = call.shape(leaf)
    if call.is_none(axis):
        return call.tensor(shape, kind_of(leaf))
    if shape.rank == 0:
        call.fail("SHP301", f"{call.text}: a number has no axis to map over")
    return call.tensor(drop_axis(call, shape, call.axis(axis, shape.rank)), kind_of(leaf))


def _common_size(call: Call, pairs: list[tuple[Value, Value]]) -> Dim | None:
    """The size that all mapped axes have (SHP104)."""
    first: tuple[Dim, Shape] | None = None
    for leaf, axis in pairs:
        number, shape = call.const(axis, int), call.shape(leaf)
        if not isinstance(number, int) or shape.dims is None or call.axis(axis, shape.rank) is None:
            continue
        size = shape.dims[number]
        if first is None:
            first = size, shape
            continue
        text = f"{call.text} maps over axes of different sizes: {{left}} of {first[1]!r} and {{right}} of {shape!r}"
        call.require_equal(first[0], size, "SHP104", text)
    return None if first is None else first[0]


@op("jax.vmap.__call__", "jax.pmap.__call__")
def map_over(call: Call, fun: Value, in_axes: Value, out_axes: Value, *args: Value, **kwargs: Value) -> Value:
    """jax.vmap(fun)(*args): the function sees one slice of each argument; its results are stacked."""
    given: Value = Tup(args)
    items = call.items(in_axes)
    axes: Value = Tup((in_axes,) * len(args)) if isinstance(in_axes, Const) else Tup(items or ())
    if items is None and not isinstance(in_axes, Const):
        return call.unknown()
    if len(axes.items) != len(args) if isinstance(axes, Tup) else True:
        return call.unknown()
    pairs = axes_of(call, axes, given)
    named = leaves(call, Tup(tuple(kwargs.values())))
    size = _common_size(call, [*(pairs or ()), *((leaf, ZERO) for leaf in named or ())])
    inside = _without(call, axes, given)
    if not isinstance(inside, Tup):
        return call.unknown()
    made = call.apply(fun, *inside.items, kwargs={key: _without(call, ZERO, value) for key, value in kwargs.items()})
    return _stacked(call, made, out_axes, size)


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


def _stacked(call: Call, tree: Value, axes: Value, size: Dim | None) -> Value:
    """The tree of arrays with an axis more."""
    items = call.items(axes)
    if items is not None and isinstance(tree, Tup) and len(items) == len(tree.items):
        return Tup(tuple(_stacked(call, part, axis, size) for part, axis in zip(tree.items, items, strict=True)))
    if not isinstance(axes, Const):
        return call.unknown()
    return mapped(call, lambda leaf: _with_axis(call, leaf, axes, size), tree)


def _with_axis(call: Call, leaf: Value, axis: Value, size: Dim | None) -> Value:
    if call.is_none(axis):
        return leaf
    number, shape = call.const(axis, int), call.shape(leaf)
    wider = unsqueeze(call, shape, axis)
    if number is UNKNOWN or wider.dims is None:
        return call.unranked(kind_of(leaf))
    dims = list(wider.dims)
    dims[number] = call.symbol("mapped") if size is None else size
    return call.tensor(Shape(tuple(dims)), kind_of(leaf))


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
        if len(a.dims) != len(b.dims) or any(x.differs(y) for x, y in zip(a.dims, b.dims, strict=True)):
            call.fail("SHP405", text, *call.notes(*a.dims, *b.dims))


_CARRY = "the carry goes in and comes out with different shapes"


def scan(call: Call, f: Value, init: Value, xs: Value, length: Value) -> Value:
    """jax.lax.scan: the carry keeps its shape, what each step gives is stacked."""
    rows = leaves(call, xs)
    size = None if rows is None else _common_size(call, [(leaf, ZERO) for leaf in rows])
    if size is None and call.is_none(length) is False:
        size = call.dim(length)
    carry = traced(call, init)
    made = call.apply(f, carry, _without(call, ZERO, xs) if xs != NONE else NONE)
    pair = call.items(made)
    if pair is None or len(pair) != 2:
        return Tup((carry, call.unknown()))
    require_same(call, carry, pair[0], _CARRY)
    return Tup((carry, _stacked(call, pair[1], ZERO, size)))


def map_(call: Call, f: Value, xs: Value) -> Value:
    """jax.lax.map: the function of each slice, stacked."""
    rows = leaves(call, xs)
    size = None if rows is None else _common_size(call, [(leaf, ZERO) for leaf in rows])
    return _stacked(call, call.apply(f, _without(call, ZERO, xs)), ZERO, size)


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
