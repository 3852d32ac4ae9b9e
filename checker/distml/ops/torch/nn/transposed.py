"""torch.nn: ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, lazy and functional.

https://docs.pytorch.org/docs/stable/generated/torch.nn.ConvTranspose2d.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.ops.call import NONE, ONE, TRUE, ZERO, Call
from distml.ops.registry import layer, op
from distml.ops.rules.layers import given
from distml.ops.torch.nn.conv import ZEROS, constructed, floated, transposed
from distml.values import Const, Num, Value

if TYPE_CHECKING:
    from collections.abc import Callable


def _functional(count: int) -> Callable[..., Value]:
    def conv_transpose(
        call: Call,
        input: Value,
        weight: Value,
        bias: Value = NONE,
        stride: Value = ONE,
        padding: Value = ZERO,
        output_padding: Value = ZERO,
        groups: Value = ONE,
        dilation: Value = ONE,
    ) -> Value:
        kernel = call.of_rank(call.shape(weight), count + 2, what="a weight")
        parameters = (stride, padding, output_padding, dilation)
        return transposed(call, call.shape(input), kernel, bias, parameters, groups)

    return conv_transpose


def _layer(count: int) -> type:
    class ConvTranspose:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(
            call: Call,
            in_channels: Value,
            out_channels: Value,
            kernel_size: Value,
            stride: Value = ONE,
            padding: Value = ZERO,
            output_padding: Value = ZERO,
            groups: Value = ONE,
            bias: Value = TRUE,
            dilation: Value = ONE,
            padding_mode: Value = ZEROS,
            device: Value = NONE,
            dtype: Value = NONE,
        ) -> dict[str, Value]:
            windows = {
                "kernel_size": kernel_size,
                "stride": stride,
                "padding": padding,
                "dilation": dilation,
                "output_padding": output_padding,
            }
            attrs = constructed(call, count, (in_channels, out_channels), windows, groups, bias, transposed=True)
            return {**attrs, "padding_mode": padding_mode, "transposed": Const(True)}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value, output_size: Value = NONE) -> Value:
            weight = call.shape(given(call, attrs, "weight"))
            stride, padding, extra, dilation = (
                given(call, attrs, name) for name in ("stride", "padding", "output_padding", "dilation")
            )
            bias, groups = given(call, attrs, "bias"), given(call, attrs, "groups")
            parameters = (stride, padding, extra, dilation)
            result = transposed(call, call.shape(input), weight, bias, parameters, groups, output_size)
            return floated(call, result)

    return ConvTranspose


def _lazy(base: Any) -> type:
    class LazyConvTranspose:
        @staticmethod
        def init(
            call: Call, out_channels: Value, kernel_size: Value, *args: Value, **kwargs: Value
        ) -> dict[str, Value]:
            unknown = Num(call.symbol("in_channels"))
            attrs: dict[str, Value] = base.init(call, unknown, out_channels, kernel_size, *args, **kwargs)
            return attrs

        forward = base.forward

    return LazyConvTranspose


for _count in (1, 2, 3):
    op(f"torch.nn.functional.conv_transpose{_count}d", f"torch.conv_transpose{_count}d")(_functional(_count))
    _class: Any = layer(f"torch.nn.ConvTranspose{_count}d")(_layer(_count))
    _lazy_class: Any = layer(f"torch.nn.LazyConvTranspose{_count}d")(_lazy(_class))
    _lazy_class.bases = (f"torch.nn.ConvTranspose{_count}d",)
