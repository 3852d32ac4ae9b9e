"""The names of a table's columns, and of its rows."""

import numpy as np
from _elsewhere import resolved


def has_rows(data):
    """Whether data are items, of which each is a row; an array without axes is one value."""
    if isinstance(data, np.ndarray):
        return data.ndim != 0
    return isinstance(data, (list, tuple))


def is_names(names):
    """Whether names are written out."""
    return isinstance(names, (list, tuple)) and all(isinstance(each, str) for each in names)


class Names:
    """The names of columns, which are all known."""

    def __init__(self, names):
        self._names = tuple(names)

    def __len__(self):
        return len(self._names)

    def __iter__(self):
        return iter(self._names)

    def __contains__(self, name):
        return name in self._names

    def __getitem__(self, key):
        if isinstance(key, slice):
            return Names(self._names[key])
        return self._names[key] if isinstance(key, int) else resolved()

    def __array__(self, dtype=None, copy=None):
        return resolved()

    def _compared(self, other):
        """Nothing is said of it."""
        return resolved()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __and__ = __or__ = _compared

    def tolist(self):
        """As a list."""
        return list(self._names)

    to_list = tolist

    def drop(self, labels):
        """Without some of them"""
        dropped = [labels] if isinstance(labels, str) else labels
        return Names(each for each in self._names if each not in dropped) if is_names(dropped) else resolved()

    def difference(self, other, sort=None):
        """Those that are not among others, in order"""
        others = list(other)
        return Names(sorted(self.drop(others))) if is_names(others) and sort is None else resolved()

    def __getattr__(self, name):
        return resolved(name)


class Index:
    """The names of rows, of which it is known how many there are."""

    def __init__(self, data=None, *args, **kwargs):
        known = has_rows(data) or isinstance(data, range)
        self._cells = np.empty(len(data) if known else int(resolved()), dtype=resolved())

    def __len__(self):
        return len(self._cells)

    def __array__(self, dtype=None, copy=None):
        return self._cells

    @property
    def values(self):
        """The names."""
        return self._cells

    def to_numpy(self, *args, **kwargs):
        """The names"""
        return self._cells

    @property
    def shape(self):
        """How many there are."""
        return self._cells.shape

    @property
    def size(self):
        """How many there are."""
        return len(self._cells)

    def __iter__(self):
        return iter(resolved())

    def __getitem__(self, key):
        return Index(self._cells[key]) if isinstance(key, slice) else resolved()

    def _answer(self, *args):
        """Nothing is said of it."""
        return resolved()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = _answer
    __mul__ = __rmul__ = __and__ = __or__ = __contains__ = _answer

    def __getattr__(self, name):
        return resolved()


def number_of(index):
    """How many rows there are names for."""
    known = isinstance(index, (np.ndarray, list, tuple, range, Index))
    return len(index) if known else int(resolved())
