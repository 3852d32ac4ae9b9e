"""sklearn.datasets: https://scikit-learn.org/stable/api/sklearn.datasets.html; those that come with it, and those it makes."""

import numpy as np
from _elsewhere import resolved
from pandas import DataFrame, Series


class Bunch(dict):
    """A dict whose items are attributes."""

    def __getattr__(self, name):
        return self[name] if name in self else resolved(name)


def _bunch(samples, features, kind, return_X_y, as_frame):
    data, target = np.zeros((samples, features)), np.zeros(samples, dtype=kind)
    if as_frame is not False:
        if as_frame is not True:
            return resolved(kind)
        data, target = DataFrame(data, distinct=True), Series(target)
    frame = DataFrame(np.zeros((samples, features + 1)), distinct=True) if as_frame else None
    return (data, target) if return_X_y else Bunch(data=data, target=target, frame=frame)


def load_iris(*, return_X_y=False, as_frame=False):
    """150 samples of 4 features"""
    return _bunch(150, 4, int, return_X_y, as_frame)


def load_wine(*, return_X_y=False, as_frame=False):
    """178 samples of 13 features"""
    return _bunch(178, 13, int, return_X_y, as_frame)


def load_breast_cancer(*, return_X_y=False, as_frame=False):
    """569 samples of 30 features"""
    return _bunch(569, 30, int, return_X_y, as_frame)


def load_diabetes(*, return_X_y=False, as_frame=False, scaled=True):
    """442 samples of 10 features"""
    return _bunch(442, 10, float, return_X_y, as_frame)


def load_digits(*, n_class=10, return_X_y=False, as_frame=False):
    """1797 samples of 8 by 8 numbers"""
    if as_frame is not False or n_class != 10:
        return resolved(n_class)
    data, target = np.zeros((1797, 64)), np.zeros(1797, dtype=int)
    return (data, target) if return_X_y else Bunch(data=data, target=target, images=np.zeros((1797, 8, 8)))


def fetch_california_housing(
    *, data_home=None, download_if_missing=True, return_X_y=False, as_frame=False, n_retries=3, delay=1.0
):
    """20640 samples of 8 features"""
    return _bunch(20640, 8, float, return_X_y, as_frame)


def make_classification(n_samples=100, n_features=20, *, return_X_y=True, **options):
    """Samples of some features, with a class each"""
    if return_X_y is not True:
        return resolved(options)
    return np.zeros((n_samples, n_features)), np.zeros(n_samples, dtype=int)


def make_regression(n_samples=100, n_features=100, *, n_targets=1, coef=False, **options):
    """Samples of some features, with a number each, or several"""
    if coef is not False:
        return resolved(options)
    target = np.zeros(n_samples) if n_targets == 1 else np.zeros((n_samples, n_targets))
    return np.zeros((n_samples, n_features)), target


def make_blobs(n_samples=100, n_features=2, *, centers=None, return_centers=False, **options):
    """Samples around centers"""
    if (
        return_centers is not False
        or not isinstance(n_samples, int)
        or not (centers is None or isinstance(centers, int))
    ):
        return resolved(options)
    return np.zeros((n_samples, n_features)), np.zeros(n_samples, dtype=int)


def _made(n_samples, features, kind):
    if not isinstance(n_samples, int):
        return resolved(n_samples)
    return np.zeros((n_samples, features)), np.zeros(n_samples, dtype=kind)


def make_moons(n_samples=100, **options):
    """Two half circles"""
    return _made(n_samples, 2, int)


def make_circles(n_samples=100, **options):
    """A circle in another"""
    return _made(n_samples, 2, int)


def make_swiss_roll(n_samples=100, **options):
    """A roll in space"""
    return _made(n_samples, 3, float)


def make_s_curve(n_samples=100, **options):
    """A curve in space"""
    return _made(n_samples, 3, float)
