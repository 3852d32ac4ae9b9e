"""torch: norms of vectors and matrices. https://docs.pytorch.org/docs/stable/linalg.html#matrix-properties"""

from __future__ import annotations

from distml.ops.call import FALSE, NONE, Call
from distml.ops.registry import op
from distml.ops.rules.reduce import reduced
from distml.shapes import Shape
from distml.values import Const, Tensor, Tup, Value

LAST_TWO = Tup((Const(-2), Const(-1)))


def normed(call: Call, source: Value, shape: Shape) -> Tensor:
    """Norms are real, whatever they are of."""
    return call.tensor(shape, "float")


@op("torch.linalg.vector_norm")
def vector_norm(
    call: Call, x: Value, ord: Value = NONE, dim: Value = NONE, keepdim: Value = FALSE, **options: Value
) -> Value:
    """torch.linalg.vector_norm(x, ord=2, dim=None, keepdim=False)"""
    return normed(call, x, reduced(call, call.shape(x), dim, keepdim))


@op("torch.linalg.norm")
def any_norm(
    call: Call, input: Value, ord: Value = NONE, dim: Value = NONE, keepdim: Value = FALSE, **options: Value
) -> Value:
    """torch.linalg.norm(input, ord=None, dim=None, keepdim=False)"""
    shape = call.shape(input)
    if call.is_none(dim) and call.is_none(ord) is False and shape.rank is not None and shape.rank > 2:
        call.fail("SHP301", f"{call.text} with `ord` and no `dim` needs 1 or 2 axes, gets {shape!r}")
    return normed(call, input, reduced(call, shape, dim, keepdim))


@op("torch.linalg.matrix_norm")
def matrix_norm(
    call: Call, A: Value, ord: Value = NONE, dim: Value = LAST_TWO, keepdim: Value = FALSE, **options: Value
) -> Value:
    """torch.linalg.matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False)"""
    shape = call.shape(A)
    if call.facts.at_least(shape, 2) is None:
        call.fail("SHP301", f"{call.text} needs at least 2 axes, gets {call.show(shape)}")
    return normed(call, A, reduced(call, shape, dim, keepdim))
