"""jax: jax.scipy.linalg and jax.scipy.special: NumPy's laws under SciPy's parameters, and what is solved with a decomposition.

https://docs.jax.dev/en/latest/jax.scipy.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.jax.nn import along
from distml.ops.bindings.signature import bind, borrow
from distml.ops.registry import op
from distml.ops.rules import linalg
from distml.ops.rules.axes import drop_axis
from distml.ops.rules.kinds import kind_of, promote
from distml.ops.semantics import tensors as rules
from distml.values import Prim, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_ROOT = "jax.scipy.linalg."
_BORROWED = """
inv: a -overwrite_a=False -check_finite=True
det: a -overwrite_a=False -check_finite=True
cholesky: a -lower=False -overwrite_a=False -check_finite=True
svd: a full_matrices=True compute_uv=True -overwrite_a=False -check_finite=True -lapack_driver='gesdd'
"""

for _line in _BORROWED.strip().splitlines():
    _name, _, _signature = _line.partition(": ")
    borrow(f"{_ROOT}{_name}", f"numpy.linalg.{_name}", _signature)


def solved(call: Call, a: Value, b: Value) -> Value:
    """solve(a, b): b is a vector, or has a column for each solution (SHP101)."""
    left, right = call.shape(a), call.facts.shape(call.shape(b))
    if right.rank is None:
        return call.unranked(kind_of(b))
    shape = linalg.solve(call, left, right, vector=right.rank == 1)
    return call.tensor(shape, promote((kind_of(a), kind_of(b))))


def solved_with(call: Call, factors: Value, b: Value) -> Value:
    """cho_solve((c, lower), b) and lu_solve((lu, pivots), b)"""
    items = call.items(factors)
    return solved(call, items[0], b) if items is not None and len(items) == 2 else call.unranked(kind_of(b))


def root(call: Call, a: Value) -> Value:
    """cho_factor(a): a triangular matrix, and which of its halves counts."""
    return Tup((matrix(call, a), Prim("bool")))


def matrix(call: Call, a: Value) -> Value:
    """A square matrix of a square matrix."""
    return call.tensor(linalg.square(call, call.shape(a)).shape, kind_of(a))


def factors(call: Call, a: Value) -> Value:
    """lu_factor(a): both triangular matrices in one, and the pivots."""
    found = linalg.matrix(call, call.shape(a))
    least = linalg.smaller(call, found.rows, found.columns)
    return Tup((call.tensor(found.shape, kind_of(a)), call.tensor(linalg.ending(call, found.shape, least), "int")))


def triangles(call: Call, a: Value, permuted: Value) -> Value:
    """lu(a): the order of the rows and both triangular matrices, or the product of the first two."""
    together = call.flag(permuted)
    found = linalg.matrix(call, call.of_rank(call.shape(a), 2, what="a matrix"))
    shape, rows, columns = found
    least = linalg.smaller(call, rows, columns)
    sizes = ((rows, least),) if together else ((rows, rows), (rows, least))
    made = [call.tensor(linalg.ending(call, shape, *pair), kind_of(a)) for pair in (*sizes, (least, columns))]
    return call.unknown() if together is None else Tup(tuple(made))


def orthogonal(call: Call, a: Value, mode: Value) -> Value:
    """qr(a): an orthogonal and a triangular matrix; whole ones unless the mode is "economic"."""
    known = {"full": "complete", "economic": "reduced", "r": "r"}.get(str(call.const(mode, str)))
    if known in (None, "r"):
        return call.unknown()
    return Tup(tuple(call.tensor(shape, kind_of(a)) for shape in linalg.qr(call, call.shape(a), known)))


def symmetric(call: Call, a: Value, alone: Value) -> Value:
    """eigh(a): the eigenvalues, and the vectors unless they are not asked for. A single row is repeated, as JAX does."""
    shape, rows, columns = linalg.matrix(call, call.shape(a))
    if rows != columns and (rows.constant in (None, 1) or columns.constant in (None, 1)):
        return call.unknown()
    shape = linalg.square(call, shape).shape
    values = call.tensor(drop_axis(call, shape, -1), "float")
    only = call.flag(alone)
    return call.unknown() if only is None else values if only else Tup((values, call.tensor(shape, kind_of(a))))


def banded(call: Call, c: Value, r: Value) -> Value:
    """toeplitz(c, r): a row for each number of c, a column for each of r."""
    down = call.of_rank(call.shape(c), 1, what="a vector")
    across = down if call.is_none(r) else call.of_rank(call.shape(r), 1, what="a vector")
    if call.is_none(r) is None:
        return call.tensor([None, None])
    return call.tensor([call.facts.axis(down, 0), call.facts.axis(across, 0)], kind_of(c))


@op(f"{_ROOT}block_diag")
def blocks(call: Call, *arrays: Value) -> Value:
    """block_diag(a, b): the rows and the columns add up."""
    shapes = [call.shape(array).dims for array in arrays]
    pairs = [dims for dims in shapes if dims is not None and len(dims) == 2]
    if not pairs or len(pairs) < len(shapes):
        return call.tensor([None, None])
    rows, columns = pairs[0]
    for more in pairs[1:]:
        rows, columns = rows + more[0], columns + more[1]
    return call.tensor([rows, columns], kind_of(arrays[0]))


_SAFE = "-overwrite_a=False -overwrite_b=False"
bind(solved, f"a b -lower=False {_SAFE} -debug=False -check_finite=True -assume_a='gen'", f"{_ROOT}solve")
bind(
    solved,
    "a b -trans=0 -lower=False -unit_diagonal=False -overwrite_b=False -debug=None -check_finite=True",
    f"{_ROOT}solve_triangular",
)
bind(solved_with, "c_and_lower b -overwrite_b=False -check_finite=True", f"{_ROOT}cho_solve")
bind(solved_with, "lu_and_piv b -trans=0 -overwrite_b=False -check_finite=True", f"{_ROOT}lu_solve")
bind(root, "a -lower=False -overwrite_a=False -check_finite=True", f"{_ROOT}cho_factor")
bind(factors, "a -overwrite_a=False -check_finite=True", f"{_ROOT}lu_factor")
bind(triangles, "a permute_l=False -overwrite_a=False -check_finite=True", f"{_ROOT}lu")
bind(orthogonal, "a -overwrite_a=False -lwork=None mode='full' -pivoting=False -check_finite=True", f"{_ROOT}qr")
bind(
    symmetric,
    "a -b=None -lower=True eigvals_only=False -overwrite_a=False -overwrite_b=False -turbo=True -eigvals=None"
    " -type=1 -check_finite=True",
    f"{_ROOT}eigh",
)
bind(matrix, "A -upper_triangular=False -max_squarings=16", f"{_ROOT}expm")
bind(matrix, "A -blocksize=1", f"{_ROOT}sqrtm")
bind(banded, "c r=None", f"{_ROOT}toeplitz")
bind(along, "x axis=None", "jax.scipy.special.softmax", "jax.scipy.special.log_softmax")
bind(rules.unary(), "x", *(f"jax.scipy.special.{name}" for name in "erfcx exp1 expi spence".split()))
