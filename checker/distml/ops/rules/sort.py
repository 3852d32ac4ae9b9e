"""Sorting and searching: top items, unique items, bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.axes import axis_in
from distml.ops.rules.gather import selected
from distml.shapes import Dim, Shape
from distml.solver.formula import at_least

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value


def top(call: Call, shape: Shape, count: Value, axis: Value) -> Shape:
    """`count` items on one axis (torch.topk); SHP302 where there are fewer."""
    wanted = call.dim(count)
    at = axis_in(call, axis, shape)
    size = None if at is None or shape.dims == () else shape.at(at)
    if wanted is not None and size is not None:
        text = f"{call.text}: {wanted} asked for, axis {at} of {shape!r} has {size}"
        call.state(at_least(size, wanted), "SHP302", text)
        over = (wanted - size).low
        if over is not None and over > 0:
            call.fail("SHP302", text, *call.notes(wanted, size))
    return selected(call, shape, axis, wanted)


def searched(call: Call, edges: Shape, values: Shape) -> Shape:
    """Places of `values` in sorted `edges`: a vector, or one row each with the same axes before the last."""
    if edges.dims is not None and len(edges.dims) > 1 and values.dims is not None:
        if len(values.dims) != len(edges.dims):
            call.fail("SHP301", f"{call.text}: {edges!r} and {values!r} must have as many axes")
        for axis, (row, value) in enumerate(zip(edges.dims[:-1], values.dims[:-1], strict=True)):
            call.require_equal(
                row,
                value,
                "SHP104",
                f"{call.text}: {edges!r} and {values!r} differ on axis {axis}: {{left}} meets {{right}}",
            )
    return values


def unique_count(call: Call, size: Dim | None) -> Dim:
    """How many different items there are: as many as items, at most."""
    return size if size is not None and size.constant in (0, 1) else call.symbol("unique")
