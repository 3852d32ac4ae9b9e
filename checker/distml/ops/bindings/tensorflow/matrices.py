"""tensorflow: tf.linalg beyond products: inverses, solutions, diagonals, decompositions.

https://www.tensorflow.org/api_docs/python/tf/linalg
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.call import MINUS_ONE, TRUE, ZERO
from distml.ops.rules import diagonal as diagonals
from distml.ops.rules import linalg
from distml.ops.rules.axes import drop_axis, swap_axes
from distml.ops.rules.kinds import kind_of
from distml.ops.semantics.tensors import reduction, unary
from distml.values import Const, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

MINUS_TWO = Const(-2)


def inverse(call: Call, x: Value) -> Value:
    """A square matrix from a square matrix."""
    return call.tensor(linalg.square(call, call.shape(x)).shape, kind_of(x))


def number(call: Call, x: Value) -> Value:
    """One number for each square matrix."""
    return call.tensor(linalg.batch(call, linalg.square(call, call.shape(x)).shape), kind_of(x))


def traced(call: Call, x: Value) -> Value:
    """One number for each matrix."""
    return call.tensor(linalg.batch(call, linalg.matrix(call, call.shape(x)).shape), kind_of(x))


def solved(call: Call, matrix: Value, rhs: Value) -> Value:
    """The solutions for the columns of a stack of matrices."""
    left, right = call.shape(matrix), call.shape(rhs)
    if right.rank is not None and right.rank < 2:
        call.fail("SHP301", f"{call.text}: the right-hand side {right!r} needs at least 2 axes")
    return call.tensor(linalg.solve(call, left, right, vector=False), kind_of(rhs))


def flipped(call: Call, a: Value) -> Value:
    """The last two axes exchanged."""
    shape = linalg.matrix(call, call.shape(a)).shape
    return call.tensor(swap_axes(call, shape, MINUS_ONE, MINUS_TWO), kind_of(a))


def spread(call: Call, diagonal: Value) -> Value:
    """Matrices with these diagonals."""
    return call.tensor(diagonals.embedded(call, call.shape(diagonal), ZERO, MINUS_TWO, MINUS_ONE), kind_of(diagonal))


def read(call: Call, input: Value) -> Value:
    """The diagonals of matrices."""
    return call.tensor(diagonals.diagonal(call, call.shape(input), ZERO, MINUS_TWO, MINUS_ONE), kind_of(input))


def symmetric(call: Call, x: Value) -> Value:
    """The eigenvalues and eigenvectors of symmetric matrices."""
    return Tup((spectrum(call, x), inverse(call, x)))


def spectrum(call: Call, x: Value) -> Value:
    """The eigenvalues of square matrices."""
    shape = linalg.square(call, call.shape(x)).shape
    return call.tensor(drop_axis(call, shape, -1), kind_of(x))


def sign_and_log(call: Call, x: Value) -> Value:
    """The sign of a determinant and the logarithm of its size."""
    return Tup((number(call, x), number(call, x)))


def ranked(call: Call, x: Value) -> Value:
    """The rank of each matrix."""
    return call.tensor(linalg.batch(call, linalg.matrix(call, call.shape(x)).shape), "int")


def normalized(call: Call, x: Value, axis: Value) -> Value:
    """What is divided by its norm, and the norm."""
    return Tup((unary()(call, x), reduction()(call, x, axis, TRUE)))


_ROOT = "tensorflow.linalg."
bind(flipped, "matrix -name=None", f"{_ROOT}adjoint")
bind(inverse, "input -name=None", f"{_ROOT}sqrtm", f"{_ROOT}logm")
bind(symmetric, "tensor -name=None", f"{_ROOT}eigh")
bind(spectrum, "tensor -name=None", f"{_ROOT}eigvalsh")
bind(number, "matrix -name=None", f"{_ROOT}logdet")
bind(sign_and_log, "input -name=None", f"{_ROOT}slogdet")
bind(ranked, "a -tol=None -validate_args=False -name=None", f"{_ROOT}matrix_rank")
bind(normalized, "tensor -ord='euclidean' axis=None -name=None", f"{_ROOT}normalize")
bind(solved, "matrix rhs -lower=True -adjoint=False -name=None", f"{_ROOT}triangular_solve")
bind(inverse, "input -adjoint=False -name=None", f"{_ROOT}inv")
bind(inverse, "input -name=None", f"{_ROOT}cholesky", f"{_ROOT}expm")
bind(number, "input -name=None", f"{_ROOT}det")
bind(traced, "x -name=None", f"{_ROOT}trace")
bind(solved, "matrix rhs -adjoint=False -name=None", f"{_ROOT}solve")
bind(flipped, "a -name=None -conjugate=False", f"{_ROOT}matrix_transpose")
bind(spread, "diagonal", f"{_ROOT}diag")
bind(read, "input", f"{_ROOT}diag_part")
bind(unary(), "input -num_lower -num_upper -name=None", f"{_ROOT}band_part")
