"""torch.linalg: systems of equations, products of vectors, tensor inverses.

https://docs.pytorch.org/docs/stable/linalg.html#solvers
"""

from __future__ import annotations

from distml.ops.call import FALSE, MINUS_ONE, NONE, TRUE, Call
from distml.ops.registry import op
from distml.ops.rules import linalg as rules
from distml.ops.rules.axes import product, replace_axes
from distml.ops.rules.reduce import one_axis
from distml.ops.torch.view import like
from distml.shapes import Dim, Shape
from distml.solver.formula import equal
from distml.values import Const, Tup, Value


@op("torch.linalg.solve")
def solve(call: Call, A: Value, B: Value, *, left: Value = TRUE, out: Value = NONE) -> Value:
    """torch.linalg.solve(A, B): B is one vector for each matrix of A, or matrices"""
    return like(call, A, _solved(call, A, B, left))


@op("torch.linalg.solve_ex")
def solve_ex(call: Call, A: Value, B: Value, *, left: Value = TRUE, check_errors: Value = FALSE) -> Value:
    """torch.linalg.solve_ex(A, B): result, info"""
    shape = _solved(call, A, B, left)
    info = call.tensor(rules.batch(call, call.shape(A)), "int")
    return Tup((like(call, A, shape), info), fields=("result", "info"))


def _solved(call: Call, A: Value, B: Value, left: Value) -> Shape:
    matrix, right = rules.square(call, call.shape(A), "the matrix"), call.shape(B)
    vector = _is_vector(call, matrix.shape, right)
    if vector is None or call.flag(left) is None:
        return call.facts.unknown_shape()
    if vector or call.flag(left):
        return rules.solve(call, matrix.shape, right, vector)
    return solved_from_right(call, matrix, right)


def solved_from_right(call: Call, matrix: rules.Matrix, right: Shape) -> Shape:
    """`X A = B`: the columns of B meet those of A."""
    found = rules.matrix(call, right, "the right-hand side")
    call.require_equal(
        matrix.rows,
        found.columns,
        "SHP101",
        f"{call.text}: {call.show(matrix.shape)} has {{left}} rows, the right-hand side "
        f"{call.show(right)} has {{right}} columns",
    )
    ahead = rules.batches(call, rules.batch(call, matrix.shape), rules.batch(call, found.shape))
    return call.facts.framed((), ahead, (found.rows, found.columns))


def _is_vector(call: Call, left: Shape, right: Shape) -> bool | None:
    """torch's rule: B is a vector if it has one axis, or all of A's but the last."""
    if right.dims is None or left.dims is None:
        return True if right.rank == 1 else None
    if len(right.dims) == 1:
        return True
    if len(right.dims) != len(left.dims) - 1:
        return False
    equal = [a == b for a, b in zip(right.dims, left.dims[:-1], strict=True)]
    if all(equal):
        return True
    differ = any(a.differs(b) for a, b in zip(right.dims, left.dims[:-1], strict=True))
    return False if differ else None


@op("torch.linalg.solve_triangular")
def solve_triangular(
    call: Call,
    A: Value,
    B: Value,
    *,
    upper: Value = NONE,
    left: Value = TRUE,
    unitriangular: Value = FALSE,
    out: Value = NONE,
) -> Value:
    """torch.linalg.solve_triangular(A, B, *, upper, left=True)"""
    matrix, side = rules.square(call, call.shape(A), "the matrix"), call.flag(left)
    if side is None:
        return call.unranked(call.dtype(A))
    if side:
        return like(call, A, rules.solve(call, matrix.shape, call.shape(B), vector=False))
    return like(call, A, solved_from_right(call, matrix, call.shape(B)))


@op("torch.cholesky_solve", "torch.Tensor.cholesky_solve")
def cholesky_solve(call: Call, B: Value, L: Value, upper: Value = FALSE, *, out: Value = NONE) -> Value:
    """torch.cholesky_solve(B, L)"""
    return like(call, B, rules.solve(call, call.shape(L), call.shape(B), vector=False))


@op("torch.triangular_solve", "torch.Tensor.triangular_solve")
def triangular_solve(call: Call, b: Value, A: Value, *parameters: Value, **options: Value) -> Value:
    """torch.triangular_solve(b, A): solution, cloned coefficient"""
    shape = rules.solve(call, call.shape(A), call.shape(b), vector=False)
    ahead = rules.batch(call, shape)
    rows = rules.square(call, call.shape(A)).rows
    coefficient = call.facts.framed((), ahead, (rows, rows))
    fields = ("solution", "cloned_coefficient")
    return Tup((like(call, b, shape), like(call, b, coefficient)), fields=fields)


@op("torch.linalg.lu_solve")
def lu_solve(call: Call, LU: Value, pivots: Value, B: Value, *, left: Value = TRUE, **options: Value) -> Value:
    """torch.linalg.lu_solve(LU, pivots, B)"""
    matrix, side = rules.square(call, call.shape(LU), "the matrix"), call.flag(left)
    if side is None:
        return call.unranked(call.dtype(B))
    if side:
        return like(call, B, rules.solve(call, matrix.shape, call.shape(B), vector=False))
    return like(call, B, solved_from_right(call, matrix, call.shape(B)))


@op("torch.lu_solve", "torch.Tensor.lu_solve")
def lu_solve_of_old(call: Call, b: Value, LU_data: Value, LU_pivots: Value, *, out: Value = NONE) -> Value:
    """torch.lu_solve(b, LU_data, LU_pivots)"""
    return lu_solve(call, LU_data, LU_pivots, b)


@op("torch.linalg.ldl_solve")
def ldl_solve(call: Call, LD: Value, pivots: Value, B: Value, **options: Value) -> Value:
    """torch.linalg.ldl_solve(LD, pivots, B)"""
    return like(call, B, rules.solve(call, call.shape(LD), call.shape(B), vector=False))


@op("torch.linalg.lstsq")
def lstsq(call: Call, A: Value, B: Value, rcond: Value = NONE, *, driver: Value = NONE) -> Value:
    """torch.linalg.lstsq(A, B): solution, residuals, rank, singular values"""
    left, rows, columns = rules.matrix(call, call.shape(A), "the matrix")
    right = call.shape(B)
    fields = ("solution", "residuals", "rank", "singular_values")
    rest = tuple(call.unranked(kind) for kind in ("float", "int", "float"))
    vector = _is_vector(call, left, right)
    if vector is None:
        return Tup((call.unranked(call.dtype(A)), *rest), fields=fields)
    axis = -1 if vector else -2
    met = call.facts.axis(right, axis)
    call.require_equal(
        rows,
        met,
        "SHP101",
        f"{call.text}: {call.show(left)} has {{left}} rows, the right-hand side {call.show(right)} has {{right}}",
    )
    last = (columns,) if vector else (columns, call.facts.axis(right, -1) or call.symbol("columns"))
    ahead = rules.batches(call, rules.batch(call, left), replace_axes(call, right, axis, -axis, ()))
    return Tup((like(call, A, call.facts.framed((), ahead, last)), *rest), fields=fields)


@op("torch.linalg.cross", "torch.cross", "torch.Tensor.cross")
def cross(call: Call, input: Value, other: Value, dim: Value = NONE, *, out: Value = NONE) -> Value:
    """torch.linalg.cross(input, other, *, dim=-1): vectors of 3"""
    left, right = call.shape(input), call.shape(other)
    if left.dims is not None and right.dims is not None and len(left.dims) != len(right.dims):
        call.fail("SHP301", f"{call.text} needs as many axes in both, gets {left!r} and {right!r}")
    axis = dim if call.is_none(dim) is False else MINUS_ONE if "linalg" in call.name else None
    if isinstance(axis, Const):
        _require_three(call, left, axis)
        _require_three(call, right, axis)
    return like(call, input, call.broadcast(left, right))


def _require_three(call: Call, shape: Shape, axis: Value) -> None:
    at = call.axis(axis, shape.rank)
    size = None if at is None or not shape.dims else shape.dims[at]
    if size is None:
        return
    text = f"{call.text} needs vectors of 3 on axis {at}, gets {size} ({shape!r})"
    call.state(equal(size, 3), "SHP301", text)
    if size.differs(3):
        call.fail("SHP301", text, *call.notes(size))


@op("torch.linalg.vecdot")
def vecdot(call: Call, x: Value, y: Value, *, dim: Value = MINUS_ONE, out: Value = NONE) -> Value:
    """torch.linalg.vecdot(x, y, *, dim=-1)"""
    return like(call, x, one_axis(call, call.broadcast(call.shape(x), call.shape(y)), dim, False))


@op("torch.linalg.vander")
def vander(call: Call, x: Value, N: Value = NONE, increasing: Value = FALSE) -> Value:
    """torch.linalg.vander(x, N=None)"""
    shape = call.shape(x)
    last = call.facts.axis(shape, -1)
    if last is None:
        shape, last = Shape.of(1), Dim.of(1)
    absent = call.is_none(N)
    count = last if absent else call.dim(N) if absent is False else None
    return like(call, x, replace_axes(call, shape, -1, 1, (last, count or call.symbol("size"))))


@op("torch.linalg.tensorinv")
def tensorinv(call: Call, A: Value, ind: Value = Const(2), *, out: Value = NONE) -> Value:
    """torch.linalg.tensorinv(A, ind=2): the first `ind` axes and the others change places"""
    dims, at = call.shape(A).dims, call.const(ind, int)
    if dims is None or not isinstance(at, int):
        return call.unranked(call.dtype(A))
    first, rest = dims[: max(at, 0)], dims[max(at, 0) :]
    _require_square(call, product(call, first), product(call, rest), Shape(dims))
    return like(call, A, Shape(rest + first))


def _require_square(call: Call, left: Dim, right: Dim, shape: Shape) -> None:
    call.require_equal(
        left,
        right,
        "SHP105",
        f"{call.text} needs as many elements in front as behind, gets {{left}} and {{right}} ({shape!r})",
    )


@op("torch.linalg.tensorsolve")
def tensorsolve(call: Call, A: Value, B: Value, dims: Value = NONE, *, out: Value = NONE) -> Value:
    """torch.linalg.tensorsolve(A, B, dims=None)"""
    left, right = call.shape(A).dims, call.shape(B).dims
    if left is None or right is None:
        return call.unranked(call.dtype(A))
    absent = call.is_none(dims)
    moved = call.axes(dims, len(left)) if absent is False else ()
    if absent is None or moved is None:
        return call.unranked(call.dtype(A))
    left = tuple(d for i, d in enumerate(left) if i not in moved) + tuple(left[i] for i in moved)
    rest = left[len(right) :]
    _require_square(call, product(call, left[: len(right)]), product(call, rest), Shape(left))
    return like(call, A, Shape(rest))


@op("torch.lobpcg")
def lobpcg(call: Call, A: Value, k: Value = NONE, *parameters: Value, **options: Value) -> Value:
    """torch.lobpcg(A, k=None): eigenvalues, eigenvectors"""
    shape, rows, _ = rules.square(call, call.shape(A))
    count = (None if call.is_none(k) is not False else call.dim(k)) or call.symbol("k")
    return Tup((like(call, A, rules.ending(call, shape, count)), like(call, A, rules.ending(call, shape, rows, count))))
