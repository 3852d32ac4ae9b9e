"""torch.nn: Flatten and Unflatten.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Flatten.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import MINUS_ONE, ONE, Call
from distml.ops.registry import layer
from distml.ops.rules.layers import given
from distml.ops.rules.view import flatten, unflatten
from distml.values import Const, Tup

if TYPE_CHECKING:
    from distml.values import Value


@layer("torch.nn.Flatten")
class Flatten:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Flatten.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, start_dim: Value = ONE, end_dim: Value = MINUS_ONE) -> dict[str, Value]:
        """The first and the last axis to merge."""
        return {"start_dim": start_dim, "end_dim": end_dim}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """The axes made one."""
        start, end = given(call, attrs, "start_dim"), given(call, attrs, "end_dim")
        return call.tensor(flatten(call, call.shape(input), start, end), call.dtype(input))


@layer("torch.nn.Unflatten")
class Unflatten:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Unflatten.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, dim: Value, unflattened_size: Value) -> dict[str, Value]:
        """The axis and the sizes it becomes."""
        return {"dim": dim, "unflattened_size": unflattened_size}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """One axis made several; names need named tensors and are not followed."""
        dim, sizes = given(call, attrs, "dim"), given(call, attrs, "unflattened_size")
        items = call.items(sizes)
        named = isinstance(dim, Const) and isinstance(dim.value, str)
        if named or (items is not None and any(isinstance(item, Tup) for item in items)):
            return call.unranked(call.dtype(input))
        shape = unflatten(call, call.shape(input), dim, call.sizes(sizes))
        return call.tensor(shape, call.dtype(input))
