"""scipy.sparse.linalg: https://docs.scipy.org/doc/scipy/reference/sparse.linalg.html; matrices by rows and columns."""

from _arrays import as_array, is_array, numbers
from _elsewhere import resolved
from scipy.sparse import issparse


def _square(A):
    """How many rows and columns it has."""
    shape = A.shape if issparse(A) or is_array(A) else resolved()
    if not isinstance(shape, tuple) or len(shape) != 2:
        return resolved()
    rows, columns = shape
    assert rows == columns
    return rows


def _solved(A, b):
    """As many numbers in b as A has rows: a vector, or what else b may be."""
    rows, right = _square(A), as_array(b)
    if not isinstance(rows, int) or not is_array(right):
        return resolved()
    rows_of_b = len(right)
    assert rows == rows_of_b
    return numbers(rows) if right.ndim == 1 else resolved(right)


def spsolve(A, b, permc_spec=None, use_umfpack=True):
    """spsolve(A, b): a square matrix, and as many rows in b"""
    return _solved(A, b)


def cg(A, b, *args, **options):
    """cg(A, b): a square matrix, and as many rows in b"""
    return _solved(A, b), int(resolved())


bicg = bicgstab = cgs = gmres = lgmres = minres = qmr = cg


def lsqr(A, b, *args, **options):
    """lsqr(A, b): a number for each column"""
    right = as_array(b)
    shape = A.shape if issparse(A) or is_array(A) else resolved()
    if not isinstance(shape, tuple) or not is_array(right):
        return resolved()
    rows, rows_of_b = shape[0], len(right)
    assert rows == rows_of_b
    return (numbers(shape[1]), *(resolved() for _ in range(9)))


class _Factors:
    """Factors of a square matrix."""

    def __init__(self, A):
        self.shape = A.shape if issparse(A) else resolved()
        self._matrix = A

    def __getattr__(self, name):
        return resolved(name)

    def solve(self, rhs, trans="N"):
        """As many rows as the matrix has."""
        solved = _solved(self._matrix, rhs)
        right = as_array(rhs)
        return numbers(*right.shape) if is_array(right) else solved


def splu(A, *args, **options):
    """splu(A): a square matrix"""
    _square(A)
    return _Factors(A)


spilu = splu


def factorized(A):
    """factorized(A): a function that solves for one b after another"""
    return splu(A).solve


def _some(A, k, return_eigenvectors):
    """So many numbers, and a vector for each."""
    rows = _square(A)
    if not isinstance(k, int) or not isinstance(return_eigenvectors, bool):
        return resolved()
    values = numbers(k)
    if not return_eigenvectors:
        return values
    return values, numbers(rows, k) if isinstance(rows, int) else resolved()


def eigsh(A, k=6, *args, return_eigenvectors=True, **options):
    """eigsh(A, k=6): k numbers, and a vector for each"""
    return resolved() if args else _some(A, k, return_eigenvectors)


def eigs(A, k=6, *args, **options):
    """eigs(A, k=6): as `eigsh`; how many it gives may differ by one"""
    _square(A)
    return resolved()


def svds(A, k=6, *args, return_singular_vectors=True, **options):
    """svds(A, k=6): k columns, k numbers, k rows"""
    shape = A.shape if issparse(A) or is_array(A) else resolved()
    if args or not isinstance(k, int) or not isinstance(shape, tuple) or return_singular_vectors is not True:
        return resolved()
    return numbers(shape[0], k), numbers(k), numbers(k, shape[1])


def expm(A):
    """expm(A): another matrix of the same size"""
    _square(A)
    return A.copy() if issparse(A) else numbers(*A.shape) if is_array(A) else resolved()


def inv(A):
    """inv(A): another matrix of the same size"""
    return expm(A)
