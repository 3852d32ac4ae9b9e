"""torch.nn: padding layers and torch.nn.functional.pad.

https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pad.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, UNKNOWN, Call
from distml.ops.registry import layer, op
from distml.ops.rules.layers import given
from distml.ops.rules.padding import pad as pad_rule
from distml.values import Const

if TYPE_CHECKING:
    from distml.values import Value

MODES = {
    "ConstantPad": "constant",
    "ZeroPad": "constant",
    "ReflectionPad": "reflect",
    "ReplicationPad": "replicate",
    "CircularPad": "circular",
}


@op("torch.nn.functional.pad")
def pad(call: Call, input: Value, pad: Value, mode: Value = Const("constant"), value: Value = NONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pad.html"""
    name = call.const(mode, str)
    items = call.items(pad)
    sizes = None if items is None else tuple(call.dim(item) for item in items)
    return pad_rule(call, input, sizes, None if name is UNKNOWN else name)


def _layer(count: int, mode: str) -> type:
    class Pad:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(call: Call, padding: Value, value: Value = NONE) -> dict[str, Value]:
            return {"padding": padding, "value": value}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
            padding = given(call, attrs, "padding")
            sizes = call.per_axis(padding, 2 * count)
            items = call.items(padding)
            if items is not None and len(items) != 2 * count:
                return call.unranked(call.dtype(input))
            if mode != "constant":
                call.of_rank(call.shape(input), count + 1, count + 2, what="an input")
            return pad_rule(call, input, sizes or (None,) * (2 * count), mode)

    return Pad


for _count in (1, 2, 3):
    for _name, _mode in MODES.items():
        layer(f"torch.nn.{_name}{_count}d")(_layer(_count, _mode))
