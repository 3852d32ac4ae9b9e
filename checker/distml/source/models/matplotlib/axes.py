"""matplotlib.axes: https://matplotlib.org/stable/api/axes_api.html

Arrays and lists have sizes; what else is drawn is not looked into. Where one number may stand for all it does.
"""

from _arrays import as_array, is_array
from _elsewhere import resolved


def _together(x, y):
    """As many numbers in a row of both, or one for all."""
    x, y = as_array(x), as_array(y)
    if is_array(x) and is_array(y) and x.ndim == 1 and y.ndim == 1:
        numbers_of_x, numbers_of_y = len(x), len(y)
        if numbers_of_x != 1 and numbers_of_y != 1:
            assert numbers_of_x == numbers_of_y


def _line(x, y):
    """As many rows, and as many columns or one."""
    x, y = as_array(x), as_array(y)
    for each in (x, y):
        if is_array(each):
            axes = each.ndim
            assert axes <= 2
    if is_array(x) and is_array(y) and x.ndim > 0 and y.ndim > 0:
        rows_of_x, rows_of_y = len(x), len(y)
        if rows_of_x != 1 and rows_of_y != 1:
            assert rows_of_x == rows_of_y
        if x.ndim == 2 and y.ndim == 2:
            columns_of_x, columns_of_y = x.shape[1], y.shape[1]
            if columns_of_x != 1 and columns_of_y != 1:
                assert columns_of_x == columns_of_y


def _labelled(ticks, labels):
    """As many labels as ticks."""
    if isinstance(labels, (list, tuple)) and (isinstance(ticks, (list, tuple, range)) or is_array(ticks)):
        number_of_ticks, number_of_labels = len(ticks), len(labels)
        assert number_of_ticks == number_of_labels


def _grid(args, kwargs):
    """Places across and up, if they are told, and the values there."""
    known = "data" not in kwargs
    if known and len(args) in (1, 2):
        return None, None, as_array(args[0])
    return [as_array(each) for each in args[:3]] if known and len(args) > 2 else (None, None, None)


class Axes:
    """What is drawn in."""

    def __getattr__(self, name):
        return resolved(name)

    def plot(self, *args, data=None, **kwargs):
        """plot([x], y, [fmt], [x2], y2, ...): pairs of x and y"""
        rest = list(args) if data is None else []
        while rest:
            alone = len(rest) == 1 or isinstance(rest[1], str)
            _line(rest[0], None if alone else rest[1])
            rest = rest[3:] if len(rest) > 2 and isinstance(rest[2], str) else rest[2:]
        return resolved(args, data, kwargs)

    semilogx = semilogy = loglog = plot

    def step(self, x, y, *args, **kwargs):
        """step(x, y)"""
        return self.plot(x, y, *args, **kwargs)

    def scatter(self, x, y, *args, **kwargs):
        """scatter(x, y): as many numbers in both"""
        across, up = as_array(x), as_array(y)
        if is_array(across) and is_array(up) and "data" not in kwargs:
            numbers_of_x, numbers_of_y = across.size, up.size
            if numbers_of_x != 1 and numbers_of_y != 1:
                assert numbers_of_x == numbers_of_y
        return resolved(args, kwargs)

    def bar(self, x, height, *args, **kwargs):
        """bar(x, height): as many heights as places, or one"""
        _together(x, height)
        return resolved(args, kwargs)

    def barh(self, y, width, *args, **kwargs):
        """barh(y, width): as many widths as places, or one"""
        _together(y, width)
        return resolved(args, kwargs)

    def errorbar(self, x, y, yerr=None, xerr=None, *args, **kwargs):
        """errorbar(x, y, yerr=None): as many numbers, and as many errors, or one"""
        _together(x, y)
        _together(y, yerr)
        _together(x, xerr)
        return resolved(args, kwargs)

    def fill_between(self, x, y1, y2=0, *args, **kwargs):
        """fill_between(x, y1, y2=0): as many numbers in all, or one"""
        _together(x, y1)
        _together(x, y2)
        _together(y1, y2)
        return resolved(args, kwargs)

    def pie(self, x, explode=None, labels=None, *args, **kwargs):
        """pie(x, labels=None): a label for each"""
        _labelled(x, labels)
        return resolved(explode, args, kwargs)

    def hist(self, x, *args, weights=None, **kwargs):
        """hist(x, weights=None): as many weights as numbers"""
        if is_array(x) and is_array(weights) and x.ndim == 1 and weights.ndim == 1:
            numbers_of_x, number_of_weights = len(x), len(weights)
            assert numbers_of_x == number_of_weights
        return resolved(x, args, kwargs)

    def imshow(self, X, *args, **kwargs):
        """imshow(X): rows and columns, and one, three or four channels if there are any"""
        if is_array(X) and "data" not in kwargs:
            axes_of_X = X.ndim
            assert axes_of_X == 2 or axes_of_X == 3
            if axes_of_X == 3:
                channels = X.shape[2]
                assert channels in (1, 3, 4)
        return resolved(X, args, kwargs)

    def _levels(self, *args, **kwargs):
        """contour([X, Y,] Z): columns and rows of Z"""
        X, Y, Z = _grid(args, kwargs)
        if is_array(Z):
            axes_of_Z = Z.ndim
            assert axes_of_Z == 2
        if is_array(Z) and is_array(X) and X.ndim == 1:
            numbers_of_X, columns_of_Z = len(X), Z.shape[1]
            assert numbers_of_X == columns_of_Z
        if is_array(Z) and is_array(Y) and Y.ndim == 1:
            numbers_of_Y, rows_of_Z = len(Y), Z.shape[0]
            assert numbers_of_Y == rows_of_Z
        if is_array(Z) and is_array(X) and X.ndim == 2:
            (rows_of_X, columns_of_X), (rows_of_Z, columns_of_Z) = X.shape, Z.shape
            assert rows_of_X == rows_of_Z
            assert columns_of_X == columns_of_Z
        return resolved(args, kwargs)

    contour = contourf = _levels

    def pcolormesh(self, *args, **kwargs):
        """pcolormesh([X, Y,] C): columns and rows of C, or one more"""
        X, Y, C = _grid(args, kwargs)
        if is_array(C) and C.ndim == 2 and is_array(X) and X.ndim == 1:
            numbers_of_X, columns_of_C = len(X), C.shape[1]
            assert numbers_of_X == columns_of_C or numbers_of_X == columns_of_C + 1
        if is_array(C) and C.ndim == 2 and is_array(Y) and Y.ndim == 1:
            numbers_of_Y, rows_of_C = len(Y), C.shape[0]
            assert numbers_of_Y == rows_of_C or numbers_of_Y == rows_of_C + 1
        return resolved(args, kwargs)

    def set_xticks(self, ticks, labels=None, **kwargs):
        """set_xticks(ticks, labels=None): as many labels"""
        _labelled(ticks, labels)
        return resolved(ticks, kwargs)

    set_yticks = set_xticks
