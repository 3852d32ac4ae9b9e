"""numpy: products of arrays and numpy.linalg. (https://numpy.org/doc/stable/reference/routines.linalg.html)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, UNKNOWN, ZERO, Call
from distml.ops.numpy.results import array, into, output
from distml.ops.registry import op
from distml.ops.rules import linalg, matmul
from distml.ops.rules.axes import replace_axes
from distml.ops.rules.einsum import contract, einsum, sublists
from distml.ops.rules.kinds import element_kind, floating, promote, real
from distml.ops.rules.reduce import one_axis, reduced
from distml.shapes import Shape
from distml.values import Const, Tup

if TYPE_CHECKING:
    from distml.shapes import Dim
    from distml.values import Value

TWO, MINUS_TWO, MINUS_ONE = Const(2), Const(-2), Const(-1)


def _kinds(call: Call, *values: Value) -> str | None:
    return promote(element_kind(call, value) for value in values)


@op("numpy.matmul", "numpy.linalg.matmul", "numpy.ndarray.__matmul__")
def product(call: Call, x1: Value, x2: Value, out: Value = NONE, **options: Value) -> Value:
    """numpy.matmul(x1, x2): https://numpy.org/doc/stable/reference/generated/numpy.matmul.html"""
    if "axes" in options:
        return call.unranked(_kinds(call, x1, x2))
    shape = matmul.matmul(call, call.shape(x1), call.shape(x2))
    return output(call, array(call, shape, _kinds(call, x1, x2)), out)


@op("numpy.ndarray.__rmatmul__")
def reflected(call: Call, self: Value, other: Value) -> Value:
    """`a.__rmatmul__(b)` is `b @ a`: https://numpy.org/doc/stable/reference/generated/numpy.matmul.html"""
    return product(call, other, self)


@op("numpy.ndarray.__imatmul__")
def product_in_place(call: Call, x1: Value, x2: Value) -> Value:
    """`a @= b`: https://numpy.org/doc/stable/reference/generated/numpy.matmul.html"""
    shape = matmul.matmul(call, call.shape(x1), call.shape(x2))
    return into(call, array(call, shape, _kinds(call, x1, x2)), x1)


@op("numpy.dot", "numpy.ndarray.dot")
def dot(call: Call, a: Value, b: Value, out: Value = NONE) -> Value:
    """numpy.dot(a, b): https://numpy.org/doc/stable/reference/generated/numpy.dot.html"""
    return into(call, array(call, matmul.dot(call, call.shape(a), call.shape(b)), _kinds(call, a, b)), out)


@op("numpy.inner")
def inner(call: Call, a: Value, b: Value) -> Value:
    """numpy.inner(a, b): https://numpy.org/doc/stable/reference/generated/numpy.inner.html"""
    return array(call, matmul.inner(call, call.shape(a), call.shape(b)), _kinds(call, a, b))


@op("numpy.outer", "numpy.linalg.outer")
def outer(call: Call, a: Value, b: Value, out: Value = NONE) -> Value:
    """numpy.outer(a, b): https://numpy.org/doc/stable/reference/generated/numpy.outer.html"""
    if call.name == "numpy.linalg.outer":
        for side in (a, b):
            call.of_rank(call.shape(side), 1, what="vectors")
    return output(call, array(call, matmul.outer(call, call.shape(a), call.shape(b)), _kinds(call, a, b)), out)


@op("numpy.vdot")
def vdot(call: Call, a: Value, b: Value) -> Value:
    """numpy.vdot(a, b): https://numpy.org/doc/stable/reference/generated/numpy.vdot.html"""
    left, right = call.shape(a), call.shape(b)
    shown = f"{call.text}: {left!r} has {{left}} elements, {right!r} has {{right}}"
    call.require_equal(left.size, right.size, "SHP101", shown)
    return array(call, Shape.of(), _kinds(call, a, b))


@op("numpy.vecdot", "numpy.linalg.vecdot")
def vecdot(call: Call, x1: Value, x2: Value, *, axis: Value = MINUS_ONE, **options: Value) -> Value:
    """numpy.vecdot(x1, x2): https://numpy.org/doc/stable/reference/generated/numpy.vecdot.html"""
    left, right = call.shape(x1), call.shape(x2)
    kind = _kinds(call, x1, x2)
    if call.const(axis, int) != -1 or "axes" in options:
        return call.unranked(kind)
    ends = call.facts.axis(left, -1), call.facts.axis(right, -1)
    message = f"{call.text}: the last axes of {left!r} and {right!r} differ: {{left}} and {{right}}"
    call.require_equal(*ends, "SHP101", message)
    if None in ends:
        call.fail("SHP301", f"{call.text}: needs vectors, gets {left!r} and {right!r}")
    return array(call, call.broadcast(*(one_axis(call, side, MINUS_ONE, False) for side in (left, right))), kind)


@op("numpy.matvec")
def matvec(call: Call, x1: Value, x2: Value, **options: Value) -> Value:
    """numpy.matvec(x1, x2): https://numpy.org/doc/stable/reference/generated/numpy.matvec.html"""
    if "axes" in options:
        return call.unranked(_kinds(call, x1, x2))
    left, right = linalg.matrix(call, call.shape(x1)), call.shape(x2)
    return _vector_product(call, left, right, left.columns, left.rows, (x1, x2))


@op("numpy.vecmat")
def vecmat(call: Call, x1: Value, x2: Value, **options: Value) -> Value:
    """numpy.vecmat(x1, x2): https://numpy.org/doc/stable/reference/generated/numpy.vecmat.html"""
    if "axes" in options:
        return call.unranked(_kinds(call, x1, x2))
    left, right = call.shape(x1), linalg.matrix(call, call.shape(x2))
    return _vector_product(call, right, left, right.rows, right.columns, (x1, x2))


def _vector_product(
    call: Call, stack: linalg.Matrix, vector: Shape, summed: Dim, kept: Dim, values: tuple[Value, Value]
) -> Value:
    length = call.facts.axis(vector, -1)
    if length is None:
        call.fail("SHP301", f"{call.text}: needs a vector, gets a scalar")
    message = f"{call.text}: {stack.shape!r} and {vector!r} are summed over axes of {{left}} and {{right}}"
    call.require_equal(summed, length, "SHP101", message)
    ahead = call.broadcast(linalg.batch(call, stack.shape), replace_axes(call, vector, -1, 1, ()))
    return array(call, call.facts.framed((), ahead, (kept,)), _kinds(call, *values))


@op("numpy.tensordot", "numpy.linalg.tensordot")
def tensordot(call: Call, a: Value, b: Value, axes: Value = TWO) -> Value:
    """numpy.tensordot(a, b, axes): https://numpy.org/doc/stable/reference/generated/numpy.tensordot.html"""
    return array(call, matmul.tensordot(call, call.shape(a), call.shape(b), axes), _kinds(call, a, b))


@op("numpy.kron")
def kron(call: Call, a: Value, b: Value) -> Value:
    """numpy.kron(a, b): https://numpy.org/doc/stable/reference/generated/numpy.kron.html"""
    return array(call, matmul.kron(call, call.shape(a), call.shape(b)), _kinds(call, a, b))


@op("numpy.linalg.multi_dot")
def multi_dot(call: Call, arrays: Value, *, out: Value = NONE) -> Value:
    """numpy.linalg.multi_dot: https://numpy.org/doc/stable/reference/generated/numpy.linalg.multi_dot.html"""
    items = call.items(arrays)
    if items is None:
        return call.unranked()
    return array(call, matmul.chain(call, [call.shape(item) for item in items]), _kinds(call, *items))


@op("numpy.einsum")
def einsum_op(call: Call, *operands: Value, out: Value = NONE, **options: Value) -> Value:
    """numpy.einsum(subscripts, *operands): https://numpy.org/doc/stable/reference/generated/numpy.einsum.html"""
    equation = call.const(operands[0], str) if operands else UNKNOWN
    if equation is not UNKNOWN:
        values = operands[1:]
        shape = einsum(call, equation, [call.shape(value) for value in values])
        return into(call, array(call, shape, _kinds(call, *values)), out)
    taken = sublists(call, operands) if len(operands) > 1 else None
    if taken is None:
        return call.unranked()
    inputs, labels, result = taken
    shape = contract(call, "the sublists", labels, [call.shape(value) for value in inputs], result)
    return into(call, array(call, shape, _kinds(call, *inputs)), out)


@op("numpy.cross", "numpy.linalg.cross")
def cross(
    call: Call,
    a: Value,
    b: Value,
    axisa: Value = MINUS_ONE,
    axisb: Value = MINUS_ONE,
    axisc: Value = MINUS_ONE,
    axis: Value = NONE,
) -> Value:
    """numpy.cross(a, b): https://numpy.org/doc/stable/reference/generated/numpy.cross.html"""
    kind = _kinds(call, a, b)
    if axis != NONE:
        axisa = axisb = axisc = axis
    left, right = call.shape(a), call.shape(b)
    if any(call.const(v, int) != -1 for v in (axisa, axisb, axisc)):
        return call.unranked(kind)
    ends = call.facts.axis(left, -1), call.facts.axis(right, -1)
    for end, shape in zip(ends, (left, right), strict=True):
        if end is None or (end.differs(2) and end.differs(3)):
            call.fail("SHP101", f"{call.text}: vectors have 2 or 3 components, {call.show(shape)} has not")
    if any(end is None or not end.differs(2) for end in ends):
        return call.unranked(kind)
    return array(call, call.broadcast(call.facts.shape(left), call.facts.shape(right)), kind)


@op("numpy.trace", "numpy.ndarray.trace", "numpy.linalg.trace")
def trace(
    call: Call,
    a: Value,
    offset: Value = ZERO,
    axis1: Value = ZERO,
    axis2: Value = Const(1),
    *_: Value,
    **options: Value,
) -> Value:
    """numpy.trace(a): https://numpy.org/doc/stable/reference/generated/numpy.trace.html"""
    a = options.pop("x", a)
    shape = linalg.matrix(call, call.shape(a)).shape
    if call.name == "numpy.linalg.trace":
        axis1, axis2 = MINUS_TWO, MINUS_ONE
    axes = Tup((axis1, axis2))
    return array(call, reduced(call, shape, axes, FALSE), None)


@op("numpy.linalg.inv", "numpy.linalg.cholesky", "numpy.linalg.matrix_power")
def square(call: Call, a: Value, *rest: Value, **options: Value) -> Value:
    """numpy.linalg.inv(a): https://numpy.org/doc/stable/reference/generated/numpy.linalg.inv.html"""
    kind = None if call.name.endswith("power") else floating(element_kind(call, a))
    return array(call, linalg.square(call, call.shape(a)).shape, kind)


@op("numpy.linalg.pinv")
def pinv(call: Call, a: Value, *rest: Value, **options: Value) -> Value:
    """numpy.linalg.pinv(a): https://numpy.org/doc/stable/reference/generated/numpy.linalg.pinv.html"""
    shape, rows, columns = linalg.matrix(call, call.shape(a))
    return array(call, linalg.ending(call, shape, columns, rows), floating(element_kind(call, a)))


@op("numpy.linalg.det")
def det(call: Call, a: Value) -> Value:
    """numpy.linalg.det(a): https://numpy.org/doc/stable/reference/generated/numpy.linalg.det.html"""
    shape = linalg.square(call, call.shape(a)).shape
    return array(call, linalg.batch(call, shape), floating(element_kind(call, a)))


@op("numpy.linalg.slogdet")
def slogdet(call: Call, a: Value) -> Value:
    """numpy.linalg.slogdet(a): https://numpy.org/doc/stable/reference/generated/numpy.linalg.slogdet.html"""
    batch = linalg.batch(call, linalg.square(call, call.shape(a)).shape)
    kind = floating(element_kind(call, a))
    return _named("SlogdetResult", sign=array(call, batch, kind), logabsdet=array(call, batch, real(kind)))


def _named(kind: str, **fields: Value) -> Tup:
    return Tup(tuple(fields.values()), kind, tuple(fields))


@op("numpy.linalg.eigvals", "numpy.linalg.eigvalsh")
def eigvals(call: Call, a: Value, UPLO: Value = NONE) -> Value:
    """numpy.linalg.eigvals(a): https://numpy.org/doc/stable/reference/generated/numpy.linalg.eigvals.html"""
    shape, rows, _ = linalg.square(call, call.shape(a))
    return array(call, linalg.ending(call, shape, rows), "float" if call.name.endswith("h") else None)


@op("numpy.linalg.eig", "numpy.linalg.eigh")
def eig(call: Call, a: Value, UPLO: Value = NONE) -> Value:
    """numpy.linalg.eig(a): https://numpy.org/doc/stable/reference/generated/numpy.linalg.eig.html"""
    shape, rows, _ = linalg.square(call, call.shape(a))
    hermitian = call.name.endswith("h")
    values = array(call, linalg.ending(call, shape, rows), "float" if hermitian else None)
    vectors = array(call, shape, floating(element_kind(call, a)) if hermitian else None)
    return _named("EighResult" if hermitian else "EigResult", eigenvalues=values, eigenvectors=vectors)


@op("numpy.linalg.svd")
def svd(call: Call, a: Value, full_matrices: Value = TRUE, compute_uv: Value = TRUE, hermitian: Value = FALSE) -> Value:
    """numpy.linalg.svd(a): https://numpy.org/doc/stable/reference/generated/numpy.linalg.svd.html"""
    u, s, vh = linalg.svd(call, call.shape(a), call.flag(full_matrices))
    kind = floating(element_kind(call, a))
    both = call.flag(compute_uv)
    if both is None:
        return call.unknown()
    values = array(call, s, "float")
    return _named("SVDResult", U=array(call, u, kind), S=values, Vh=array(call, vh, kind)) if both else values


@op("numpy.linalg.svdvals")
def svdvals(call: Call, x: Value) -> Value:
    """numpy.linalg.svdvals(x): https://numpy.org/doc/stable/reference/generated/numpy.linalg.svdvals.html"""
    return array(call, linalg.svd(call, call.shape(x), False)[1], "float")


@op("numpy.linalg.qr")
def qr(call: Call, a: Value, mode: Value = Const("reduced")) -> Value:
    """numpy.linalg.qr(a, mode): https://numpy.org/doc/stable/reference/generated/numpy.linalg.qr.html"""
    how = call.const(mode, str)
    if how not in ("reduced", "complete", "r"):
        linalg.matrix(call, call.shape(a))
        return call.unknown()
    q, r = linalg.qr(call, call.shape(a), how)
    kind = floating(element_kind(call, a))
    upper = array(call, r, kind)
    return upper if how == "r" else _named("QRResult", Q=array(call, q, kind), R=upper)


@op("numpy.linalg.solve")
def solve(call: Call, a: Value, b: Value) -> Value:
    """numpy.linalg.solve(a, b): https://numpy.org/doc/stable/reference/generated/numpy.linalg.solve.html

    A right-hand side of rank 1 is a vector; before NumPy 2 one of a rank lower than `a` was a stack of vectors.
    """
    right = call.shape(b)
    kind = floating(_kinds(call, a, b))
    matrix = linalg.square(call, call.shape(a)).shape
    if right.rank is None or (right.rank != 1 and matrix.rank == right.rank + 1):
        return call.unranked(kind)
    return array(call, linalg.solve(call, matrix, right, right.rank == 1), kind)


@op("numpy.linalg.lstsq")
def lstsq(call: Call, a: Value, b: Value, rcond: Value = NONE) -> Value:
    """numpy.linalg.lstsq(a, b): https://numpy.org/doc/stable/reference/generated/numpy.linalg.lstsq.html"""
    left, right = call.of_rank(call.shape(a), 2, what="a matrix"), call.of_rank(call.shape(b), 1, 2)
    rows, columns = left.head
    message = f"{call.text}: {left!r} has {{left}} rows, the right-hand side {right!r} has {{right}}"
    call.require_equal(rows, call.facts.axis(right, 0), "SHP101", message)
    kind = floating(_kinds(call, a, b))
    solution = call.unranked(kind) if right.dims is None else array(call, [columns, *right.dims[1:]], kind)
    singular = array(call, [linalg.smaller(call, rows, columns)], "float")
    return Tup((solution, array(call, [None], "float"), array(call, Shape.of(), "int"), singular))


@op("numpy.linalg.norm")
def norm(call: Call, x: Value, ord: Value = NONE, axis: Value = NONE, keepdims: Value = FALSE) -> Value:
    """numpy.linalg.norm(x): https://numpy.org/doc/stable/reference/generated/numpy.linalg.norm.html"""
    return array(call, reduced(call, call.shape(x), axis, keepdims), "float")


@op("numpy.linalg.vector_norm")
def vector_norm(call: Call, x: Value, *, axis: Value = NONE, keepdims: Value = FALSE, ord: Value = NONE) -> Value:
    """numpy.linalg.vector_norm(x): https://numpy.org/doc/stable/reference/generated/numpy.linalg.vector_norm.html"""
    return array(call, reduced(call, call.shape(x), axis, keepdims), "float")


@op("numpy.linalg.matrix_norm")
def matrix_norm(call: Call, x: Value, *, keepdims: Value = FALSE, ord: Value = NONE) -> Value:
    """numpy.linalg.matrix_norm(x): https://numpy.org/doc/stable/reference/generated/numpy.linalg.matrix_norm.html"""
    shape = linalg.matrix(call, call.shape(x)).shape
    return array(call, reduced(call, shape, Tup((MINUS_TWO, MINUS_ONE)), keepdims), "float")


@op("numpy.linalg.cond", "numpy.linalg.matrix_rank")
def cond(call: Call, x: Value, *rest: Value, **options: Value) -> Value:
    """numpy.linalg.cond(x): https://numpy.org/doc/stable/reference/generated/numpy.linalg.cond.html"""
    x = options.pop("A", x)
    shape, whole = call.shape(x), call.name.endswith("rank")
    if shape.dims is None:
        return call.unranked("int" if whole else None)
    if len(shape.dims) < 2 and whole:
        return array(call, Shape.of(), "int")
    return array(call, linalg.batch(call, linalg.matrix(call, shape).shape), "int" if whole else None)


@op("numpy.linalg.tensorinv", "numpy.linalg.tensorsolve")
def tensorinv(call: Call, a: Value, *rest: Value, **options: Value) -> Value:
    """numpy.linalg.tensorinv: https://numpy.org/doc/stable/reference/generated/numpy.linalg.tensorinv.html"""
    shape = call.shape(a)
    if call.name.endswith("tensorinv") and shape.dims is not None:
        number = call.const(rest[0] if rest else options.get("ind", TWO), int)
        if number is not UNKNOWN:
            return array(call, Shape(shape.dims[number:] + shape.dims[:number]))
    if call.name.endswith("tensorsolve") and shape.dims is not None and rest and len(rest) == 1 and not options:
        right = call.shape(rest[0])
        if right.dims is not None:
            return array(call, Shape(shape.dims[len(right.dims) :]))
    return call.unranked()


@op("numpy.linalg.diagonal")
def diagonal(call: Call, x: Value, *, offset: Value = ZERO) -> Value:
    """numpy.linalg.diagonal(x): https://numpy.org/doc/stable/reference/generated/numpy.linalg.diagonal.html"""
    shape, rows, columns = linalg.matrix(call, call.shape(x))
    size = linalg.smaller(call, rows, columns) if offset == ZERO else call.symbol("size")
    return array(call, linalg.ending(call, shape, size), element_kind(call, x))


@op("numpy.linalg.matrix_transpose", "numpy.matrix_transpose")
def matrix_transpose(call: Call, x: Value) -> Value:
    """numpy.matrix_transpose(x): https://numpy.org/doc/stable/reference/generated/numpy.matrix_transpose.html"""
    shape, rows, columns = linalg.matrix(call, call.shape(x))
    return array(call, linalg.ending(call, shape, columns, rows), element_kind(call, x))


@op("numpy.einsum_path")
def einsum_path(call: Call, *operands: Value, **options: Value) -> Value:
    """numpy.einsum_path: https://numpy.org/doc/stable/reference/generated/numpy.einsum_path.html"""
    return Tup((call.unknown("path"), call.unknown("report")))
