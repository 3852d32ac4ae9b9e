"""Windows that slide over an axis: convolution, pooling, unfolding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.shapes import Dim
from distml.solver.formula import at_least

if TYPE_CHECKING:
    from distml.ops.call import Call

Axes = tuple[Dim | None, ...]


def span(kernel: Dim | None, dilation: Dim | None) -> Dim | None:
    """How far a dilated kernel reaches."""
    if kernel is None or dilation is None:
        return None
    return dilation * (kernel - 1) + 1


def require_window(call: Call, kernel: Dim | None, stride: Dim | None, dilation: Dim | None) -> None:
    """Kernel, stride and dilation are at least 1 (SHP603)."""
    for name, value in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        high = None if value is None else (-call.facts.dim(value)).low
        if high is not None and high >= 0 and value is not None:
            call.fail("SHP603", f"{call.text}: {name} must be at least 1, gets {value}", *call.notes(value))


def slide(
    call: Call,
    size: Dim,
    kernel: Dim | None,
    stride: Dim | None,
    padding: Dim | None,
    dilation: Dim | None,
    shown: str,
) -> Dim | None:
    """How many places a window has along an axis; `padding` is that of both sides together.

    `(size + padding - dilation * (kernel - 1) - 1) // stride + 1`; fails with SHP403 where
    the window does not fit once. `shown` is the input as messages show it.
    """
    require_window(call, kernel, stride, dilation)
    reach = span(kernel, dilation)
    if reach is None or padding is None:
        return None
    room = call.facts.dim(size + padding - reach)
    require_room(call, room, size, padding, reach, shown)
    if stride is None or stride.constant == 0:
        return None
    return room // stride + 1


def require_room(call: Call, room: Dim, size: Dim, padding: Dim, reach: Dim, shown: str) -> None:
    """The window fits at least once."""
    high = (-room).low
    padded = size if not padding.terms else f"{size} + {padding} of padding"
    if high is None or high <= 0:
        if call.world.watched:
            text = f"{call.text}: a window of {reach} is to fit into {padded} (input {shown})"
            call.world.demand(at_least(room, Dim.of(0)), "SHP403", text)
        return
    call.fail(
        "SHP403",
        f"{call.text}: the window reaches over {reach}, the axis has only {padded} (input {shown})",
        *call.notes(reach, size),
    )
