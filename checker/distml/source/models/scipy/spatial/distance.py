"""scipy.spatial.distance: https://docs.scipy.org/doc/scipy/reference/spatial.distance.html"""

import numpy as np
from _arrays import as_array, is_array, numbers
from _elsewhere import resolved


def cdist(XA, XB, metric="euclidean", *, out=None, **options):
    """cdist(XA, XB): points by coordinates; a distance for each pair"""
    first, second = as_array(XA), as_array(XB)
    if not is_array(first) or not is_array(second):
        return resolved(first, second)
    axes_of_XA, axes_of_XB = first.ndim, second.ndim
    assert axes_of_XA == 2 and axes_of_XB == 2
    columns_of_XA, columns_of_XB = first.shape[1], second.shape[1]
    assert columns_of_XA == columns_of_XB
    return numbers(len(first), len(second))


def pdist(X, metric="euclidean", *, out=None, **options):
    """pdist(X): a distance for each two points"""
    points = as_array(X)
    if not is_array(points):
        return resolved(points)
    axes_of_X = points.ndim
    assert axes_of_X == 2
    return numbers(len(points) * (len(points) - 1) // 2)


def _vectors(u, v, *args, **options):
    """Two vectors of one length."""
    first, second = as_array(u), as_array(v)
    if is_array(first) and is_array(second) and first.ndim == 1 and second.ndim == 1:
        numbers_of_u, numbers_of_v = len(first), len(second)
        if numbers_of_u != 1 and numbers_of_v != 1:
            assert numbers_of_u == numbers_of_v
    return float(resolved(args, options))


euclidean = sqeuclidean = cosine = correlation = cityblock = chebyshev = minkowski = canberra = braycurtis = _vectors
