"""einops.layers.torch: patterns as layers.

https://einops.rocks/api/rearrange/#layers
"""

from __future__ import annotations

from distml.ops.call import NONE, UNKNOWN, Call
from distml.ops.einops import functions
from distml.ops.einops.matching import Match
from distml.ops.registry import layer
from distml.values import Tensor, Value

LENGTHS = "axes_lengths."


def _lengths(attrs: dict[str, Value]) -> dict[str, Value]:
    return {k.removeprefix(LENGTHS): v for k, v in attrs.items() if k.startswith(LENGTHS)}


def _kept(pattern: Value, lengths: dict[str, Value]) -> dict[str, Value]:
    return {"pattern": pattern, **{LENGTHS + k: v for k, v in lengths.items()}}


@layer("einops.layers.torch.Rearrange")
class Rearrange:
    """einops.layers.torch.Rearrange(pattern, **axes_lengths)"""

    @staticmethod
    def init(call: Call, pattern: Value, **axes_lengths: Value) -> dict[str, Value]:
        """Keep the pattern and the sizes."""
        return _kept(pattern, axes_lengths)

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """As `einops.rearrange`."""
        return functions.rearrange(call, input, attrs["pattern"], **_lengths(attrs))


@layer("einops.layers.torch.Reduce")
class Reduce:
    """einops.layers.torch.Reduce(pattern, reduction, **axes_lengths)"""

    @staticmethod
    def init(call: Call, pattern: Value, reduction: Value, **axes_lengths: Value) -> dict[str, Value]:
        """Keep the pattern, the reduction and the sizes."""
        return {"reduction": reduction, **_kept(pattern, axes_lengths)}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """As `einops.reduce`."""
        return functions.reduce(call, input, attrs["pattern"], attrs["reduction"], **_lengths(attrs))


@layer("einops.layers.torch.EinMix")
class EinMix:
    """einops.layers.torch.EinMix(pattern, weight_shape, bias_shape=None, **axes_lengths)"""

    @staticmethod
    def init(
        call: Call,
        pattern: Value,
        weight_shape: Value,
        bias_shape: Value = NONE,
        **axes_lengths: Value,
    ) -> dict[str, Value]:
        """Make the weight and keep the pattern."""
        names = call.const(weight_shape, str)
        weight = call.unranked("float")
        if isinstance(names, str):
            sizes = [call.dim(axes_lengths[n]) if n in axes_lengths else None for n in names.split()]
            weight = call.tensor(sizes, "float")
        parameter = Tensor("torch", weight.shape, "float", parameter=True)
        return {"weight": parameter, **_kept(pattern, axes_lengths)}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """Names of the left are summed with the weight, those only on the right come from it."""
        text = call.const(attrs["pattern"], str)
        if text is UNKNOWN:
            return call.unranked("float", "mixed")
        match = Match(call, text, _lengths(attrs))
        match.read(call.shape(input))
        return functions.made(call, input, match.write(match.right))
