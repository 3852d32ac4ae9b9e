"""Functions of functions: gradients, Jacobians, and functions that are mapped over an axis.

Each is followed as the library traces it: the function runs once on what stands for its arguments.
https://docs.jax.dev/en/latest/jax.html, https://docs.pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.call import UNKNOWN, ZERO
from distml.ops.rules.axes import drop_axis, unsqueeze
from distml.ops.rules.kinds import kind_of
from distml.ops.semantics.trees import leaves, mapped, models_of, parts_of, rebuilt, states
from distml.shapes import Dim, Shape
from distml.values import Const, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


class Axes(NamedTuple):
    """The axes that are mapped over: those taken off each argument, those put on the results, that of named arguments."""

    taken: Value
    given: Value
    named: Value


def traced(call: Call, tree: Value) -> Value:
    """What stands for a tree of numbers while a function is traced: its arrays without their elements."""
    return mapped(call, lambda leaf: call.tensor(call.shape(leaf), kind_of(leaf)), tree)


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


def gradient(
    call: Call, fun: Value, argnums: Value, has_aux: Value, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> tuple[Value, Value, Value | None]:
    """grad(fun)(*args): what the function gives, the gradients of the shapes of what is differentiated, and what else it
    gives (None where it is asked for nothing else)."""
    made = call.apply(fun, *args, kwargs=kwargs)
    slope = traced(call, chosen(call, argnums, args))
    aux = call.flag(has_aux)
    if aux is None:
        return call.unknown(), call.unknown(), call.unknown()
    if not aux:
        scalar(call, made)
        return made, slope, None
    pair = made.items if isinstance(made, Tup) and len(made.items) == 2 else (call.unknown(), call.unknown())
    scalar(call, pair[0])
    return made, slope, pair[1]


def jacobian(
    call: Call,
    fun: Value,
    argnums: Value,
    has_aux: Value,
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
    times: int = 1,
) -> Value:
    """jacfwd(fun)(*args): for each array of the result the tree of what is differentiated, each with the axes of both; a
    hessian has such trees in it, with the axes of one argument and of another. Pairs with what else the function gives."""
    made, given = call.apply(fun, *args, kwargs=kwargs), chosen(call, argnums, args)
    aux = call.flag(has_aux)
    pair = made.items if aux and isinstance(made, Tup) and len(made.items) == 2 else None
    if aux is None or (aux and pair is None):
        return call.unknown()

    def by(result: Value) -> Value:
        return mapped(call, lambda own: _joined(call, result, own), given)

    slopes = made if pair is None else pair[0]
    for _ in range(times):
        slopes = mapped(call, by, slopes)
    return slopes if pair is None else Tup((slopes, pair[1]))


def _joined(call: Call, result: Value, own: Value) -> Value:
    """The slope of an array by another: the axes of both."""
    if not isinstance(result, Tensor) or not isinstance(own, Tensor):
        return call.unknown()
    first, second = call.shape(result), call.shape(own)
    if first.dims is None or second.dims is None:
        return call.unranked("float")
    return call.tensor(Shape(first.dims + second.dims), kind_of(result))


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
    stack = models_of(call, tree)
    listed = leaves(call, tree) if stack is None else [call.tensor([stack])]
    return None if listed is None else [(leaf, axes) for leaf in listed]


def without(call: Call, axes: Value, tree: Value) -> Value:
    """The tree of arrays without the axis they are mapped over."""
    if call.is_none(axes):
        return tree
    if models_of(call, tree) is not None:
        return states(call) if axes == ZERO else call.unknown()
    if isinstance(axes, Const):
        return mapped(call, lambda leaf: _slice(call, leaf, axes), tree)
    inner, parts = parts_of(call, axes), parts_of(call, tree)
    if inner is None or parts is None or inner.keys() != parts.keys():
        return call.unknown()
    return rebuilt(call, tree, {key: without(call, inner[key], part) for key, part in parts.items()})


def _slice(call: Call, leaf: Value, axis: Value) -> Value:
    shape = call.shape(leaf)
    if shape.rank == 0:
        call.fail("SHP301", f"{call.text}: a number has no axis to map over")
    return call.tensor(drop_axis(call, shape, call.axis(axis, shape.rank)), kind_of(leaf))


def common_size(call: Call, pairs: list[tuple[Value, Value]]) -> Dim | None:
    """The size that all mapped axes have (SHP104)."""
    first: tuple[Dim, Shape] | None = None
    for leaf, axis in pairs:
        number, shape = call.const(axis, int), call.shape(leaf)
        if not isinstance(number, int) or not shape.dims or call.axis(axis, shape.rank) is None:
            continue
        size = shape.dims[number]
        if first is None:
            first = size, shape
            continue
        text = f"{call.text} maps over axes of different sizes: {{left}} of {first[1]!r} and {{right}} of {shape!r}"
        call.require_equal(first[0], size, "SHP104", text)
    return None if first is None else first[0]


def map_over(
    call: Call, fun: Value, axes: Axes, args: tuple[Value, ...], kwargs: dict[str, Value], length: Dim | None = None
) -> Value:
    """vmap(fun)(*args): the function sees one slice of each argument; its results are stacked, `length` of them where no
    argument tells."""
    mapped_over = per_argument(call, axes.taken, len(args))
    if mapped_over is None:
        return call.unknown()
    pairs = axes_of(call, mapped_over, Tup(args))
    others = axes_of(call, axes.named, Tup(tuple(kwargs.values())))
    size = common_size(call, [*(pairs or ()), *(others or ())]) or length
    inside = [without(call, axis, arg) for axis, arg in zip(mapped_over.items, args, strict=True)]
    made = call.apply(fun, *inside, kwargs={key: without(call, axes.named, value) for key, value in kwargs.items()})
    return stacked(call, made, axes.given, size)


def per_argument(call: Call, axes: Value, count: int) -> Tup | None:
    """The axes of each of so many arguments; None where they are not known."""
    if isinstance(axes, Const):
        return Tup((axes,) * count)
    items = call.items(axes)
    return None if items is None or len(items) != count else Tup(items)


def stacked(call: Call, tree: Value, axes: Value, size: Dim | None) -> Value:
    """The tree of arrays with an axis more."""
    items = call.items(axes)
    if items is not None and isinstance(tree, Tup) and len(items) == len(tree.items):
        return Tup(tuple(stacked(call, part, axis, size) for part, axis in zip(tree.items, items, strict=True)))
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
