"""torch.nn: Conv1d, Conv2d, Conv3d, their lazy and functional forms.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv2d.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.ops.call import NONE, ONE, TRUE, ZERO, Call
from distml.ops.registry import layer, op
from distml.ops.rules.layers import attribute_of, given, optional, parameter, per_axis, per_axis_attribute, size
from distml.ops.rules.padding import around
from distml.ops.semantics.conv import Kernel, convolve, require_bias, transpose
from distml.ops.semantics.window import Axes, Layout, Padding, Window, both_sides, windows
from distml.shapes import Shape
from distml.values import Const, Num, Tensor, Value, alternatives

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.shapes import Dim

ZEROS = Const("zeros")


def _windows(call: Call, kernel: Axes, parameters: tuple[Value, Value, Value]) -> tuple[Window, ...]:
    """The windows of stride, padding and dilation; padding is a word, or a size for each side."""
    count = len(kernel)
    stride, padding, dilation = parameters
    word = padding.value if isinstance(padding, Const) else None
    pads: tuple[Padding, ...] = ("same" if word == "same" else "valid",) * count
    if not isinstance(word, str):
        pads = both_sides(call, per_axis(call, padding, count))
    return windows(kernel, per_axis(call, stride, count), pads, per_axis(call, dilation, count))


def convolved(
    call: Call,
    input: Shape,
    weight: Shape,
    bias: Value,
    parameters: tuple[Value, Value, Value],
    groups: Value,
    channels: Dim | None = None,
) -> Value:
    """torch.nn.functional.conv1d to 3d: weight is (out, in / groups, *kernel), the number of axes is the weight's.

    `parameters` are stride, padding and dilation; `channels` is what a layer was made for.
    """
    weight = call.facts.shape(weight)
    if weight.dims is None:
        return call.unranked(None)
    outside, share, *sizes = weight.dims
    divisor = call.dim(groups)
    if channels is None and divisor is not None:
        channels = share * divisor
    require_bias(call, bias, outside)
    count = len(sizes)
    read, layout = _windows(call, tuple(sizes), parameters), Layout(count, channels_last=False)
    return convolve(call, input, Kernel(channels, outside, divisor), read, layout, (count + 2, count + 1))


def transposed(
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
    inside, share, *sizes = weight.dims
    count, divisor = len(sizes), call.dim(groups)
    outside = None if divisor is None else share * divisor
    if divisor is not None and divisor.constant is not None:
        require_bias(call, bias, outside)
    stride, padding, extra, dilation = parameters
    read, layout = _windows(call, tuple(sizes), (stride, padding, dilation)), Layout(count, channels_last=False)
    extras, ranks = per_axis(call, extra, count), (count + 2, count + 1)
    return transpose(call, input, Kernel(inside, outside, divisor), read, layout, ranks, extras, output_size)


def _functional(count: int) -> Callable[..., Value]:
    def conv(
        call: Call,
        input: Value,
        weight: Value,
        bias: Value = NONE,
        stride: Value = ONE,
        padding: Value = ZERO,
        dilation: Value = ONE,
        groups: Value = ONE,
    ) -> Value:
        kernel = call.of_rank(call.shape(weight), count + 2, what="a weight")
        return convolved(call, call.shape(input), kernel, bias, (stride, padding, dilation), groups)

    return conv


def constructed(
    call: Call,
    count: int,
    channels: tuple[Value, Value],
    windows: dict[str, Value],
    groups: Value,
    bias: Value,
    transposed: bool = False,
) -> dict[str, Value]:
    """The attributes of a convolution; `windows` are its per-axis parameters."""
    inside, outside = size(call, channels[0], "in_channels"), size(call, channels[1], "out_channels")
    divisor = size(call, groups, "groups", 1)
    for name, dim in (("in_channels", inside), ("out_channels", outside)):
        call.require_divisible(dim, divisor, "SHP404", f"{call.text}: {name}={{dim}} is not divisible by groups={{by}}")
    kernel = [call.symbol("kernel") if k is None else k for k in per_axis(call, windows["kernel_size"], count)]
    lead = (inside, _share(outside, divisor)) if transposed else (outside, _share(inside, divisor))
    return {
        "in_channels": attribute_of(call, channels[0], inside),
        "out_channels": attribute_of(call, channels[1], outside),
        **{name: per_axis_attribute(call, value, count) for name, value in windows.items()},
        "groups": groups,
        "weight": parameter(call, (*lead, *kernel)),
        "bias": optional(call, bias, parameter(call, (outside,))),
    }


def _share(channels: Dim, groups: Dim) -> Dim:
    return channels if groups.constant == 0 else channels // groups


def made_for(call: Call, attrs: dict[str, Value], weight: Shape, axis: int, name: str) -> Dim | None:
    """The channels a layer was made for, as long as its weight is the one it was made with."""
    channels, groups = call.dim(attrs.get(name, NONE)), call.dim(attrs.get("groups", ONE))
    if channels is None or groups is None or weight.dims is None:
        return None
    return channels if weight.dims[axis] == _share(channels, groups) else None


def _layer(count: int) -> type:
    class Conv:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(
            call: Call,
            in_channels: Value,
            out_channels: Value,
            kernel_size: Value,
            stride: Value = ONE,
            padding: Value = ZERO,
            dilation: Value = ONE,
            groups: Value = ONE,
            bias: Value = TRUE,
            padding_mode: Value = ZEROS,
            device: Value = NONE,
            dtype: Value = NONE,
        ) -> dict[str, Value]:
            windows = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
            attrs = constructed(call, count, (in_channels, out_channels), windows, groups, bias)
            return {**attrs, "padding_mode": padding_mode, "transposed": Const(False)}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
            weight = call.shape(given(call, attrs, "weight"))
            bias, groups = given(call, attrs, "bias"), given(call, attrs, "groups")
            stride, dilation = given(call, attrs, "stride"), given(call, attrs, "dilation")
            padding, shape = given(call, attrs, "padding"), call.shape(input)
            channels = made_for(call, attrs, weight, 1, "in_channels")
            mode = call.const(given(call, attrs, "padding_mode"), str)
            if mode in ("reflect", "replicate", "circular"):
                around(call, shape, padding, count, mode)
            result = convolved(call, shape, weight, bias, (stride, padding, dilation), groups, channels)
            return floated(call, result)

    return Conv


def floated(call: Call, result: Value) -> Value:
    """The result of a layer with float weights."""
    options = [Tensor(o.lib, o.shape, "float") if isinstance(o, Tensor) else o for o in alternatives(result)]
    return call.any_of(*options)


def _lazy(base: Any) -> type:
    class LazyConv:
        @staticmethod
        def init(
            call: Call, out_channels: Value, kernel_size: Value, *args: Value, **kwargs: Value
        ) -> dict[str, Value]:
            unknown = Num(call.symbol("in_channels"))
            attrs: dict[str, Value] = base.init(call, unknown, out_channels, kernel_size, *args, **kwargs)
            return attrs

        forward = base.forward

    return LazyConv


for _count in (1, 2, 3):
    op(f"torch.nn.functional.conv{_count}d", f"torch.conv{_count}d")(_functional(_count))
    _class: Any = layer(f"torch.nn.Conv{_count}d")(_layer(_count))
    _lazy_class: Any = layer(f"torch.nn.LazyConv{_count}d")(_lazy(_class))
    _lazy_class.bases = (f"torch.nn.Conv{_count}d",)
