"""torch.linalg: decompositions, inverses and solvers of stacks of matrices.

https://docs.pytorch.org/docs/stable/linalg.html
"""

from __future__ import annotations

from distml.ops.call import FALSE, NONE, TRUE, UNKNOWN, Call
from distml.ops.registry import op
from distml.ops.rules import linalg as rules
from distml.ops.torch.view import like
from distml.shapes import Dim, Shape
from distml.values import Tensor, Tup, Value


def results(call: Call, source: Value, *shapes: Shape, fields: str = "") -> Value:
    """A named tuple of tensors of one element kind."""
    return Tup(tuple(like(call, source, s) for s in shapes), fields=tuple(fields.split()))


@op(
    *("torch.linalg.inv", "torch.inverse", "torch.Tensor.inverse", "torch.linalg.matrix_exp", "torch.matrix_exp"),
    *("torch.Tensor.matrix_exp", "torch.linalg.cholesky", "torch.cholesky", "torch.Tensor.cholesky"),
    *("torch.linalg.matrix_power", "torch.matrix_power", "torch.Tensor.matrix_power", "torch.linalg.matrix_sqrth"),
    *("torch.cholesky_inverse", "torch.Tensor.cholesky_inverse"),
)
def same_shape(call: Call, A: Value, *parameters: Value, **options: Value) -> Value:
    """torch.linalg.inv(A), cholesky(A), matrix_power(A, n), matrix_exp(A): square in, square out"""
    return like(call, A, rules.square(call, call.shape(A)).shape)


@op("torch.linalg.inv_ex", "torch.linalg.cholesky_ex", "torch.linalg.ldl_factor", "torch.linalg.ldl_factor_ex")
def with_status(call: Call, A: Value, **options: Value) -> Value:
    """torch.linalg.inv_ex(A), cholesky_ex(A), ldl_factor(A)"""
    shape, rows, _ = rules.square(call, call.shape(A))
    ahead = call.tensor(rules.batch(call, shape), "int")
    if "ldl" not in call.name:
        fields = ("inverse", "info") if "inv" in call.name else ("L", "info")
        return Tup((like(call, A, shape), ahead), fields=fields)
    pivots = call.tensor(rules.ending(call, shape, rows), "int")
    rest = (ahead,) if call.name.endswith("_ex") else ()
    return Tup((like(call, A, shape), pivots, *rest), fields=("LD", "pivots", "info")[: 2 + len(rest)])


@op("torch.linalg.det", "torch.det", "torch.Tensor.det", "torch.logdet", "torch.Tensor.logdet")
def det(call: Call, A: Value, *, out: Value = NONE) -> Value:
    """torch.linalg.det(A)"""
    return like(call, A, rules.batch(call, rules.square(call, call.shape(A)).shape))


@op("torch.linalg.slogdet", "torch.slogdet", "torch.Tensor.slogdet")
def slogdet(call: Call, A: Value, *, out: Value = NONE) -> Value:
    """torch.linalg.slogdet(A)"""
    shape = rules.batch(call, rules.square(call, call.shape(A)).shape)
    return Tup((like(call, A, shape), call.tensor(shape, _real(call, A))), fields=("sign", "logabsdet"))


def _real(call: Call, value: Value) -> str | None:
    return None if call.dtype(value) is None else "float"


@op("torch.linalg.cond")
def cond(call: Call, A: Value, p: Value = NONE, *, out: Value = NONE) -> Value:
    """torch.linalg.cond(A, p=None)"""
    return call.tensor(rules.batch(call, rules.matrix(call, call.shape(A)).shape), _real(call, A))


@op("torch.linalg.matrix_rank")
def matrix_rank(call: Call, A: Value, tol: Value = NONE, hermitian: Value = FALSE, **options: Value) -> Value:
    """torch.linalg.matrix_rank(A)"""
    shape = call.shape(A)
    found = rules.square(call, shape) if call.flag(hermitian) else rules.matrix(call, shape)
    tolerances = [_tolerance(call, options.get(name, NONE)) for name in ("atol", "rtol")]
    if any(shape.rank != 0 for shape in [*tolerances, _tolerance(call, tol)]):
        return call.unranked("int")
    return call.tensor(rules.batch(call, found.shape), "int")


def _tolerance(call: Call, value: Value) -> Shape:
    """The shape of a tolerance; a tensor broadcasts against the batch."""
    return call.shape(value) if isinstance(value, Tensor) else Shape.of()


@op("torch.linalg.pinv", "torch.pinverse", "torch.Tensor.pinverse")
def pinv(call: Call, A: Value, rcond: Value = NONE, hermitian: Value = FALSE, **options: Value) -> Value:
    """torch.linalg.pinv(A): rows and columns exchanged; tolerances that are tensors broadcast with the batch"""
    shape = call.shape(A)
    if any(call.shape(given).rank != 0 for given in (rcond, *options.values()) if isinstance(given, Tensor)):
        return call.unranked(call.dtype(A))
    found = rules.square(call, shape) if call.flag(hermitian) else rules.matrix(call, shape)
    return like(call, A, rules.ending(call, found.shape, found.columns, found.rows))


@op("torch.linalg.eig", "torch.linalg.eigh")
def eig(call: Call, A: Value, UPLO: Value = NONE, *, out: Value = NONE) -> Value:
    """torch.linalg.eig(A), torch.linalg.eigh(A)"""
    shape, rows, _ = rules.square(call, call.shape(A))
    values = rules.ending(call, shape, rows)
    fields = ("eigenvalues", "eigenvectors")
    if call.name.endswith("eig"):
        return Tup((call.tensor(values, "complex"), call.tensor(shape, "complex")), fields=fields)
    return Tup((call.tensor(values, _real(call, A)), like(call, A, shape)), fields=fields)


@op("torch.linalg.eigvals", "torch.linalg.eigvalsh")
def eigvals(call: Call, A: Value, UPLO: Value = NONE, *, out: Value = NONE) -> Value:
    """torch.linalg.eigvals(A), torch.linalg.eigvalsh(A)"""
    shape, rows, _ = rules.square(call, call.shape(A))
    kind = "complex" if call.name.endswith("eigvals") else _real(call, A)
    return call.tensor(rules.ending(call, shape, rows), kind)


@op("torch.linalg.svd")
def svd(call: Call, A: Value, full_matrices: Value = TRUE, *, driver: Value = NONE, out: Value = NONE) -> Value:
    """torch.linalg.svd(A, full_matrices=True): U, S, Vh"""
    u, s, vh = rules.svd(call, call.shape(A), call.flag(full_matrices))
    return Tup((like(call, A, u), call.tensor(s, _real(call, A)), like(call, A, vh)), fields=("U", "S", "Vh"))


@op("torch.svd", "torch.Tensor.svd")
def svd_of_old(call: Call, input: Value, some: Value = TRUE, compute_uv: Value = TRUE, *, out: Value = NONE) -> Value:
    """torch.svd(input, some=True, compute_uv=True): U, S, V with V not transposed"""
    shape = call.shape(input)
    reduced = call.flag(some)
    full = True if call.flag(compute_uv) is False else None if reduced is None else not reduced
    if call.flag(compute_uv) is None:
        full = None
    u, s, vh = rules.svd(call, shape, full)
    found = rules.matrix(call, vh)
    v = rules.ending(call, vh, found.columns, found.rows)
    return Tup((like(call, input, u), call.tensor(s, _real(call, input)), like(call, input, v)), fields=("U", "S", "V"))


@op("torch.linalg.svdvals")
def svdvals(call: Call, A: Value, *, driver: Value = NONE, out: Value = NONE) -> Value:
    """torch.linalg.svdvals(A)"""
    return call.tensor(rules.svd(call, call.shape(A), False)[1], _real(call, A))


@op("torch.linalg.qr")
def qr(call: Call, A: Value, mode: Value | None = None, *, out: Value = NONE) -> Value:
    """torch.linalg.qr(A, mode="reduced")"""
    name = "reduced" if mode is None else call.const(mode, str)
    q, r = rules.qr(call, call.shape(A), None if name is UNKNOWN else name)
    first = call.tensor([0], call.dtype(A)) if name == "r" else like(call, A, q)
    return Tup((first, like(call, A, r)), fields=("Q", "R"))


@op("torch.qr", "torch.Tensor.qr")
def qr_of_old(call: Call, input: Value, some: Value = TRUE, *, out: Value = NONE) -> Value:
    """torch.qr(input, some=True)"""
    reduced = call.flag(some)
    mode = None if reduced is None else "reduced" if reduced else "complete"
    return results(call, input, *rules.qr(call, call.shape(input), mode), fields="Q R")


@op("torch.geqrf", "torch.Tensor.geqrf")
def geqrf(call: Call, input: Value, *, out: Value = NONE) -> Value:
    """torch.geqrf(input)"""
    shape, rows, columns = rules.matrix(call, call.shape(input))
    tau = rules.ending(call, shape, rules.smaller(call, rows, columns))
    return results(call, input, shape, tau, fields="a tau")


@op("torch.linalg.householder_product", "torch.orgqr", "torch.Tensor.orgqr")
def householder_product(call: Call, A: Value, tau: Value, *, out: Value = NONE) -> Value:
    """torch.linalg.householder_product(A, tau)"""
    return like(call, A, rules.matrix(call, call.shape(A)).shape)


@op("torch.ormqr", "torch.Tensor.ormqr")
def ormqr(call: Call, input: Value, tau: Value, other: Value, *parameters: Value, **options: Value) -> Value:
    """torch.ormqr(input, tau, other, left=True, transpose=False)"""
    return like(call, other, rules.matrix(call, call.shape(other)).shape)


@op("torch.linalg.lu")
def lu(call: Call, A: Value, *, pivot: Value = TRUE, out: Value = NONE) -> Value:
    """torch.linalg.lu(A): P, L, U"""
    shape, rows, columns = rules.matrix(call, call.shape(A))
    least = rules.smaller(call, rows, columns)
    kept = call.flag(pivot)
    first = call.facts.unknown_shape() if kept is None else rules.ending(call, shape, rows, rows)
    p = like(call, A, first) if kept is not False else call.tensor([0], call.dtype(A))
    lower, upper = rules.ending(call, shape, rows, least), rules.ending(call, shape, least, columns)
    return Tup((p, like(call, A, lower), like(call, A, upper)), fields=("P", "L", "U"))


@op("torch.linalg.lu_factor", "torch.linalg.lu_factor_ex", "torch.lu", "torch.Tensor.lu")
def lu_factor(call: Call, A: Value, pivot: Value = TRUE, get_infos: Value = FALSE, **options: Value) -> Value:
    """torch.linalg.lu_factor(A), torch.lu(A)"""
    shape, rows, columns = rules.matrix(call, call.shape(A))
    pivots = call.tensor(rules.ending(call, shape, rules.smaller(call, rows, columns)), "int")
    parts: tuple[Value, ...] = (like(call, A, shape), pivots)
    if call.name.endswith("_ex") or call.flag(get_infos):
        parts += (call.tensor(rules.batch(call, shape), "int"),)
    elif call.flag(get_infos) is None:
        return call.unknown()
    return Tup(parts, fields=("LU", "pivots", "info")[: len(parts)] if "linalg" in call.name else ())


@op("torch.lu_unpack", "torch.functional.lu_unpack")
def lu_unpack(
    call: Call,
    LU_data: Value,
    LU_pivots: Value,
    unpack_data: Value = TRUE,
    unpack_pivots: Value = TRUE,
    *,
    out: Value = NONE,
) -> Value:
    """torch.lu_unpack(LU_data, LU_pivots): P, L, U"""
    shape, rows, columns = rules.matrix(call, call.shape(LU_data))
    least = rules.smaller(call, rows, columns)
    wanted = (unpack_pivots, unpack_data, unpack_data)
    sizes = ((rows, rows), (rows, least), (least, columns))
    parts = []
    for flag, ends in zip(wanted, sizes, strict=True):
        made = call.flag(flag)
        part = rules.ending(call, shape, *ends) if made else Shape.of(0)
        parts.append(like(call, LU_data, call.facts.unknown_shape() if made is None else part))
    return Tup(tuple(parts), fields=("P", "L", "U"))


@op("torch.svd_lowrank", "torch.pca_lowrank")
def svd_lowrank(call: Call, A: Value, q: Value = NONE, *parameters: Value, **options: Value) -> Value:
    """torch.svd_lowrank(A, q=6), torch.pca_lowrank(A, q=None): U, S, V"""
    shape, rows, columns = rules.matrix(call, call.shape(A))
    least = rules.smaller(call, rows, columns)
    kept = call.dim(q) if call.is_none(q) is False else rules.smaller(call, least, Dim.of(6))
    if kept is None or call.is_none(q) is None:
        kept = call.symbol("rank")
    u, s = rules.ending(call, shape, rows, kept), rules.ending(call, shape, kept)
    return results(call, A, u, s, rules.ending(call, shape, columns, kept))
