"""torch: matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.registry import op
from distml.ops.rules.matmul import matmul as matmul_rule

if TYPE_CHECKING:
    from distml.values import Value


@op("torch.matmul", "torch.linalg.matmul", "torch.Tensor.matmul", "torch.Tensor.__matmul__")
def matmul(call: Call, input: Value, other: Value, *, out: Value = NONE) -> Value:
    """torch.matmul(input, other): https://docs.pytorch.org/docs/stable/generated/torch.matmul.html"""
    return call.tensor(matmul_rule(call, call.shape(input), call.shape(other)), call.dtype(input))
