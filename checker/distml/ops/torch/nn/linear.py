"""torch.nn: Linear, Bilinear, Identity and their functional forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, TRUE, Call
from distml.ops.registry import layer, op
from distml.ops.rules.layers import attribute_of, floating, given, optional, parameter, size
from distml.ops.rules.linear import bilinear as bilinear_rule
from distml.ops.rules.linear import linear as linear_rule

if TYPE_CHECKING:
    from distml.values import Value


@op("torch.nn.functional.linear")
def linear(call: Call, input: Value, weight: Value, bias: Value = NONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.linear.html"""
    shape = linear_rule(call, call.shape(input), call.shape(weight), bias)
    return call.tensor(shape, call.dtype(input))


@op("torch.nn.functional.bilinear", "torch.bilinear")
def bilinear(call: Call, input1: Value, input2: Value, weight: Value, bias: Value = NONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.bilinear.html"""
    shape = bilinear_rule(call, call.shape(input1), call.shape(input2), call.shape(weight))
    return call.tensor(shape, call.dtype(input1))


@layer("torch.nn.Linear", "torch.nn.modules.linear.NonDynamicallyQuantizableLinear")
class Linear:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        in_features: Value,
        out_features: Value,
        bias: Value = TRUE,
        device: Value = NONE,
        dtype: Value = NONE,
    ) -> dict[str, Value]:
        """Weight (out_features, in_features), bias (out_features,)."""
        inside, outside = size(call, in_features, "in_features"), size(call, out_features, "out_features")
        return {
            "in_features": attribute_of(call, in_features, inside),
            "out_features": attribute_of(call, out_features, outside),
            "weight": parameter(call, (outside, inside)),
            "bias": optional(call, bias, parameter(call, (outside,))),
        }

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """The last axis from in_features to out_features."""
        weight, bias = given(call, attrs, "weight"), given(call, attrs, "bias")
        shape = linear_rule(call, call.shape(input), call.shape(weight), bias, "in_features")
        return call.tensor(shape, floating(call, input))


@layer("torch.nn.LazyLinear")
class LazyLinear:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.LazyLinear.html

    `in_features` is a symbol that the first input settles.
    """

    bases = ("torch.nn.Linear",)

    @staticmethod
    def init(
        call: Call, out_features: Value, bias: Value = TRUE, device: Value = NONE, dtype: Value = NONE
    ) -> dict[str, Value]:
        """Like Linear."""
        return Linear.init(call, call.number(call.symbol("in_features")), out_features, bias)

    forward = Linear.forward


@layer("torch.nn.Bilinear")
class Bilinear:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Bilinear.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        in1_features: Value,
        in2_features: Value,
        out_features: Value,
        bias: Value = TRUE,
        device: Value = NONE,
        dtype: Value = NONE,
    ) -> dict[str, Value]:
        """Weight (out_features, in1_features, in2_features)."""
        left, right = size(call, in1_features, "in1_features", 1), size(call, in2_features, "in2_features")
        outside = size(call, out_features, "out_features")
        return {
            "in1_features": attribute_of(call, in1_features, left),
            "in2_features": attribute_of(call, in2_features, right),
            "out_features": attribute_of(call, out_features, outside),
            "weight": parameter(call, (outside, left, right)),
            "bias": optional(call, bias, parameter(call, (outside,))),
        }

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input1: Value, input2: Value) -> Value:
        """The last axes of both inputs to out_features."""
        weight = call.shape(given(call, attrs, "weight"))
        shape = bilinear_rule(call, call.shape(input1), call.shape(input2), weight)
        return call.tensor(shape, floating(call, input1))


@layer("torch.nn.Identity")
class Identity:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Identity.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """Takes and ignores any arguments."""
        return {}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """The input itself."""
        return input
