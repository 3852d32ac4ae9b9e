"""The names of a table's columns."""

from _elsewhere import resolved


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
        return self._names[key] if isinstance(key, int) else resolved(self, key)

    def __array__(self, dtype=None, copy=None):
        return resolved(self)

    def _compared(self, other):
        """Nothing is said of it."""
        return resolved(self, other)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __and__ = __or__ = _compared

    def tolist(self):
        """As a list."""
        return list(self._names)

    to_list = tolist

    def drop(self, labels):
        """Without some of them"""
        dropped = [labels] if isinstance(labels, str) else labels
        return Names(each for each in self._names if each not in dropped) if is_names(dropped) else resolved(self)

    def difference(self, other, sort=None):
        """Those that are not among others, in order"""
        others = list(other)
        return Names(sorted(self.drop(others))) if is_names(others) and sort is None else resolved(self, other)

    def __getattr__(self, name):
        return resolved(name)
