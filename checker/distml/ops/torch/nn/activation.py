"""torch.nn: activations, all of which keep the shape, and the few that look at it.

https://docs.pytorch.org/docs/stable/nn.html#non-linear-activations-weighted-sum-nonlinearity
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, MINUS_ONE, NONE, ONE, Call
from distml.ops.registry import layer, op
from distml.ops.rules.axes import axis_in, replace_axes
from distml.ops.rules.kinds import if_float
from distml.ops.rules.layers import attribute_of, floating, given, parameter, size
from distml.ops.rules.norm import require_channels
from distml.shapes import Dim, Shape
from distml.values import Const

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.values import Value

KEEPERS: dict[str, tuple[str, dict[str, Value]]] = {
    "CELU": ("celu", {"alpha": Const(1.0), "inplace": FALSE}),
    "ELU": ("elu", {"alpha": Const(1.0), "inplace": FALSE}),
    "GELU": ("gelu", {"approximate": Const("none")}),
    "Hardshrink": ("hardshrink", {"lambd": Const(0.5)}),
    "Hardsigmoid": ("hardsigmoid", {"inplace": FALSE}),
    "Hardswish": ("hardswish", {"inplace": FALSE}),
    "Hardtanh": ("hardtanh", {"min_val": Const(-1.0), "max_val": Const(1.0), "inplace": FALSE}),
    "LeakyReLU": ("leaky_relu", {"negative_slope": Const(0.01), "inplace": FALSE}),
    "LogSigmoid": ("logsigmoid", {}),
    "Mish": ("mish", {"inplace": FALSE}),
    "RReLU": ("rrelu", {"lower": Const(0.125), "upper": Const(1 / 3), "training": FALSE, "inplace": FALSE}),
    "ReLU": ("relu", {"inplace": FALSE}),
    "ReLU6": ("relu6", {"inplace": FALSE}),
    "SELU": ("selu", {"inplace": FALSE}),
    "SiLU": ("silu", {"inplace": FALSE}),
    "Sigmoid": ("sigmoid", {}),
    "Softplus": ("softplus", {"beta": Const(1.0), "threshold": Const(20.0)}),
    "Softshrink": ("softshrink", {"lambd": Const(0.5)}),
    "Softsign": ("softsign", {}),
    "Tanh": ("tanh", {}),
    "Tanhshrink": ("tanhshrink", {}),
    "Threshold": ("threshold", {"threshold": NONE, "value": NONE, "inplace": FALSE}),
    "Dropout": ("dropout", {"p": Const(0.5), "training": FALSE, "inplace": FALSE}),
    "Dropout1d": ("dropout1d", {"p": Const(0.5), "training": FALSE, "inplace": FALSE}),
    "Dropout2d": ("dropout2d", {"p": Const(0.5), "training": FALSE, "inplace": FALSE}),
    "Dropout3d": ("dropout3d", {"p": Const(0.5), "training": FALSE, "inplace": FALSE}),
    "AlphaDropout": ("alpha_dropout", {"p": Const(0.5), "training": FALSE, "inplace": FALSE}),
    "FeatureAlphaDropout": ("feature_alpha_dropout", {"p": Const(0.5), "training": FALSE, "inplace": FALSE}),
}
"""Layer -> function of the same meaning, and its parameters behind the input."""

IN_PLACE = ("celu", "elu", "hardtanh", "leaky_relu", "relu", "rrelu", "selu", "threshold")


def _bind(parameters: dict[str, Value], args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[str, Value] | None:
    """Arguments by name, as Python would bind them; None where it could not."""
    if len(args) > len(parameters) or not kwargs.keys() <= parameters.keys():
        return None
    return {**parameters, **dict(zip(parameters, args, strict=False)), **kwargs}


def same(call: Call, input: Value) -> Value:
    """A tensor of the shape of the input."""
    return call.tensor(call.shape(input), if_float(call.dtype(input)))


def _keeping(parameters: dict[str, Value]) -> Callable[..., Value]:
    def keep(call: Call, input: Value, *args: Value, **kwargs: Value) -> Value:
        return call.unknown() if _bind(parameters, args, kwargs) is None else same(call, input)

    return keep


def _keeping_layer(parameters: dict[str, Value]) -> type:
    class Activation:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value] | None:
            return _bind(parameters, args, kwargs) if parameters else {}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
            return same(call, input)

    return Activation


for _layer, (_function, _parameters) in KEEPERS.items():
    _own = {name: value for name, value in _parameters.items() if name != "training"}
    if _layer == "Hardtanh":
        _own |= {"min_value": NONE, "max_value": NONE}
    op(f"torch.nn.functional.{_function}")(_keeping(_parameters))
    layer(f"torch.nn.{_layer}")(_keeping_layer(_own))
    if _function in IN_PLACE:
        op(f"torch.nn.functional.{_function}_")(_keeping(_parameters))


@op("torch.nn.functional.softmax", "torch.nn.functional.log_softmax", "torch.nn.functional.softmin")
def softmax(call: Call, input: Value, dim: Value = NONE, _stacklevel: Value = NONE, dtype: Value = NONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html"""
    shape = call.shape(input)
    _check_axis(call, shape, dim)
    return call.tensor(shape, call.dtype(input) if call.is_none(dtype) else None)


def _check_axis(call: Call, shape: Shape, dim: Value) -> None:
    axis = axis_in(call, dim, shape)
    # A scalar has the axes 0 and -1, so that these tell nothing of the rank.
    if axis is not None and shape.rank is None and axis not in (0, -1):
        call.facts.axis(shape, axis)


@op("torch.nn.functional.gumbel_softmax")
def gumbel_softmax(
    call: Call,
    logits: Value,
    tau: Value = ONE,
    hard: Value = FALSE,
    eps: Value = NONE,
    dim: Value = MINUS_ONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.gumbel_softmax.html"""
    return softmax(call, logits, dim)


@layer("torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin")
class Softmax:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Softmax.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, dim: Value = NONE) -> dict[str, Value]:
        """`dim` is the axis that sums to 1."""
        return {"dim": dim}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """The shape of the input, which has the axis."""
        return softmax(call, input, given(call, attrs, "dim"))


@layer("torch.nn.Softmax2d")
class Softmax2d:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Softmax2d.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call) -> dict[str, Value]:
        """No parameters."""
        return {}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """An image, with or without a batch."""
        shape = call.of_rank(call.shape(input), 3, 4, what="an input")
        return call.tensor(shape, call.dtype(input))


@op("torch.nn.functional.glu")
def glu(call: Call, input: Value, dim: Value = MINUS_ONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.glu.html: half the axis."""
    shape = call.shape(input)
    if shape.rank == 0:
        call.fail("SHP301", f"{call.text} halves an axis, the input is a scalar")
    at = axis_in(call, dim, shape)
    whole = None if at is None else call.facts.axis(shape, at)
    if at is None or whole is None:
        return call.unranked(call.dtype(input))
    text = f"{call.text} halves axis {at}, {{dim}} is not divisible by {{by}} (input {call.show(shape)})"
    call.require_divisible(whole, Dim.of(2), "SHP404", text)
    return call.tensor(replace_axes(call, shape, at, 1, (whole // 2,)), call.dtype(input))


@layer("torch.nn.GLU")
class GLU:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.GLU.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, dim: Value = MINUS_ONE) -> dict[str, Value]:
        """`dim` is the axis that is halved."""
        return {"dim": dim}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """Half the axis."""
        return glu(call, input, given(call, attrs, "dim"))


@op("torch.nn.functional.prelu", "torch.prelu", "torch.Tensor.prelu")
def prelu(call: Call, input: Value, weight: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.prelu.html"""
    shape, slopes = call.shape(input), call.of_rank(call.shape(weight), 0, 1, what="a weight")
    count = slopes.dims[0] if slopes.dims is not None and len(slopes.dims) == 1 else None
    if count is not None and count.constant is not None and count != 1 and shape.rank is not None:
        gets = shape.dims[1] if shape.dims is not None and len(shape.dims) > 1 else Dim.of(1)
        require_channels(call, shape, count, gets)
    return call.tensor(shape, call.dtype(input))


@layer("torch.nn.PReLU")
class PReLU:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.PReLU.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call, num_parameters: Value = ONE, init: Value = NONE, device: Value = NONE, dtype: Value = NONE
    ) -> dict[str, Value]:
        """One slope, or one a channel."""
        count = size(call, num_parameters, "num_parameters")
        return {
            "num_parameters": attribute_of(call, num_parameters, count),
            "weight": parameter(call, (count,)),
        }

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """The shape of the input."""
        result = prelu(call, input, given(call, attrs, "weight"))
        return call.tensor(call.shape(result), floating(call, input))
