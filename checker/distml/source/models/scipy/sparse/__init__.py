"""scipy.sparse: https://docs.scipy.org/doc/scipy/reference/sparse.html; numbers of rows and columns, whatever is stored."""

import numpy as np
from _arrays import as_array, is_array, numbers
from _elsewhere import resolved


def _is_sparse(values):
    """Whether it is a matrix of this module; an array is asked for first, for it is none for certain."""
    return not is_array(values) and isinstance(values, _Sparse)


def _is_number(values):
    return isinstance(values, (int, float, complex)) or (is_array(values) and values.ndim == 0)


def _dense(values):
    """An array as large as a matrix, sparse or not; unknown where its size is."""
    if not _is_sparse(values):
        return as_array(values)
    return numbers(*values.shape) if isinstance(values.shape, tuple) else resolved()


class _Dense:
    """Sums of a matrix: one more matrix, of which an array may be made."""

    def __init__(self, cells):
        self.A = cells
        self.A1 = cells.ravel()
        self.shape = cells.shape

    def __array__(self, dtype=None, copy=None):
        return self.A

    def __getattr__(self, name):
        return resolved(name)

    def _answer(self, *args):
        return resolved()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _answer
    __matmul__ = __rmatmul__ = __getitem__ = __setitem__ = __len__ = __neg__ = __abs__ = _answer
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _answer


class _Sparse:
    """What all forms have in common."""

    _gives = _turns_into = "any"

    def __init__(self, arg1=None, shape=None, dtype=None, copy=False, **options):
        if shape is not None:
            self.shape = shape
        elif _is_sparse(arg1) or (is_array(arg1) and arg1.ndim == 2):
            self.shape = arg1.shape
        elif isinstance(arg1, tuple) and len(arg1) == 2 and isinstance(arg1[0], int) and isinstance(arg1[1], int):
            self.shape = arg1
        else:
            self.shape = resolved()
        self.data = numbers(resolved())
        self.row = self.col = self.indices = self.indptr = np.empty((resolved(),), dtype=int)

    def __getattr__(self, name):
        return resolved(name)

    def __setitem__(self, key, value):
        """What is stored changes, its size does not."""

    def __iter__(self):
        return iter(resolved())

    def _answer(self, *args, **options):
        return resolved()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __pow__ = __rtruediv__ = __rpow__ = _answer
    reshape = todense = count_nonzero = getnnz = max = min = argmax = argmin = _answer

    def resize(self, *shape):
        """It has another size from now on."""
        self.shape = resolved(shape)

    def _like(self, cells):
        """Another matrix, as large as an array: of the same form if that is one of the usual two."""
        shape = cells.shape if is_array(cells) else resolved()
        return self._forms[self._gives](shape=shape)

    def _same(self, *args, **options):
        """Other numbers in a matrix of this size."""
        return self._like(_dense(self))

    copy = astype = power = conj = conjugate = __neg__ = __abs__ = __truediv__ = _same
    sqrt = expm1 = log1p = sign = floor = ceil = _same

    def _form(self, name):
        return self._forms[name](shape=self.shape)

    def tocsr(self, copy=False):
        return self._form("csr")

    def tocsc(self, copy=False):
        return self._form("csc")

    def tocoo(self, copy=False):
        return self._form("coo")

    def tolil(self, copy=False):
        return self._form("lil")

    def todok(self, copy=False):
        return self._form("dok")

    def todia(self, copy=False):
        return self._form("dia")

    def tobsr(self, blocksize=None, copy=False):
        return self._form("bsr")

    def asformat(self, format, copy=False):
        return self._form(format) if isinstance(format, str) else resolved()

    def toarray(self, order=None, out=None):
        return _dense(self)

    @property
    def A(self):
        return _dense(self)

    def transpose(self, axes=None, copy=False):
        """Columns for rows."""
        cells = _dense(self)
        turned = cells.T.shape if is_array(cells) else resolved()
        return self._forms[self._turns_into](shape=turned)

    @property
    def T(self):
        return self.transpose()

    def __matmul__(self, other):
        left, right = _dense(self), _dense(other)
        if not is_array(left) or not is_array(right):
            return self._like(resolved()) if _is_sparse(other) else resolved()
        made = left @ right
        return self._like(made) if _is_sparse(other) else made

    dot = __matmul__

    def __rmatmul__(self, other):
        left, right = as_array(other), _dense(self)
        return left @ right if is_array(left) and is_array(right) else resolved()

    def __add__(self, other):
        if not _is_sparse(other):
            return resolved()
        left, right = _dense(self), _dense(other)
        return self._like(left + right if is_array(left) and is_array(right) else resolved())

    __radd__ = __sub__ = __rsub__ = maximum = minimum = __add__

    def multiply(self, other):
        """Number by number."""
        if _is_number(other):
            return self._same()
        left, right = _dense(self), _dense(other)
        known = is_array(left) and is_array(right)
        return self._like(left * right) if known else resolved()

    def mean(self, axis=None, dtype=None, out=None):
        return self.sum(axis)

    def diagonal(self, k=0):
        cells = _dense(self)
        return cells.diagonal(k) if is_array(cells) else resolved()

    def __getitem__(self, key):
        cells = _dense(self)
        if not is_array(cells):
            return resolved()
        picked = cells[key]
        return self._like(picked) if is_array(picked) and picked.ndim == 2 else resolved()


class _Form:
    """A form of storing. What an operation gives may have any, so whether it has this one stays open."""

    @classmethod
    def __subclasshook__(cls, subclass):
        return resolved(cls, subclass)


class _Rows(_Form):
    """Row by row."""

    _gives, _turns_into = "csr", "csc"


class _Columns(_Form):
    """Column by column."""

    _gives, _turns_into = "csc", "csr"


class spmatrix(_Sparse):
    """A matrix: its products are those of matrices, its sums are matrices too."""

    def __mul__(self, other):
        if _is_number(other):
            return self._same()
        other_is_known = _is_sparse(other) or is_array(as_array(other))
        return self @ other if other_is_known else resolved()

    def __rmul__(self, other):
        return self._same() if _is_number(other) else resolved()

    def sum(self, axis=None, dtype=None, out=None):
        cells = _dense(self)
        if axis is None or not is_array(cells):
            return resolved()
        return _Dense(np.sum(cells, axis=axis, keepdims=True))


class sparray(_Sparse):
    """An array: its products are number by number, its sums are arrays."""

    def __mul__(self, other):
        return self.multiply(other)

    __rmul__ = __mul__

    def sum(self, axis=None, dtype=None, out=None):
        cells = _dense(self)
        return resolved() if axis is None or not is_array(cells) else np.sum(cells, axis=axis)


class csr_matrix(_Rows, spmatrix): ...


class csc_matrix(_Columns, spmatrix): ...


class coo_matrix(_Form, spmatrix): ...


class lil_matrix(_Form, spmatrix): ...


class dok_matrix(_Form, spmatrix): ...


class dia_matrix(_Form, spmatrix): ...


class bsr_matrix(_Form, spmatrix): ...


class csr_array(_Rows, sparray): ...


class csc_array(_Columns, sparray): ...


class coo_array(_Form, sparray): ...


class lil_array(_Form, sparray): ...


class dok_array(_Form, sparray): ...


class dia_array(_Form, sparray): ...


class bsr_array(_Form, sparray): ...


class _Matrix(spmatrix):
    """A matrix of any form."""


class _Array(sparray):
    """An array of any form."""


_MATRICES = {
    "any": _Matrix,
    "csr": csr_matrix,
    "csc": csc_matrix,
    "coo": coo_matrix,
    "lil": lil_matrix,
    "dok": dok_matrix,
    "dia": dia_matrix,
    "bsr": bsr_matrix,
}
_ARRAYS = {
    "any": _Array,
    "csr": csr_array,
    "csc": csc_array,
    "coo": coo_array,
    "lil": lil_array,
    "dok": dok_array,
    "dia": dia_array,
    "bsr": bsr_array,
}
spmatrix._forms = _MATRICES
sparray._forms = _ARRAYS


def _made(forms, format, usual, shape):
    """A matrix in the form that is asked for."""
    name = usual if format is None else format
    return forms[name](shape=shape) if isinstance(name, str) else resolved(format)


def issparse(x):
    return _is_sparse(x)


def isspmatrix(x):
    return not is_array(x) and isinstance(x, spmatrix)


def eye(m, n=None, k=0, dtype=float, format=None):
    """eye(m, n): m rows, as many columns if nothing else is said"""
    return _made(_MATRICES, format, "dia", (m, m if n is None else n))


def identity(n, dtype="d", format=None):
    return _made(_MATRICES, format, "dia", (n, n))


def eye_array(m, n=None, k=0, dtype=float, format=None):
    return _made(_ARRAYS, format, "dia", (m, m if n is None else n))


def random(m, n, density=0.01, format="coo", *args, **options):
    return _made(_MATRICES, format, "coo", (m, n))


rand = random


def random_array(shape, density=0.01, format="coo", *args, **options):
    return _made(_ARRAYS, format, "coo", shape)


def _on_diagonals(diagonals, offsets, shape):
    """A square in which the first diagonal, so far from the main one, has a place for each of its numbers."""
    if shape is not None:
        return shape
    plain = is_array(diagonals) and diagonals.ndim == 1
    first = diagonals if plain else as_array(diagonals[0]) if isinstance(diagonals, (list, tuple)) else resolved()
    offset = offsets[0] if isinstance(offsets, (list, tuple)) else offsets
    if not is_array(first) or first.ndim != 1 or not isinstance(offset, int) or len(first) == 1:
        return resolved()
    size = len(first) + abs(offset)
    return (size, size)


def diags(diagonals, offsets=0, shape=None, format=None, dtype=None):
    """diags(diagonals): as many rows and columns as numbers on the main diagonal"""
    return _made(_MATRICES, format, "dia", _on_diagonals(diagonals, offsets, shape))


def diags_array(diagonals, offsets=0, shape=None, format=None, dtype=None):
    return _made(_ARRAYS, format, "dia", _on_diagonals(diagonals, offsets, shape))


def _stacked(blocks, join, format):
    if not isinstance(blocks, (list, tuple)) or not all(_is_sparse(each) for each in blocks):
        return resolved()
    cells = [_dense(each) for each in blocks]
    known = all(is_array(each) for each in cells)
    shape = join(cells).shape if cells and known else resolved()
    arrays = any(isinstance(each, sparray) for each in blocks)
    return _made(_ARRAYS if arrays else _MATRICES, format, "any", shape)


def vstack(blocks, format=None, dtype=None):
    """vstack(blocks): as many columns in all"""
    return _stacked(blocks, np.vstack, format)


def hstack(blocks, format=None, dtype=None):
    """hstack(blocks): as many rows in all"""
    return _stacked(blocks, np.hstack, format)


def _shape_of(matrix):
    """Rows and columns of a matrix, sparse or not; unknown where it is neither."""
    cells = _dense(matrix)
    return cells.shape if is_array(cells) and cells.ndim == 2 else resolved()


def _combined(blocks, shape, format):
    """One matrix of several, an array where one of them is."""
    arrays = any(isinstance(each, sparray) for each in blocks)
    return _made(_ARRAYS if arrays else _MATRICES, format, "any", shape)


def kron(A, B, format=None):
    """kron(A, B): a block as large as B for each cell of A"""
    first, second = _shape_of(A), _shape_of(B)
    known = isinstance(first, tuple) and isinstance(second, tuple)
    shape = (first[0] * second[0], first[1] * second[1]) if known else resolved()
    return _combined([A, B], shape, format)


def kronsum(A, B, format=None):
    """kronsum(A, B): of two square matrices"""
    return kron(A, B, format)


def block_diag(mats, format=None, dtype=None):
    """block_diag(mats): as many rows and columns as all together"""
    if not isinstance(mats, (list, tuple)) or not all(_is_sparse(each) for each in mats):
        return resolved()
    shapes = [_shape_of(each) for each in mats]
    known = all(isinstance(each, tuple) for each in shapes)
    shape = (sum(each[0] for each in shapes), sum(each[1] for each in shapes)) if known else resolved()
    return _combined(mats, shape, format)


def _of_blocks(blocks, format):
    """Rows of blocks, one below another; None leaves a block out."""
    known = isinstance(blocks, (list, tuple)) and all(isinstance(each, (list, tuple)) for each in blocks)
    if not known or not all(_is_sparse(each) for row in blocks for each in row):
        return resolved()
    return vstack([hstack(row) for row in blocks], format)


def bmat(blocks, format=None, dtype=None):
    """bmat(blocks): rows of blocks"""
    return _of_blocks(blocks, format)


block_array = bmat


def spdiags(data, diags, m=None, n=None, format=None):
    """spdiags(data, diags, m, n): m rows of n columns"""
    return _made(_MATRICES, format, "dia", (m, n) if isinstance(m, int) and isinstance(n, int) else resolved())


def _part(A, k=0, format=None):
    """Some of what is stored, in a matrix of the same size."""
    return _combined([A], _shape_of(A), format) if _is_sparse(A) else resolved()


tril = triu = _part
