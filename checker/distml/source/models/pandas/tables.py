"""Tables and their columns. What changes a table in place, other than by a name, leaves its size unknown."""

import numpy as np
from _elsewhere import resolved
from pandas.methods import ANSWERING, CHANGING, REDUCING, Windows
from pandas.names import Names, has_rows, is_names, number_of


def cells(*sizes):
    """An array of which only the size is known."""
    return np.empty(sizes, dtype=resolved())


def _answer(*args, **kwargs):
    """Nothing is said of it"""
    return resolved(args, kwargs)


def is_sized(values):
    """Whether a value is a table or a column of which more is known than that."""
    return is_data(values) and isinstance(values.values, np.ndarray)


def is_data(values):
    """Whether a value is a table or a column."""
    return isinstance(values, DataFrame) or isinstance(values, Series)


class Data:
    """What tables and columns have in common: an array, and operators by which sizes are kept or not known."""

    def __array__(self, dtype=None, copy=None):
        return self._cells

    def __len__(self):
        return len(self._cells)

    @property
    def shape(self):
        """Rows and columns."""
        return self._cells.shape

    @property
    def ndim(self):
        """1 for a column, 2 for a table."""
        return self._cells.ndim

    @property
    def values(self):
        """The cells."""
        return self._cells

    def to_numpy(self, *args, **kwargs):
        """The cells"""
        return cells(*self._cells.shape) if isinstance(self._cells, np.ndarray) else resolved()

    def _like(self, **kwargs):
        """Another of the same size, or the same in another state."""
        if kwargs.get("inplace", False):
            return None
        return self._of(cells(*self._cells.shape))

    def _compared(self, other):
        """Which cells are so."""
        return self._of(cells(*self._cells.shape), mask=True)

    def _combined(self, other):
        """With one number for all it keeps its size."""
        return self._like() if isinstance(other, (int, float)) else resolved()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _combined
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _combined

    def _unknown(self, other):
        """Nothing is said of it."""
        return resolved()

    __matmul__ = __rmatmul__ = __iadd__ = __isub__ = __imul__ = __itruediv__ = _unknown

    def __and__(self, other):
        """Where both are so."""
        return self._compared(other) if self._mask and is_data(other) and other._mask else resolved()

    __or__ = __xor__ = __and__

    def __invert__(self):
        return self._compared(None) if self._mask else resolved()

    def __neg__(self):
        return self._like()

    def __bool__(self):
        return resolved()

    def __iter__(self):
        return iter(resolved())

    def __contains__(self, name):
        return bool(resolved())

    def astype(self, *args, **kwargs):
        """Of the same size."""
        return self._like()

    def copy(self, deep=True):
        """Of the same size."""
        return self._like()

    def fillna(self, *args, **kwargs):
        """Of the same size"""
        return self._like(**kwargs)

    replace = clip = round = fillna

    def abs(self):
        """Of the same size."""
        return self._like()

    def shift(self, *args, axis=0, **kwargs):
        """Of the same size"""
        return self._like()

    def diff(self, *args, axis=0, **kwargs):
        """Of the same size"""
        return self._like()

    def cumsum(self, *args, **kwargs):
        """Of the same size"""
        return self._like()

    def rolling(self, *args, **kwargs):
        """Some rows around each row"""
        return resolved() if "axis" in kwargs or "step" in kwargs else Windows(self)

    ewm = expanding = rolling

    def isna(self):
        """Which cells hold nothing."""
        return self._compared(None)

    isnull = notna = notnull = isna

    def isin(self, values):
        """Which cells are among some values"""
        return self._compared(None)

    def head(self, n=5):
        """The first rows"""
        return self._of(self._cells[:n])

    def tail(self, n=5):
        """The last rows"""
        return self._of(self._cells[-n:] if isinstance(n, int) and n > 0 else resolved(n))

    def dropna(self, *args, axis=0, **kwargs):
        """Some of the rows"""
        return self._fewer(axis, kwargs)

    def drop_duplicates(self, *args, **kwargs):
        """Some of the rows"""
        return self._fewer(0, kwargs)

    def _fewer(self, axis, kwargs):
        """Some of the rows."""
        if axis not in (0, "index") or kwargs.get("inplace", False):
            self._changed()
            return resolved()
        return self._rows(int(resolved()))

    def _rows(self, number):
        """Another number of rows."""
        return self._of(cells(number, *self._cells.shape[1:]))

    def sort_values(self, *args, axis=0, **kwargs):
        """The same rows in another order"""
        return self._like(**kwargs)

    def sort_index(self, *args, axis=0, **kwargs):
        """The same rows in another order"""
        return self._like(**kwargs)

    @property
    def iloc(self):
        """Rows and columns by number."""
        return Located(self)

    @property
    def loc(self):
        """Rows and columns by name."""
        return Located(self, by_name=True)

    def _changed(self):
        """Nothing is known any more."""
        self._cells = resolved()
        self._mask = False

    def __getattr__(self, name):
        return self._other(name)

    def _other(self, name):
        """What is not written here: it may change the data in place."""
        if name in REDUCING:
            return self._reduced
        if name in ANSWERING:
            return _answer
        if name in CHANGING:
            self._changed()
        return resolved(name)

    def _reduced(self, *args, axis=None, **kwargs):
        """A number for each row, where they are asked for"""
        return Series(cells(len(self._cells))) if axis in (1, "columns") else resolved(args)


class Series(Data):
    """Series(data): one column"""

    def __init__(self, data=None, index=None, *args, mask=False, **kwargs):
        known = has_rows(data)
        if index is None:
            whole = known and isinstance(data, np.ndarray)
            self._cells = data if whole else cells(len(data) if known else int(resolved()))
        else:
            self._cells = cells(number_of(index))
            if known:
                rows, names = len(data), len(self._cells)
                assert rows == names
        self._mask = mask

    def _of(self, values, mask=False):
        return Series(values, mask=mask)

    def __getitem__(self, key):
        if isinstance(key, slice):
            return self._rows(int(resolved()))
        return self._rows(int(resolved())) if isinstance(key, Series) and key._mask else resolved()

    def __setitem__(self, key, value):
        if not isinstance(key, Series):
            self._changed()

    def map(self, *args, **kwargs):
        """Of the same size"""
        return self._like()

    def reset_index(self, *args, drop=False, **kwargs):
        """The same rows with other names"""
        return self._like(**kwargs) if drop is True else resolved()


class DataFrame(Data):
    """DataFrame(data, index, columns): a table"""

    def __init__(self, data=None, index=None, columns=None, distinct=None, mask=False, **kwargs):
        self._mask = mask
        self._names = None
        self._distinct = False
        if isinstance(data, dict) and columns is None:
            self._from_columns(data, index)
        elif isinstance(data, np.ndarray):
            self._from_cells(data, columns)
            if index is not None and has_rows(data):
                rows, names = len(data), number_of(index)
                assert rows == names
        elif data is None:
            self._changed()
        else:
            rows = len(data) if isinstance(data, list) and index is None else int(resolved())
            self._from_cells(cells(rows, len(columns) if is_names(columns) else int(resolved())), columns)
        if distinct is not None:
            self._distinct = distinct

    def _from_columns(self, data, index):
        """Columns by name, all of one length, that of the rows' names, or one value for all."""
        rows = int(resolved()) if index is None else number_of(index)
        names = list(data.keys())
        known = [each for each in data.values() if has_rows(each) and not isinstance(each, tuple)]
        if known and index is None:
            rows = len(known[0])
        for each in known:
            others = len(each)
            assert rows == others
        self._cells = cells(rows, len(data))
        if is_names(names):
            self._names = tuple(names)
            self._distinct = True

    def _from_cells(self, data, columns):
        """Rows by columns, with their names."""
        self._cells = data if data.ndim == 2 else cells(len(data), 1) if data.ndim == 1 else resolved()
        if is_names(columns):
            if data.ndim == 2:
                size, names = data.shape[1], len(columns)
                assert size == names
            self._names = tuple(columns)
            self._distinct = len(set(columns)) == len(columns)

    def _of(self, values, mask=False):
        return DataFrame(values, columns=self._names, distinct=self._distinct, mask=mask)

    def _named(self, names):
        """Some of the columns."""
        names = list(names)
        return DataFrame(cells(len(self._cells), len(names)), columns=names, distinct=len(set(names)) == len(names))

    @property
    def columns(self):
        """The names of the columns."""
        return Names(self._names) if self._is_known() else resolved()

    @columns.setter
    def columns(self, names):
        if has_rows(names):
            size, given = self._cells.shape[1], len(names)
            assert size == given
        self._names = None
        self._distinct = False

    def _is_known(self):
        """Whether every name is known and there once."""
        return self._distinct is True and isinstance(self._names, tuple)

    def __getitem__(self, key):
        if isinstance(key, str) and self._distinct is True:
            return Series(cells(len(self._cells)))
        if (is_names(key) or isinstance(key, Names)) and self._distinct is True:
            return self._named(key)
        if isinstance(key, slice) or (is_data(key) and key._mask is True and len(key.shape) == 1):
            return self._rows(int(resolved()))
        return resolved()

    def __setitem__(self, key, value):
        if isinstance(key, str) and has_rows(value):
            rows, given = len(self._cells), len(value)
            if rows != 0:  # else the column says how many there are
                assert rows == given
        if isinstance(key, str) or (is_names(key) and self._distinct is True):
            self._set([key] if isinstance(key, str) else key)
        else:
            self._changed()

    def _set(self, names):
        """Columns that are written, of which some may be new."""
        if self._is_known():
            self._names = self._names + tuple(each for each in names if each not in self._names)
            self._cells = cells(len(self._cells), len(self._names))
        else:
            self._names = None
            self._cells = cells(len(self._cells), int(resolved()))

    def __delitem__(self, key):
        self._without([key])

    def _without(self, names, are_there=True):
        """The names that are left, and their cells."""
        if self._is_known() and is_names(names):
            self._names = tuple(each for each in self._names if each not in names)
            self._cells = cells(len(self._cells), len(self._names))
        else:
            counted = are_there and self._distinct is True and is_names(names)
            columns = self._cells.shape[1] - len(set(names)) if counted else int(resolved())
            self._names = None
            self._cells = cells(len(self._cells), columns)

    def pop(self, item):
        """A column, which the table has no more."""
        column = self[item]
        self._without([item])
        return column

    def drop(self, labels=None, *, axis=0, index=None, columns=None, inplace=False, **kwargs):
        """Without some columns, or some rows"""
        if index is not None or (columns is None and axis not in (1, "columns")):
            kept = self if inplace else self.copy()
            kept._cells = cells(int(resolved()), *self._cells.shape[1:])
            return None if inplace else kept
        names = labels if columns is None else columns
        kept = self if inplace else self.copy()
        kept._without([names] if isinstance(names, str) else names, are_there=not kwargs)
        return None if inplace else kept

    def sample(self, n=None, frac=None, **kwargs):
        """Some rows"""
        rows = n if isinstance(n, int) else len(self._cells) if frac == 1 else int(resolved())
        return self._rows(rows)

    def reset_index(self, *args, drop=False, inplace=False, **kwargs):
        """The same rows with other names, which may become columns"""
        kept = self if inplace else self.copy()
        if drop is not True:
            kept._names = None
            kept._cells = cells(len(kept._cells), int(resolved()))
        return None if inplace else kept

    def rename(self, mapper=None, *, columns=None, inplace=False, **kwargs):
        """The same cells with other names"""
        kept = self if inplace else self.copy()
        if self._is_known() and isinstance(columns, dict) and mapper is None:
            kept._names = tuple(columns.get(each, each) for each in self._names)
            kept._distinct = len(set(kept._names)) == len(kept._names)
        else:
            kept._names = None
            kept._distinct = False
        return None if inplace else kept

    @property
    def T(self):
        """Columns as rows."""
        return DataFrame(self._cells.T) if isinstance(self._cells, np.ndarray) else resolved()

    def assign(self, **columns):
        """With more columns"""
        found = self.copy()
        for name in columns:
            found[name] = None
        return found

    def query(self, *args, **kwargs):
        """Some of the rows"""
        return self._fewer(0, kwargs)

    def select_dtypes(self, *args, **kwargs):
        """Some of the columns"""
        return DataFrame(cells(len(self._cells), int(resolved())), distinct=self._distinct)

    def _changed(self):
        """Nothing is known any more."""
        self._cells = resolved()
        self._names = None
        self._distinct = False
        self._mask = False

    def _other(self, name):
        """A column by its name, or what is not written here."""
        if self._is_known() and name in self._names and name not in REDUCING and name not in ANSWERING:
            return Series(cells(len(self._cells)))
        return super()._other(name)

    def set_index(self, keys, *, drop=True, append=False, inplace=False, **kwargs):
        """The same rows, without the columns that name them"""
        kept = self if inplace else self.copy()
        if drop is True and (isinstance(keys, str) or is_names(keys)):
            kept._without([keys] if isinstance(keys, str) else keys)
        else:
            kept._changed()
        return None if inplace else kept


class Located:
    """Rows and columns by number or name."""

    def __init__(self, data, by_name=False):
        self._data = data
        self._by_name = by_name

    def __getitem__(self, key):
        data = self._data
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        if self._by_name or not isinstance(rows, slice) or not isinstance(data._cells, np.ndarray):
            return self._found(rows, columns)
        if columns is None:
            return data._of(data._cells[rows])
        if isinstance(columns, int):
            return Series(data._cells[rows][:, 0])
        names = data._names[columns] if data._is_known() and isinstance(columns, slice) else resolved(columns)
        return DataFrame(data._cells[rows, columns], columns=names, distinct=data._distinct)

    def _are_there(self, rows):
        """Whether they are some of the rows that there are."""
        return isinstance(rows, slice) or (is_data(rows) and rows._mask is True and len(rows.shape) == 1)

    def _found(self, rows, columns):
        """By name: how many rows there are depends on the names."""
        data = self._data
        if not self._are_there(rows):
            return resolved()
        every = isinstance(rows, slice) and rows.start is None and rows.stop is None and rows.step is None
        chosen = data if every else data._rows(int(resolved()))
        if columns is None:
            return chosen
        return chosen[columns] if isinstance(columns, str) or is_names(columns) else resolved()

    def __setitem__(self, key, value):
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        if not self._by_name:
            return
        if not self._are_there(rows) or not isinstance(self._data, DataFrame) or self._data._distinct is not True:
            self._data._changed()
        elif isinstance(columns, str) or is_names(columns):
            self._data._set([columns] if isinstance(columns, str) else columns)
        elif columns is not None:
            self._data._changed()

    def __getattr__(self, name):
        return resolved(name)
