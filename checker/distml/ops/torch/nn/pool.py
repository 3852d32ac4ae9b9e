"""torch.nn: pooling layers and their functional forms.

https://docs.pytorch.org/docs/stable/nn.html#pooling-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, ONE, TRUE, ZERO, Call
from distml.ops.registry import layer, op
from distml.ops.rules.layers import given
from distml.ops.semantics import pool as rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.values import Value


def _max_pool(count: int) -> Callable[..., Value]:
    def max_pool(
        call: Call,
        input: Value,
        kernel_size: Value,
        stride: Value = NONE,
        padding: Value = ZERO,
        dilation: Value = ONE,
        ceil_mode: Value = FALSE,
        return_indices: Value = FALSE,
    ) -> Value:
        result = rules.pooled(call, input, count, kernel_size, stride, padding, dilation, ceil_mode)
        return rules.with_indices(call, result, return_indices)

    return max_pool


def _max_pool_with_indices(count: int) -> Callable[..., Value]:
    function = _max_pool(count)

    def max_pool_with_indices(
        call: Call,
        input: Value,
        kernel_size: Value,
        stride: Value = NONE,
        padding: Value = ZERO,
        dilation: Value = ONE,
        ceil_mode: Value = FALSE,
        return_indices: Value = FALSE,
    ) -> Value:
        return function(call, input, kernel_size, stride, padding, dilation, ceil_mode, TRUE)

    return max_pool_with_indices


def _avg_pool(count: int) -> Callable[..., Value]:
    def avg_pool(
        call: Call,
        input: Value,
        kernel_size: Value,
        stride: Value = NONE,
        padding: Value = ZERO,
        ceil_mode: Value = FALSE,
        count_include_pad: Value = TRUE,
        divisor_override: Value = NONE,
    ) -> Value:
        return rules.pooled(call, input, count, kernel_size, stride, padding, ONE, ceil_mode)

    return avg_pool


def _lp_pool(count: int) -> Callable[..., Value]:
    def lp_pool(
        call: Call,
        input: Value,
        norm_type: Value,
        kernel_size: Value,
        stride: Value = NONE,
        ceil_mode: Value = FALSE,
    ) -> Value:
        return rules.pooled(call, input, count, kernel_size, stride, ZERO, ONE, ceil_mode)

    return lp_pool


def _max_layer(count: int) -> type:
    class MaxPool:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(
            call: Call,
            kernel_size: Value,
            stride: Value = NONE,
            padding: Value = ZERO,
            dilation: Value = ONE,
            return_indices: Value = FALSE,
            ceil_mode: Value = FALSE,
        ) -> dict[str, Value]:
            step = kernel_size if call.is_none(stride) else stride
            return {
                "kernel_size": kernel_size,
                "stride": step,
                "padding": padding,
                "dilation": dilation,
                "return_indices": return_indices,
                "ceil_mode": ceil_mode,
            }

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
            names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
            result = rules.pooled(call, input, count, *(given(call, attrs, name) for name in names))
            return rules.with_indices(call, result, given(call, attrs, "return_indices"))

    return MaxPool


def _avg_layer(count: int) -> type:
    class AvgPool:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(
            call: Call,
            kernel_size: Value,
            stride: Value = NONE,
            padding: Value = ZERO,
            ceil_mode: Value = FALSE,
            count_include_pad: Value = TRUE,
            divisor_override: Value = NONE,
        ) -> dict[str, Value]:
            step = kernel_size if call.is_none(stride) else stride
            return {"kernel_size": kernel_size, "stride": step, "padding": padding, "ceil_mode": ceil_mode}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
            kernel, stride, padding, ceil = (
                given(call, attrs, name) for name in ("kernel_size", "stride", "padding", "ceil_mode")
            )
            return rules.pooled(call, input, count, kernel, stride, padding, ONE, ceil)

    return AvgPool


def _lp_layer(count: int) -> type:
    class LPPool:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(
            call: Call, norm_type: Value, kernel_size: Value, stride: Value = NONE, ceil_mode: Value = FALSE
        ) -> dict[str, Value]:
            return {"norm_type": norm_type, "kernel_size": kernel_size, "stride": stride, "ceil_mode": ceil_mode}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
            kernel, stride, ceil = (given(call, attrs, name) for name in ("kernel_size", "stride", "ceil_mode"))
            return rules.pooled(call, input, count, kernel, stride, ZERO, ONE, ceil)

    return LPPool


for _count in (1, 2, 3):
    op(f"torch.nn.functional.max_pool{_count}d", f"torch.max_pool{_count}d")(_max_pool(_count))
    op(f"torch.nn.functional.max_pool{_count}d_with_indices")(_max_pool_with_indices(_count))
    op(f"torch.nn.functional.avg_pool{_count}d")(_avg_pool(_count))
    op(f"torch.nn.functional.lp_pool{_count}d")(_lp_pool(_count))
    layer(f"torch.nn.MaxPool{_count}d")(_max_layer(_count))
    layer(f"torch.nn.AvgPool{_count}d")(_avg_layer(_count))
    layer(f"torch.nn.LPPool{_count}d")(_lp_layer(_count))
