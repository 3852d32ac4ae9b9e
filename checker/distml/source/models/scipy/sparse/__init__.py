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
    return numbers(*values.shape) if isinstance(values.shape, tuple) else resolved(values)


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
        return resolved(self, args)

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
            self.shape = resolved(arg1)
        self.data = numbers(resolved(arg1))
        self.row = self.col = self.indices = self.indptr = np.empty((resolved(arg1),), dtype=int)

    def __getattr__(self, name):
        return resolved(name)

    def __setitem__(self, key, value):
        """What is stored changes, its size does not."""

    def __iter__(self):
        return iter(resolved(self))

    def _answer(self, *args, **options):
        return resolved(self, args, options)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __pow__ = __rtruediv__ = __rpow__ = _answer
    reshape = todense = count_nonzero = getnnz = max = min = argmax = argmin = _answer

    def resize(self, *shape):
        """It has another size from now on."""
        self.shape = resolved(shape)

    def _like(self, cells):
        """Another matrix, as large as an array: of the same form if that is one of the usual two."""
        shape = cells.shape if is_array(cells) else resolved(cells)
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
        return self._form(format) if isinstance(format, str) else resolved(self, format)

    def toarray(self, order=None, out=None):
        return _dense(self)

    @property
    def A(self):
        return _dense(self)

    def transpose(self, axes=None, copy=False):
        """Columns for rows."""
        cells = _dense(self)
        turned = cells.T.shape if is_array(cells) else resolved(cells)
        return self._forms[self._turns_into](shape=turned)

    @property
    def T(self):
        return self.transpose()

    def __matmul__(self, other):
        left, right = _dense(self), _dense(other)
        if not is_array(left) or not is_array(right):
            return self._like(resolved(left, right)) if _is_sparse(other) else resolved(left, right)
        made = left @ right
        return self._like(made) if _is_sparse(other) else made

    dot = __matmul__

    def __rmatmul__(self, other):
        left, right = as_array(other), _dense(self)
        return left @ right if is_array(left) and is_array(right) else resolved(left, right)

    def __add__(self, other):
        if not _is_sparse(other):
            return resolved(self, other)
        left, right = _dense(self), _dense(other)
        return self._like(left + right if is_array(left) and is_array(right) else resolved(left, right))

    __radd__ = __sub__ = __rsub__ = maximum = minimum = __add__

    def multiply(self, other):
        """Number by number."""
        if _is_number(other):
            return self._same()
        left, right = _dense(self), _dense(other)
        known = is_array(left) and is_array(right)
        return self._like(left * right) if known else resolved(left, right)

    def mean(self, axis=None, dtype=None, out=None):
        return self.sum(axis)

    def diagonal(self, k=0):
        cells = _dense(self)
        return cells.diagonal(k) if is_array(cells) else resolved(cells)

    def __getitem__(self, key):
        cells = _dense(self)
        if not is_array(cells):
            return resolved(cells, key)
        picked = cells[key]
        return self._like(picked) if is_array(picked) and picked.ndim == 2 else resolved(picked)


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
        return self @ other if other_is_known else resolved(self, other)

    def __rmul__(self, other):
        return self._same() if _is_number(other) else resolved(self, other)

    def sum(self, axis=None, dtype=None, out=None):
        cells = _dense(self)
        if axis is None or not is_array(cells):
            return resolved(cells)
        return _Dense(np.sum(cells, axis=axis, keepdims=True))


class sparray(_Sparse):
    """An array: its products are number by number, its sums are arrays."""

    def __mul__(self, other):
        return self.multiply(other)

    __rmul__ = __mul__

    def sum(self, axis=None, dtype=None, out=None):
        cells = _dense(self)
        return resolved(cells) if axis is None or not is_array(cells) else np.sum(cells, axis=axis)


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
    if shape is not None:
        return shape
    main = isinstance(offsets, int) and offsets == 0 and is_array(diagonals) and diagonals.ndim == 1
    return (len(diagonals), len(diagonals)) if main else resolved(diagonals, offsets)


def diags(diagonals, offsets=0, shape=None, format=None, dtype=None):
    """diags(diagonals): as many rows and columns as numbers on the main diagonal"""
    return _made(_MATRICES, format, "dia", _on_diagonals(diagonals, offsets, shape))


def diags_array(diagonals, offsets=0, shape=None, format=None, dtype=None):
    return _made(_ARRAYS, format, "dia", _on_diagonals(diagonals, offsets, shape))


def _stacked(blocks, join, format):
    if not isinstance(blocks, (list, tuple)) or not all(_is_sparse(each) for each in blocks):
        return resolved(blocks)
    cells = [_dense(each) for each in blocks]
    known = all(is_array(each) for each in cells)
    shape = join(cells).shape if cells and known else resolved(blocks)
    arrays = any(isinstance(each, sparray) for each in blocks)
    return _made(_ARRAYS if arrays else _MATRICES, format, "any", shape)


def vstack(blocks, format=None, dtype=None):
    """vstack(blocks): as many columns in all"""
    return _stacked(blocks, np.vstack, format)


def hstack(blocks, format=None, dtype=None):
    """hstack(blocks): as many rows in all"""
    return _stacked(blocks, np.hstack, format)
