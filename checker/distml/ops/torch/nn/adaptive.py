"""torch.nn: pooling to a given size or fraction, and unpooling.

https://docs.pytorch.org/docs/stable/nn.html#pooling-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, ZERO, Call
from distml.ops.registry import layer, op
from distml.ops.rules.layers import given
from distml.ops.semantics import pool as rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.values import Value


def _adaptive(count: int, always: bool = False) -> Callable[..., Value]:
    def adaptive_pool(call: Call, input: Value, output_size: Value, return_indices: Value = FALSE) -> Value:
        result = rules.adaptive(call, input, count, output_size)
        return rules.with_indices(call, result, TRUE if always else return_indices)

    return adaptive_pool


def _adaptive_layer(count: int) -> type:
    class AdaptivePool:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(call: Call, output_size: Value, return_indices: Value = FALSE) -> dict[str, Value]:
            return {"output_size": output_size, "return_indices": return_indices}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
            result = rules.adaptive(call, input, count, given(call, attrs, "output_size"))
            return rules.with_indices(call, result, given(call, attrs, "return_indices"))

    return AdaptivePool


def _fractional(count: int, always: bool = False) -> Callable[..., Value]:
    def fractional_max_pool(
        call: Call,
        input: Value,
        kernel_size: Value,
        output_size: Value = NONE,
        output_ratio: Value = NONE,
        return_indices: Value = FALSE,
        _random_samples: Value = NONE,
    ) -> Value:
        result = rules.fractional(call, input, count, kernel_size, output_size, output_ratio)
        return rules.with_indices(call, result, TRUE if always else return_indices)

    return fractional_max_pool


def _fractional_layer(count: int) -> type:
    class FractionalMaxPool:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(
            call: Call,
            kernel_size: Value,
            output_size: Value = NONE,
            output_ratio: Value = NONE,
            return_indices: Value = FALSE,
            _random_samples: Value = NONE,
        ) -> dict[str, Value]:
            return {
                "kernel_size": kernel_size,
                "output_size": output_size,
                "output_ratio": output_ratio,
                "return_indices": return_indices,
            }

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
            names = ("kernel_size", "output_size", "output_ratio")
            result = rules.fractional(call, input, count, *(given(call, attrs, name) for name in names))
            return rules.with_indices(call, result, given(call, attrs, "return_indices"))

    return FractionalMaxPool


def _unpool(count: int) -> Callable[..., Value]:
    def max_unpool(
        call: Call,
        input: Value,
        indices: Value,
        kernel_size: Value,
        stride: Value = NONE,
        padding: Value = ZERO,
        output_size: Value = NONE,
    ) -> Value:
        return rules.unpool(call, input, indices, count, (kernel_size, stride, padding), output_size)

    return max_unpool


def _unpool_layer(count: int) -> type:
    class MaxUnpool:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(call: Call, kernel_size: Value, stride: Value = NONE, padding: Value = ZERO) -> dict[str, Value]:
            step = kernel_size if call.is_none(stride) else stride
            return {"kernel_size": kernel_size, "stride": step, "padding": padding}

        @staticmethod
        def forward(
            call: Call, attrs: dict[str, Value], input: Value, indices: Value, output_size: Value = NONE
        ) -> Value:
            kernel, stride, padding = (given(call, attrs, name) for name in ("kernel_size", "stride", "padding"))
            return rules.unpool(call, input, indices, count, (kernel, stride, padding), output_size)

    return MaxUnpool


for _count in (1, 2, 3):
    op(f"torch.nn.functional.adaptive_avg_pool{_count}d")(_adaptive(_count))
    op(f"torch.nn.functional.adaptive_max_pool{_count}d")(_adaptive(_count))
    op(f"torch.nn.functional.adaptive_max_pool{_count}d_with_indices")(_adaptive(_count, always=True))
    op(f"torch.nn.functional.max_unpool{_count}d")(_unpool(_count))
    layer(f"torch.nn.AdaptiveAvgPool{_count}d", f"torch.nn.AdaptiveMaxPool{_count}d")(_adaptive_layer(_count))
    layer(f"torch.nn.MaxUnpool{_count}d")(_unpool_layer(_count))
    if _count > 1:
        op(f"torch.nn.functional.fractional_max_pool{_count}d")(_fractional(_count))
        op(f"torch.nn.functional.fractional_max_pool{_count}d_with_indices")(_fractional(_count, always=True))
        layer(f"torch.nn.FractionalMaxPool{_count}d")(_fractional_layer(_count))
