"""torch: matrix products and their relatives.

https://docs.pytorch.org/docs/stable/torch.html#blas-and-lapack-operations
"""

from __future__ import annotations

from distml.ops.call import NONE, ONE, Call
from distml.ops.registry import op
from distml.ops.rules import matmul as rules
from distml.ops.rules.elements import written
from distml.ops.rules.linalg import batch, batches
from distml.shapes import Shape
from distml.solver.formula import either, equal
from distml.values import Const, Value


def product_dtype(call: Call, left: Value, right: Value) -> str | None:
    """Products want both operands of one type: what is known of either is known of the result."""
    return call.dtype(left) or call.dtype(right)


@op(
    "torch.matmul",
    "torch.linalg.matmul",
    "torch.Tensor.matmul",
    "torch.Tensor.__matmul__",
)
def matmul(call: Call, input: Value, other: Value, *, out: Value = NONE) -> Value:
    """torch.matmul(input, other): https://docs.pytorch.org/docs/stable/generated/torch.matmul.html"""
    shape = rules.matmul(call, call.shape(input), call.shape(other))
    return call.tensor(shape, product_dtype(call, input, other))


@op("torch.Tensor.__rmatmul__")
def reflected(call: Call, self: Value, other: Value) -> Value:
    """`x.__rmatmul__(y)` is `y @ x`"""
    return matmul(call, other, self)


def _of_ranks(call: Call, left: Value, right: Value, ranks: tuple[int, int]) -> Value:
    shape = rules.product_of_rank(call, call.shape(left), call.shape(right), ranks)
    return call.tensor(shape, product_dtype(call, left, right))


@op("torch.mm", "torch.Tensor.mm", "torch.spmm", "torch.smm", "torch.Tensor.smm", "torch.hspmm")
def mm(call: Call, input: Value, mat2: Value, *, out: Value = NONE) -> Value:
    """torch.mm(input, mat2)"""
    return _of_ranks(call, input, mat2, (2, 2))


@op("torch.bmm", "torch.Tensor.bmm")
def bmm(call: Call, input: Value, mat2: Value, *, out: Value = NONE) -> Value:
    """torch.bmm(input, mat2)"""
    return _of_ranks(call, input, mat2, (3, 3))


@op("torch.mv", "torch.Tensor.mv")
def mv(call: Call, input: Value, vec: Value, *, out: Value = NONE) -> Value:
    """torch.mv(input, vec)"""
    return _of_ranks(call, input, vec, (2, 1))


@op("torch.dot", "torch.vdot", "torch.Tensor.dot", "torch.Tensor.vdot")
def dot(call: Call, input: Value, tensor: Value | None = None, *, other: Value = NONE, out: Value = NONE) -> Value:
    """torch.dot(input, tensor), torch.vdot(input, other)"""
    return _of_ranks(call, input, tensor or other, (1, 1))


@op("torch.inner", "torch.Tensor.inner")
def inner(call: Call, input: Value, other: Value, *, out: Value = NONE) -> Value:
    """torch.inner(input, other)"""
    shape = rules.inner(call, call.shape(input), call.shape(other))
    return call.tensor(shape, product_dtype(call, input, other))


@op("torch.outer", "torch.ger", "torch.Tensor.outer", "torch.Tensor.ger")
def outer(call: Call, input: Value, vec2: Value, *, out: Value = NONE) -> Value:
    """torch.outer(input, vec2): two vectors"""
    left = call.of_rank(call.shape(input), 1, what="the left operand")
    right = call.of_rank(call.shape(vec2), 1, what="the right operand")
    return call.tensor(Shape(left.head + right.head))


@op("torch.kron", "torch.Tensor.kron")
def kron(call: Call, input: Value, other: Value, *, out: Value = NONE) -> Value:
    """torch.kron(input, other)"""
    return call.tensor(rules.kron(call, call.shape(input), call.shape(other)))


@op("torch.tensordot", "torch.functional.tensordot")
def tensordot(call: Call, a: Value, b: Value, dims: Value = Const(2), out: Value = NONE) -> Value:
    """torch.tensordot(a, b, dims=2)"""
    return call.tensor(rules.tensordot(call, call.shape(a), call.shape(b), dims), product_dtype(call, a, b))


@op("torch.chain_matmul", "torch.functional.chain_matmul")
def chain_matmul(call: Call, *matrices: Value, out: Value = NONE) -> Value:
    """torch.chain_matmul(*matrices)"""
    if len(matrices) == 1 and call.items(matrices[0]) is None:
        return call.tensor(call.of_rank(call.shape(matrices[0]), 2))
    listed = (call.items(matrices[0]) if len(matrices) == 1 else None) or matrices
    shapes = [call.of_rank(call.shape(m), 2, what=f"matrix {i}") for i, m in enumerate(listed)]
    return call.tensor(rules.chain(call, shapes) if len(shapes) > 1 else shapes[0])


@op("torch.linalg.multi_dot")
def multi_dot(call: Call, tensors: Value, *, out: Value = NONE) -> Value:
    """torch.linalg.multi_dot(tensors)"""
    listed = call.items(tensors)
    if listed is None:
        return call.unranked()
    return call.tensor(rules.chain(call, [call.shape(t) for t in listed]))


@op("torch.sparse.mm")
def sparse_mm(call: Call, mat1: Value, mat2: Value, reduce: Value = NONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.sparse.mm.html"""
    return _of_ranks(call, mat1, mat2, (2, 2))


def _added(call: Call, base: Value, product: Shape) -> Value:
    """`base` is expanded to the product's shape."""
    shape = call.shape(base)
    count = len(product.head)
    if call.name.endswith("_"):
        written(call, base)
    if shape.least > count:
        call.fail("SHP206", f"{call.text}: {call.show(shape)} cannot be expanded to {product!r}")
    call.broadcast(shape, product, message=f"{call.text}: what is added")
    for back in range(1, len(shape.dims or ()) + 1):
        old, new = shape.head[-back], product.head[-back]
        text = f"{call.text}: an axis of size {old} is to become {new}"
        call.state(either(equal(old, new), equal(old, 1)), "SHP206", text)
        if old.differs(1) and old.differs(new):
            call.fail(
                "SHP206",
                f"{call.text}: {call.show(shape)} cannot be expanded to {product!r}: {old} is not {new}",
                *call.notes(old, new),
            )
    return call.tensor(product, call.dtype(base))


@op("torch.addmm", "torch.Tensor.addmm", "torch.Tensor.addmm_", "torch.sspaddmm", "torch.Tensor.sspaddmm")
@op("torch.sparse.addmm")
def addmm(
    call: Call, input: Value, mat1: Value, mat2: Value, *, beta: Value = ONE, alpha: Value = ONE, out: Value = NONE
) -> Value:
    """torch.addmm(input, mat1, mat2, *, beta=1, alpha=1)"""
    return _added(call, input, rules.product_of_rank(call, call.shape(mat1), call.shape(mat2), (2, 2)))


@op("torch.baddbmm", "torch.Tensor.baddbmm", "torch.Tensor.baddbmm_")
def baddbmm(
    call: Call, input: Value, batch1: Value, batch2: Value, *, beta: Value = ONE, alpha: Value = ONE, out: Value = NONE
) -> Value:
    """torch.baddbmm(input, batch1, batch2, *, beta=1, alpha=1)"""
    return _added(call, input, rules.product_of_rank(call, call.shape(batch1), call.shape(batch2), (3, 3)))


@op("torch.addbmm", "torch.Tensor.addbmm", "torch.Tensor.addbmm_")
def addbmm(
    call: Call, input: Value, batch1: Value, batch2: Value, *, beta: Value = ONE, alpha: Value = ONE, out: Value = NONE
) -> Value:
    """torch.addbmm(input, batch1, batch2, *, beta=1, alpha=1): the products of a batch summed up"""
    product = rules.product_of_rank(call, call.shape(batch1), call.shape(batch2), (3, 3))
    return _added(call, input, Shape(product.head[1:]))


@op("torch.addmv", "torch.Tensor.addmv", "torch.Tensor.addmv_")
def addmv(
    call: Call, input: Value, mat: Value, vec: Value, *, beta: Value = ONE, alpha: Value = ONE, out: Value = NONE
) -> Value:
    """torch.addmv(input, mat, vec, *, beta=1, alpha=1)"""
    return _added(call, input, rules.product_of_rank(call, call.shape(mat), call.shape(vec), (2, 1)))


@op("torch.addr", "torch.Tensor.addr", "torch.Tensor.addr_")
def addr(
    call: Call, input: Value, vec1: Value, vec2: Value, *, beta: Value = ONE, alpha: Value = ONE, out: Value = NONE
) -> Value:
    """torch.addr(input, vec1, vec2, *, beta=1, alpha=1)"""
    left, right = call.of_rank(call.shape(vec1), 1), call.of_rank(call.shape(vec2), 1)
    return _added(call, input, Shape(left.head + right.head))


@op("torch.cdist", "torch.functional.cdist")
def cdist(call: Call, x1: Value, x2: Value, p: Value = NONE, compute_mode: Value = NONE) -> Value:
    """torch.cdist(x1, x2, p=2.0): rows against rows, as many columns in both"""
    left, right = call.shape(x1), call.shape(x2)
    for shape in (left, right):
        if call.facts.at_least(shape, 2) is None:
            call.fail("SHP301", f"{call.text} needs at least 2 axes, gets {call.show(shape)}")
    call.require_equal(
        call.facts.axis(left, -1),
        call.facts.axis(right, -1),
        "SHP101",
        f"{call.text}: {call.show(left)} and {call.show(right)} have {{left}} and {{right}} columns",
    )
    rows = call.facts.axis(left, -2), call.facts.axis(right, -2)
    ahead = batches(call, batch(call, left), batch(call, right))
    return call.tensor(call.facts.framed((), ahead, tuple(d for d in rows if d is not None)), "float")
