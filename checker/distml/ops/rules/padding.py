"""Padding: axes grown, or cut, at both ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.layers import per_axis
from distml.ops.rules.ranks import Dims, each_rank
from distml.shapes import Dim, Shape
from distml.solver.formula import at_least
from distml.values import Const, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

Sizes = tuple[Dim | None, ...]


def pad(call: Call, input: Value, sizes: Sizes | None, mode: str | None = "constant") -> Value:
    """torch.nn.functional.pad: two sizes an axis, the last axis first."""
    shape = call.shape(input)
    if sizes is None:
        return call.tensor(_any_sizes(call, shape), call.dtype(input))
    if len(sizes) % 2:
        call.fail("SHP301", f"{call.text}: padding needs two sizes for each axis, gets {len(sizes)}")
    count = len(sizes) // 2
    if mode is not None and mode != "constant" and 0 < count <= 3:
        return each_rank(call, shape, (count + 2, count + 1), lambda dims: _padded(call, input, dims, sizes, mode))
    if mode != "constant" and shape.dims is None:
        return call.unranked(call.dtype(input))
    known = call.facts.tail(shape, count)
    if known is None:
        call.fail("SHP301", f"{call.text}: {len(sizes)} padding sizes are for {count} axes, the input is {shape!r}")
    shape = call.facts.shape(shape)
    if shape.dims is not None:
        return _padded(call, input, shape.dims, sizes, mode or "constant")
    new = _sizes(call, known, sizes, "constant")
    least = max(shape.least - count, 0)
    tail = shape.tail[: len(shape.tail) - count] + new
    inner = call.facts.unknown_shape()
    return call.tensor(Shape(shape.head[:least], inner.middle, tail, shape.least), call.dtype(input))


def _any_sizes(call: Call, shape: Shape) -> Shape:
    if shape.dims is None:
        return call.facts.unknown_shape()
    return Shape(tuple(call.symbol("padded") for _ in shape.dims))


def _padded(call: Call, input: Value, dims: Dims, sizes: Sizes, mode: str) -> Value:
    count = len(sizes) // 2
    new = _sizes(call, dims[len(dims) - count :], sizes, mode)
    return call.tensor([*dims[: len(dims) - count], *new], call.dtype(input))


def _sizes(call: Call, dims: Dims, sizes: Sizes, mode: str) -> Dims:
    new = []
    for index, dim in enumerate(reversed(dims)):
        before, after = sizes[2 * index], sizes[2 * index + 1]
        require_source(call, dim, (before, after), mode)
        if before is None or after is None:
            new.append(call.symbol("padded"))
            continue
        size = call.facts.dim(dim + before + after)
        text = f"{call.text}: padding by {before} and {after} leaves {size} of an axis of {dim}"
        call.state(at_least(size, 0), "SHP403", text)
        high = (-size).low
        if high is not None and high > 0:
            call.fail("SHP403", text, *call.notes(before, after, dim))
        new.append(size)
    return tuple(reversed(new))


def require_source(call: Call, dim: Dim, sides: Sizes, mode: str) -> None:
    """Reflected and circular padding is taken from the axis and cannot be longer than it."""
    if mode not in ("reflect", "circular"):
        return
    for side in sides:
        if side is None:
            continue
        limit = "must be smaller than" if mode == "reflect" else "cannot be larger than"
        text = f"{call.text}: {mode} padding of {side} {limit} its axis of {dim}"
        needed = side + (1 if mode == "reflect" else 0)
        call.state(at_least(dim, needed), "SHP403", text)
        over = (needed - dim).low
        if over is not None and over > 0:
            call.fail("SHP403", text, *call.notes(side, dim))


def around(call: Call, shape: Shape, padding: Value, count: int, mode: str) -> None:
    """The padding a convolution takes from its own input can be had."""
    shape = call.facts.shape(shape)
    if shape.dims is None or len(shape.dims) < count or (isinstance(padding, Const) and isinstance(padding.value, str)):
        return
    for dim, side in zip(shape.dims[-count:], per_axis(call, padding, count), strict=True):
        require_source(call, dim, (side,), mode)
