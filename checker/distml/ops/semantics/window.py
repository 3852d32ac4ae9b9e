"""Windows that slide over an axis: convolution, pooling, patches, also transposed.

The arithmetic is that of Dumoulin and Visin, A guide to convolution arithmetic for deep learning (arXiv 1603.07285).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from distml.shapes import Dim, Shape
from distml.solver.formula import at_least

if TYPE_CHECKING:
    from distml.ops.call import Call

Axes = tuple[Dim | None, ...]
Padding = Dim | Literal["same", "valid", "causal", "full"] | None
"""What is added to an axis: so much on both sides together, by a rule, or unknown."""
ZERO, ONE = Dim.of(0), Dim.of(1)


class Window(NamedTuple):
    """A window on one axis; None is unknown."""

    kernel: Dim | None
    stride: Dim | None = ONE
    padding: Padding = ZERO
    dilation: Dim | None = ONE

    @property
    def reach(self) -> Dim | None:
        """How far the dilated kernel reaches."""
        if self.kernel is None or self.dilation is None:
            return None
        return self.dilation * (self.kernel - 1) + 1


class Layout(NamedTuple):
    """Where an image keeps its channels, behind any batch axes and beside so many spatial `axes`."""

    axes: int
    channels_last: bool

    @property
    def channels(self) -> int:
        """The axis of the channels, counted from the back."""
        return -1 if self.channels_last else -self.axes - 1

    def spatial(self, dims: tuple[Dim, ...]) -> tuple[Dim, ...]:
        """The spatial sizes of an image."""
        return dims[-self.axes - 1 : -1] if self.channels_last else dims[-self.axes :]

    def image(self, dims: tuple[Dim, ...], channels: Dim | None, spatial: list[Dim | None]) -> list[Dim | None]:
        """The sizes of an image like `dims` with other channels and spatial sizes."""
        own = [*spatial, channels] if self.channels_last else [channels, *spatial]
        return [*dims[: -self.axes - 1], *own]


def require_window(call: Call, window: Window) -> None:
    """Kernel, stride and dilation are at least 1, and no padding is negative (SHP603)."""
    for name, value in (("kernel_size", window.kernel), ("stride", window.stride), ("dilation", window.dilation)):
        high = None if value is None else (-call.facts.dim(value)).low
        if high is not None and high >= 0 and value is not None:
            call.fail("SHP603", f"{call.text}: {name} must be at least 1, gets {value}", *call.notes(value))


def places(call: Call, size: Dim, window: Window, shown: str) -> Dim | None:
    """How many places a window has along an axis.

    `(size + padding - dilation * (kernel - 1) - 1) // stride + 1`, where "valid" pads nothing, "causal" one window
    less one in front, "full" that on both sides, and "same" as much as gives `ceil(size / stride)`. Fails with SHP403
    where the window does not fit once. `shown` is the input as messages show it.
    """
    require_window(call, window)
    if window.padding == "same":
        return None if window.stride is None else -(-size // window.stride)
    reach, padding = window.reach, added(window)
    if reach is None or padding is None:
        return None
    room = call.facts.dim(size + padding - reach)
    require_room(call, room, size, padding, reach, shown)
    if window.stride is None or window.stride.constant == 0:
        return None
    return room // window.stride + 1


def added(window: Window) -> Dim | None:
    """The padding of both sides together; None where it is unknown, or "same", which depends on the size."""
    padding, reach = window.padding, window.reach
    if not isinstance(padding, str):
        return padding
    if padding == "valid":
        return ZERO
    if padding == "same" or reach is None:
        return None
    return reach - 1 if padding == "causal" else 2 * (reach - 1)


def spread(call: Call, size: Dim, window: Window, extra: Dim | None = ZERO) -> Dim | None:
    """The smallest size that a transposed window makes of `size` places, and `extra` more.

    `(size - 1) * stride - padding + dilation * (kernel - 1) + 1 + extra`. With "same" it is `size * stride`, as for
    "valid" a window that does not reach the next place leaves a gap behind it too.
    """
    require_window(call, window)
    reach, stride = window.reach, window.stride
    if stride is None or extra is None:
        return None
    if window.padding == "same":
        return size * stride + extra
    padding = added(window)
    if reach is None or padding is None:
        return None
    if window.padding == "valid":
        low, high = (reach - stride).low, (stride - reach).low
        if high is not None and high > 0:
            reach = stride
        elif low is None or low < 0:
            return None
    return (size - 1) * stride - padding + reach + extra


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


def windows(kernel: Axes, stride: Axes, padding: tuple[Padding, ...], dilation: Axes) -> tuple[Window, ...]:
    """One window an axis."""
    return tuple(Window(*one) for one in zip(kernel, stride, padding, dilation, strict=True))


def both_sides(call: Call, padding: Axes) -> tuple[Padding, ...]:
    """Padding given for each side, which cannot be negative (SHP603), as that of both together."""
    for pad in padding:
        high = None if pad is None else (-call.facts.dim(pad)).low
        if pad is not None and high is not None and high > 0:
            call.fail("SHP603", f"{call.text}: padding cannot be negative, gets {pad}", *call.notes(pad))
    return tuple(None if pad is None else 2 * pad for pad in padding)


def slid(call: Call, layout: Layout, dims: tuple[Dim, ...], read: tuple[Window, ...]) -> list[Dim | None]:
    """The spatial sizes after windows have slid over an image."""
    shown = repr(Shape(dims))
    return [places(call, size, window, shown) for size, window in zip(layout.spatial(dims), read, strict=True)]
