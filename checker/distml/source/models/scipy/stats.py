"""scipy.stats: https://docs.scipy.org/doc/scipy/reference/stats.html; tests of samples that belong together."""

import numpy as np
from _arrays import Result, as_array, is_array, same_size
from _elsewhere import resolved


def _paired(x, y):
    """As many numbers in both."""
    x, y = as_array(x), as_array(y)
    if is_array(x) and is_array(y) and x.ndim == 1 and y.ndim == 1:
        numbers_of_x, numbers_of_y = len(x), len(y)
        assert numbers_of_x == numbers_of_y


def pearsonr(x, y, *args, **options):
    """pearsonr(x, y): as many numbers in both"""
    _paired(x, y)
    return resolved(args, options)


pointbiserialr = kendalltau = weightedtau = pearsonr


def spearmanr(a, b=None, *args, **options):
    """spearmanr(a, b=None): as many numbers in both"""
    _paired(a, b)
    return resolved(args, options)


def linregress(x, y=None, *args, **options):
    """linregress(x, y): as many numbers in both"""
    _paired(x, y)
    return resolved(args, options)


def ttest_rel(a, b, *args, **options):
    """ttest_rel(a, b): pairs of numbers"""
    _paired(a, b)
    return resolved(args, options)


def zscore(a, axis=0, *args, **options):
    """zscore(a): as many numbers"""
    return same_size(a)


class gaussian_kde:
    """gaussian_kde(dataset): an axis of variables, and one of samples"""

    def __init__(self, dataset, *args, **options):
        samples = as_array(dataset)
        self._axes = samples.ndim if is_array(samples) else None
        self._variables = (1 if samples.ndim < 2 else len(samples)) if is_array(samples) else None

    def __getattr__(self, name):
        return resolved(name)

    def evaluate(self, points):
        """A density for each point."""
        places = as_array(points)
        if not is_array(places) or places.ndim != 2 or not isinstance(self._variables, int):
            known = is_array(places) and places.ndim == 1 and self._variables == 1
            return np.empty(len(places)) if known else resolved(places)
        variables, rows_of_points = self._variables, len(places)
        if rows_of_points == 1 and places.shape[1] == variables:
            return resolved(places)
        assert rows_of_points == variables
        return np.empty(places.shape[1])

    __call__ = pdf = evaluate
