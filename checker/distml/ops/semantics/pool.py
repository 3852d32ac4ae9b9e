"""Pooling: sliding, to a given size, and its inverse."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

from distml.ops.rules.layers import per_axis
from distml.ops.rules.ranks import Dims, each_rank, same_shape
from distml.ops.semantics.window import (
    Axes,
    Layout,
    Window,
    added,
    both_sides,
    require_room,
    require_window,
    slid,
    windows,
)
from distml.shapes import Dim, Shape
from distml.values import NONE, Const, Tensor, Tup, Value, alternatives

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call


def pool(
    call: Call,
    input: Value,
    read: tuple[Window, ...],
    layout: Layout,
    ranks: Sequence[int],
    ceil: bool | None = False,
) -> Value:
    """Maximum, average and power pooling: each spatial axis becomes as long as its window has places.

    With `ceil` a last window may begin inside the input and end behind it.
    """

    def rule(dims: Dims) -> Value:
        shown, sizes = repr(Shape(dims)), layout.spatial(dims)
        out: list[Dim | None] = [None] * len(sizes)
        if ceil:
            out = [_ceil(call, size, window, shown) for size, window in zip(sizes, read, strict=True)]
        elif ceil is False:
            out = slid(call, layout, dims, read)
        return call.tensor(layout.image(dims, dims[layout.channels], out), call.dtype(input))

    return each_rank(call, call.shape(input), ranks, rule)


def pooled(
    call: Call,
    input: Value,
    count: int,
    kernel_size: Value,
    stride: Value = NONE,
    padding: Value = Const(0),
    dilation: Value = Const(1),
    ceil_mode: Value = Const(False),
) -> Value:
    """Pooling over the last `count` axes, as torch.nn.MaxPool2d names it."""
    kernel, dilations = per_axis(call, kernel_size, count), per_axis(call, dilation, count)
    strides, pads = _strides(call, stride, kernel), per_axis(call, padding, count)
    read = windows(kernel, strides, both_sides(call, pads), dilations)
    for window in read:
        _require_half(call, window)
    return pool(call, input, read, Layout(count, False), (count + 2, count + 1), call.flag(ceil_mode))


def _strides(call: Call, stride: Value, kernel: Axes) -> Axes:
    if call.is_none(stride) or call.items(stride) == ():
        return kernel
    return per_axis(call, stride, len(kernel))


def _require_half(call: Call, window: Window) -> None:
    reach, padding = window.reach, added(window)
    if reach is None or padding is None:
        return
    over = (padding - reach).low
    if over is not None and over > 0:
        each = padding // 2
        text = f"{call.text}: padding {each} is more than half of the window of {reach}"
        call.fail("SHP403", text, *call.notes(each, reach))


def _ceil(call: Call, size: Dim, window: Window, shown: str) -> Dim | None:
    """A last window may start inside the input or its padding in front only, which is half of all."""
    require_window(call, window)
    reach, both, stride = window.reach, added(window), window.stride
    if reach is None or both is None or stride is None:
        return None
    room = call.facts.dim(size + both - reach)
    require_room(call, room + stride - 1, size, both, reach, shown)
    places = (room + stride - 1) // stride + 1
    padding = both // 2
    beyond = (places - 1) * stride - size - padding
    least, most = beyond.low, (-beyond).low
    if least is not None and least >= 0:
        return places - 1
    if (most is not None and most > 0) or _never_beyond(stride, padding, reach):
        return places
    return None


def _never_beyond(stride: Dim, padding: Dim, reach: Dim) -> bool:
    """(places - 1) * stride <= size + 2 * padding - reach + stride - 1 < size + padding."""
    low = (reach - padding - stride).low
    return low is not None and low >= 0


def adaptive(call: Call, input: Value, count: int, output_size: Value) -> Value:
    """Pooling to `output_size`, where None keeps the size (torch.nn.AdaptiveAvgPool2d)."""
    items = call.items(output_size)
    wanted = (output_size,) * count if items is None else items * count if len(items) == 1 else items
    if len(wanted) != count:
        call.fail("SHP301", f"{call.text}: output_size needs {count} sizes, gets {len(wanted)}")
    single = items is not None or (call.dim(output_size) is not None and isinstance(output_size, Const))

    def target(value: Value, size: Dim) -> Dim | None:
        empty = call.is_none(value)
        if empty:
            return size
        dim = call.dim(value) if empty is False or single else None
        if dim is not None and (high := (-dim).low) is not None and high > 0:
            call.fail("SHP603", f"{call.text}: output_size cannot be negative, gets {dim}", *call.notes(dim))
        return dim

    def rule(dims: Dims) -> Value:
        out = [target(v, size) for v, size in zip(wanted, dims[-count:], strict=True)]
        return call.tensor([*dims[:-count], *out], call.dtype(input))

    shape = call.shape(input)
    if count > 1 and "avg" in call.name.lower() and shape.rank not in (count + 1, count + 2):
        sizes = [None if call.is_none(v) else call.dim(v) for v in wanted]
        if all(size is None or size == 1 for size in sizes) and any(size is not None for size in sizes):
            return _mean(call, input, shape, count)
    return each_rank(call, shape, (count + 2, count + 1), rule)


def _mean(call: Call, input: Value, shape: Shape, count: int) -> Value:
    """Averaging to one place is a mean over the last axes, of an input of any rank."""
    known = call.facts.at_least(shape, count)
    if known is None:
        call.fail("SHP301", f"{call.text} needs an input with at least {count} axes, gets {shape!r}")
    ones = (Dim.of(1),) * count
    keep = known.head[: known.least - count]
    if known.middle is None:
        return call.tensor(Shape(keep + ones), call.dtype(input))
    return call.tensor(Shape(keep, call.facts.unknown_shape().middle, ones, known.least), call.dtype(input))


def fractional(
    call: Call, input: Value, count: int, kernel_size: Value, output_size: Value, output_ratio: Value
) -> Value:
    """Pooling to a size or a fraction of the size (torch.nn.FractionalMaxPool2d)."""
    sizes = None if call.is_none(output_size) is not False else per_axis(call, output_size, count)
    kernel = per_axis(call, kernel_size, count)

    def extent(size: Dim, axis: int) -> Dim | None:
        out = sizes[axis] if sizes is not None else _portion(call, size, output_ratio, axis)
        reach = kernel[axis]
        if out is not None and reach is not None:
            room = call.facts.dim(size - out - reach + 1)
            if (high := (-room).low) is not None and high > 0:
                call.fail(
                    "SHP403",
                    f"{call.text}: a window of {reach} has no {out} places in a size of {size}",
                    *call.notes(reach, out, size),
                )
        return out

    def rule(dims: Dims) -> Value:
        out = [extent(size, i) for i, size in enumerate(dims[-count:])]
        return call.tensor([*dims[:-count], *out], call.dtype(input))

    return each_rank(call, call.shape(input), (count + 2, count + 1), rule)


def _portion(call: Call, size: Dim, ratio: Value, axis: int) -> Dim | None:
    items = call.items(ratio)
    value = ratio if items is None else items[axis] if axis < len(items) else NONE
    number = value.value if isinstance(value, Const) else None
    return scaled(size, number) if isinstance(number, float | int) else None


def scaled(size: Dim, factor: float) -> Dim | None:
    """`floor(size * factor)` as floats compute it; None where rounding could tell."""
    known = size.constant
    if not isfinite(factor):
        return None
    if known is not None:
        return Dim.of(int(known * float(factor)), size.origin)
    exact = Fraction(factor)
    if exact.denominator > 4096 or exact.numerator > 1 << 20:
        return None
    return size * exact.numerator // exact.denominator


def unpool(
    call: Call,
    input: Value,
    indices: Value,
    count: int,
    parameters: tuple[Value, Value, Value],
    output_size: Value,
) -> Value:
    """The inverse of maximum pooling (torch.nn.MaxUnpool2d); parameters: kernel, stride, padding."""
    kernel = per_axis(call, parameters[0], count)
    strides, pads = _strides(call, parameters[1], kernel), per_axis(call, parameters[2], count)
    for k, s in zip(kernel, strides, strict=True):
        require_window(call, Window(k, s))
    shape = same_shape(
        call,
        call.shape(input),
        call.shape(indices),
        "SHP102",
        f"{call.text}: the indices {call.show(indices)} need the shape of the input {call.show(input)}",
    )
    empty = call.is_none(output_size)
    sizes = None if empty is not False else call.sizes(output_size)

    def extent(size: Dim, axis: int) -> Dim | None:
        k, s, p = kernel[axis], strides[axis], pads[axis]
        return None if k is None or s is None or p is None else (size - 1) * s - 2 * p + k

    def rule(dims: Dims) -> Value:
        out: list[Dim | None] = [extent(size, i) for i, size in enumerate(dims[-count:])]
        if not empty:
            fits = sizes is not None and len(sizes) >= count
            out = list(sizes[-count:]) if sizes is not None and fits else [None] * count
        return call.tensor([*dims[:-count], *out], call.dtype(input))

    return each_rank(call, shape, (count + 2, count + 1), rule)


def with_indices(call: Call, result: Value, wanted: Value) -> Value:
    """The result, and the places it was found at when they are wanted."""
    flag = call.flag(wanted)
    pair = _pair(call, result)
    return call.any_of(result, pair) if flag is None else pair if flag else result


def _pair(call: Call, result: Value) -> Value:
    pairs = [
        Tup((option, Tensor(option.lib, option.shape, "int")))
        for option in alternatives(result)
        if isinstance(option, Tensor)
    ]
    return call.any_of(*pairs)
