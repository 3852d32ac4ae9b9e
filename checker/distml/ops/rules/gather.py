"""Gathering along an axis: what indices must share with the array they pick from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.broadcast import meet, state_meeting
from distml.ops.rules.axes import axis_in, replace_axis
from distml.shapes import Dim, Shape
from distml.solver.formula import at_least

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value


def same_rank(call: Call, shape: Shape, index: Shape, what: str = "the index") -> None:
    """Require two shapes to have as many axes (SHP301); a scalar counts as a vector."""
    if shape.rank is None or index.rank is None or max(shape.rank, 1) == max(index.rank, 1):
        return
    call.fail("SHP301", f"{call.text} needs {what} with {shape.rank} axes, as {shape!r} has, gets {index!r}")


def within(call: Call, inner: Shape, outer: Shape, skip: int | None, what: str) -> None:
    """Require every axis of `inner` to be at most as long as that of `outer`, but for axis `skip`."""
    if inner.dims is None or outer.dims is None or len(inner.dims) != len(outer.dims):
        return
    for axis, (small, large) in enumerate(zip(inner.dims, outer.dims, strict=True)):
        if axis == skip:
            continue
        text = f"{call.text}: {what} {inner!r} is longer than {outer!r} on axis {axis}: {small} exceeds {large}"
        call.state(at_least(large, small), "SHP302", text)
        over = (small - large).low
        if over is not None and over > 0:
            call.fail("SHP302", text, *call.notes(small, large))


def along_axis(call: Call, shape: Shape, index: Shape, axis: Value) -> Shape:
    """Indices of the array's rank that broadcast with it but on `axis` (numpy.take_along_axis)."""
    same_rank(call, shape, index)
    if shape.dims is None or index.dims is None:
        return call.facts.unknown_shape()
    at = call.axis(axis, len(shape.dims))
    if at is None:
        return Shape(tuple(call.symbol("size") for _ in index.dims))
    dims: list[Dim] = []
    for place, (size, count) in enumerate(zip(shape.dims, index.dims, strict=True)):
        met = count if place == at else meet(call, size, count)
        if met is None:
            call.fail(
                "SHP102",
                f"{call.text}: {shape!r} and indices {index!r} do not broadcast: {size} meets {count} on axis {place}",
                *call.notes(size, count),
            )
        if place != at:
            state_meeting(call, size, count, "SHP102", f"{call.text}: {size} meets {count} on axis {place}")
        dims.append(met)
    return Shape(tuple(dims))


def selected(call: Call, shape: Shape, axis: Value, count: Dim | None) -> Shape:
    """The shape with `count` items on one axis (torch.index_select)."""
    if shape.dims == ():
        call.axis(axis, 0)
        return shape
    if shape.dims is None and shape.least == 0:
        return call.facts.unknown_shape()
    return replace_axis(call, shape, axis_in(call, axis, shape), count)
