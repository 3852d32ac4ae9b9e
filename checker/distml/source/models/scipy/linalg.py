"""scipy.linalg: https://docs.scipy.org/doc/scipy/reference/linalg.html; what NumPy has is as there."""

import numpy as np
from _arrays import as_array, is_array, numbers
from _elsewhere import resolved
from numpy.linalg import cholesky, det, eigh, eigvals, eigvalsh, inv, norm, pinv, svd


def _square(matrix):
    """As many rows as columns."""
    matrix = as_array(matrix)
    if is_array(matrix):
        axes = matrix.ndim
        assert axes >= 2
        rows, columns = matrix.shape[-2], matrix.shape[-1]
        assert rows == columns
    return matrix


def _of_square(A, *args, **options):
    """Another matrix of the same size."""
    matrix = _square(A)
    plain = is_array(matrix) and not args and not options
    return numbers(*matrix.shape) if plain else resolved(matrix, args, options)


expm = logm = sqrtm = sinm = cosm = _of_square


def solve(a, b, *args, **options):
    """solve(a, b): a square matrix, and as many rows in b"""
    matrix, right = _square(a), as_array(b)
    if not is_array(matrix) or not is_array(right) or matrix.ndim != 2:
        return resolved(matrix, right)
    rows, rows_of_b = len(matrix), len(right)
    assert rows == rows_of_b
    return numbers(*right.shape)


solve_triangular = solve


def cho_factor(a, lower=False, *args, **options):
    """cho_factor(a): a factor for `cho_solve`"""
    return _of_square(a), lower


def cho_solve(c_and_lower, b, *args, **options):
    """cho_solve((c, lower), b): as many rows in b"""
    return solve(c_and_lower[0], b) if isinstance(c_and_lower, tuple) else resolved(c_and_lower, b)


def lu_factor(a, *args, **options):
    """lu_factor(a): a factor for `lu_solve`"""
    return resolved(a), resolved(a)


def block_diag(*arrs):
    """block_diag(*arrs): as many rows and columns as all together"""
    blocks = [np.atleast_2d(as_array(each)) for each in arrs]
    if any(not is_array(each) or each.ndim != 2 for each in blocks):
        return resolved(blocks)
    return numbers(sum(each.shape[0] for each in blocks), sum(each.shape[1] for each in blocks))


def toeplitz(c, r=None):
    """toeplitz(c, r=None): a row for each number of c, a column for each of r"""
    column, row = as_array(c), as_array(c if r is None else r)
    known = is_array(column) and is_array(row) and column.ndim == 1 and row.ndim == 1
    return numbers(len(column), len(row)) if known else resolved(column, row)
