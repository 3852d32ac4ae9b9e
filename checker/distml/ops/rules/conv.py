"""Convolution and transposed convolution over any number of axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.rules.layers import known_shape, per_axis
from distml.ops.rules.ranks import Dims, each_rank
from distml.ops.rules.window import Axes, require_window, slide, span
from distml.shapes import Dim, Shape
from distml.solver.formula import at_least
from distml.values import NONE, Const, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


class Window(NamedTuple):
    """The parameters of a convolution, one value an axis; `same` keeps the sizes."""

    kernel: Axes
    stride: Axes
    padding: Axes
    dilation: Axes
    same: bool = False


def window(call: Call, kernel: Axes, stride: Value, padding: Value, dilation: Value) -> Window:
    """Read the parameters of a convolution; `padding` is doubled, once for each side."""
    count = len(kernel)
    strides, dilations = per_axis(call, stride, count), per_axis(call, dilation, count)
    if isinstance(padding, Const) and isinstance(padding.value, str):
        none = (Dim.of(0),) * count
        return Window(kernel, strides, none, dilations, same=padding.value == "same")
    pads = per_axis(call, padding, count)
    for pad in pads:
        high = None if pad is None else (-call.facts.dim(pad)).low
        if pad is not None and high is not None and high > 0:
            call.fail("SHP603", f"{call.text}: padding cannot be negative, gets {pad}", *call.notes(pad))
    return Window(kernel, strides, tuple(None if p is None else 2 * p for p in pads), dilations)


def convolve(
    call: Call,
    input: Shape,
    weight: Shape,
    bias: Value,
    parameters: tuple[Value, Value, Value],
    groups: Value,
    channels: Dim | None = None,
) -> Value:
    """torch.nn.functional.conv1d, conv2d, conv3d: weight is (out, in / groups, *kernel).

    `parameters` are stride, padding and dilation; `channels` is what a layer was made for.
    The number of axes is the weight's.
    """
    weight = call.facts.shape(weight)
    if weight.dims is None:
        return call.unranked(None)
    kernel = weight.dims[2:]
    count = len(kernel)
    call.of_rank(input, count + 1, count + 2, what="an input")
    group_count = call.dim(groups)
    if channels is None and group_count is not None:
        channels = weight.dims[1] * group_count
    require_channels(call, input, count, channels)
    call.require_divisible(
        weight.dims[0],
        group_count,
        "SHP404",
        f"{call.text}: {{dim}} output channels are not divisible by groups={{by}}",
    )
    require_bias(call, bias, weight.dims[0])
    read = window(call, kernel, *parameters)

    def rule(dims: Dims) -> Value:
        shape = Shape(dims)
        out = [_extent(call, size, read, i, repr(shape)) for i, size in enumerate(dims[-count:])]
        return call.tensor([*dims[: -count - 1], weight.head[0], *out])

    return each_rank(call, input, (count + 2, count + 1), rule)


def _extent(call: Call, size: Dim, read: Window, axis: int, shown: str) -> Dim | None:
    kernel, stride, dilation = read.kernel[axis], read.stride[axis], read.dilation[axis]
    if read.same:
        require_window(call, kernel, stride, dilation)
        return size
    return slide(call, size, kernel, stride, read.padding[axis], dilation, shown)


def require_channels(call: Call, input: Shape, count: int, needs: Dim | None) -> None:
    """The channel axis, before `count` spatial ones, has the size that is needed (SHP402)."""
    gets = call.facts.axis(input, -count - 1)
    input = call.facts.shape(input)
    hint = None
    if needs is not None and gets is not None and needs.differs(gets):
        if input.dims is not None and input.dims[-1] == needs:
            hint = "channels come before the spatial axes: move the last axis there with permute"
        elif input.rank == count + 1 and input.dims is not None and input.dims[0] != needs:
            hint = "is an axis for the channels missing? unsqueeze(1) adds one" if needs == 1 else None
    call.require_equal(
        needs,
        gets,
        "SHP402",
        f"{call.text} needs {{left}} input channels, gets {{right}} (input {call.show(input)})",
        hint=hint,
    )


def require_bias(call: Call, bias: Value, channels: Dim) -> None:
    """The bias is a vector with one number for each output channel (SHP402)."""
    shape = known_shape(call, bias)
    if shape is None:
        return
    shape = call.of_rank(shape, 1, what="a bias")
    message = f"{call.text}: the bias has {{right}} channels, the weight gives {{left}}"
    call.require_equal(channels, call.facts.axis(shape, 0), "SHP402", message)


def transpose(
    call: Call,
    input: Shape,
    weight: Shape,
    bias: Value,
    parameters: tuple[Value, Value, Value, Value],
    groups: Value,
    output_size: Value = NONE,
) -> Value:
    """torch.nn.functional.conv_transpose1d to 3d: weight is (in, out / groups, *kernel).

    `parameters` are stride, padding, output_padding and dilation.
    """
    weight = call.facts.shape(weight)
    if weight.dims is None:
        return call.unranked(None)
    count = len(weight.dims) - 2
    call.of_rank(input, count + 1, count + 2, what="an input")
    require_channels(call, input, count, weight.dims[0])
    group_count = call.dim(groups)
    call.require_divisible(
        weight.dims[0], group_count, "SHP404", f"{call.text}: {{dim}} input channels are not divisible by groups={{by}}"
    )
    out_channels = None if group_count is None else weight.dims[1] * group_count
    if out_channels is not None and group_count is not None and group_count.constant is not None:
        require_bias(call, bias, out_channels)
    stride, padding, extra, dilation = parameters
    read = window(call, weight.dims[2:], stride, padding, dilation)
    extras = per_axis(call, extra, count)

    def rule(dims: Dims) -> Value:
        smallest = [_grown(call, size, read, i) for i, size in enumerate(dims[-count:])]
        out = _sized(call, smallest, read.stride, extras, output_size, len(dims))
        _require_positive(call, out, dims)
        return call.tensor([*dims[: -count - 1], out_channels, *out])

    return each_rank(call, input, (count + 2, count + 1), rule)


def _grown(call: Call, size: Dim, read: Window, axis: int) -> Dim | None:
    kernel, stride, dilation = read.kernel[axis], read.stride[axis], read.dilation[axis]
    require_window(call, kernel, stride, dilation)
    reach, padding = span(kernel, dilation), read.padding[axis]
    if reach is None or stride is None or padding is None:
        return None
    return (size - 1) * stride - padding + reach


def _sized(
    call: Call, smallest: list[Dim | None], stride: Axes, extras: Axes, output_size: Value, rank: int
) -> list[Dim | None]:
    """The sizes asked for, or the smallest ones and the output padding."""
    asked = call.is_none(output_size)
    if asked:
        return [None if s is None or e is None else s + e for s, e in zip(smallest, extras, strict=True)]
    count = len(smallest)
    sizes = call.sizes(output_size) if asked is False else None
    if sizes is None:
        return [None] * count
    if len(sizes) not in (count, rank):
        call.fail("SHP301", f"{call.text}: output_size needs {count} or {rank} sizes, gets {len(sizes)}")
    sizes = sizes[-count:]
    for size, least, step in zip(sizes, smallest, stride, strict=True):
        if size is None or least is None or step is None:
            continue
        short, long = (least - size).low, (size - least - step + 1).low
        if (short is not None and short > 0) or (long is not None and long > 0):
            call.fail(
                "SHP403",
                f"{call.text}: output_size {size} is not possible, the input allows {least} to {least + step - 1}",
                *call.notes(size),
            )
    return list(sizes)


def _require_positive(call: Call, out: list[Dim | None], dims: Dims) -> None:
    for size in out:
        if size is None:
            continue
        text = f"{call.text}: the output would have the size {size} (input {Shape(dims)!r})"
        call.state(at_least(size, 1), "SHP403", text)
        high = (-size).low
        if high is not None and high >= 0:
            call.fail("SHP403", text, *call.notes(*dims))
