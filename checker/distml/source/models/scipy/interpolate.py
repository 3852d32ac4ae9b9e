"""scipy.interpolate: https://docs.scipy.org/doc/scipy/reference/interpolate.html; curves through points."""

import numpy as np
from _arrays import as_array, is_array, numbers
from _elsewhere import resolved


def _matched(x, y, axis=0):
    """As many places as values."""
    x, y = as_array(x), as_array(y)
    if is_array(x) and is_array(y) and isinstance(axis, int) and x.ndim == 1:
        places, values = len(x), y.shape[axis]
        assert places == values
    return x, y


class _Curve:
    """A curve through values on an axis; called with places it gives a value for each."""

    def __init__(self, x, y, axis=0):
        _, self._y = _matched(x, y, axis)
        self._axis = axis

    def __getattr__(self, name):
        return resolved(name)

    def __call__(self, x, *args, **kwargs):
        places, values = as_array(x), self._y
        if not is_array(values) or not is_array(places) or not isinstance(self._axis, int) or args or kwargs:
            return resolved(values, places)
        axis = self._axis % values.ndim
        return numbers(*values.shape[:axis], *places.shape, *values.shape[axis + 1 :])


class interp1d(_Curve):
    """interp1d(x, y, axis=-1)"""

    def __init__(self, x, y, kind="linear", axis=-1, **options):
        super().__init__(x, y, axis)


class CubicSpline(_Curve):
    """CubicSpline(x, y, axis=0)"""

    def __init__(self, x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
        super().__init__(x, y, axis)


class PchipInterpolator(_Curve):
    """PchipInterpolator(x, y, axis=0)"""

    def __init__(self, x, y, axis=0, extrapolate=None):
        super().__init__(x, y, axis)


class Akima1DInterpolator(_Curve):
    """Akima1DInterpolator(x, y, axis=0)"""

    def __init__(self, x, y, axis=0, **options):
        super().__init__(x, y, axis)


class UnivariateSpline(_Curve):
    """UnivariateSpline(x, y)"""

    def __init__(self, x, y, *args, **options):
        super().__init__(x, y)


InterpolatedUnivariateSpline = UnivariateSpline


def make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    """make_interp_spline(x, y, k=3, axis=0)"""
    return _Curve(x, y, axis)


def splrep(x, y, *args, **options):
    """splrep(x, y): a curve for `splev`"""
    _matched(x, y)
    return resolved(args, options)


def splev(x, tck, *args, **options):
    """splev(x, tck): a value for each place"""
    return resolved(x, tck)


class RegularGridInterpolator:
    """RegularGridInterpolator(points, values): the places on each axis of values"""

    def __init__(self, points, values, *args, **options):
        values = as_array(values)
        if isinstance(points, (list, tuple)) and is_array(values):
            for axis, each in enumerate(points):
                _matched(each, values, axis)

    def __getattr__(self, name):
        return resolved(name)

    def __call__(self, *args, **kwargs):
        return resolved(args, kwargs)


def griddata(points, values, xi, method="linear", *args, **options):
    """griddata(points, values, xi): a value for each point, a row or one of each coordinate; as many results as xi tells"""
    values = as_array(values)
    if isinstance(points, tuple):
        for each in points:
            _matched(each, values)
    elif is_array(points) and is_array(values) and points.ndim == 2:
        number_of_points, number_of_values = len(points), len(values)
        assert number_of_points == number_of_values
    if isinstance(xi, tuple) and all(is_array(each) for each in xi) and is_array(values) and values.ndim == 1:
        return numbers(*np.broadcast_shapes(*(each.shape for each in xi)))
    return resolved(points, values, xi)
