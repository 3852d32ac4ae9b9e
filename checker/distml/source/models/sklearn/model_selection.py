"""sklearn.model_selection: https://scikit-learn.org/stable/api/sklearn.model_selection.html"""

import math

import numpy as np
from _elsewhere import resolved
from sklearn.checks import check_consistent_length, is_array


def _sizes(total, test_size, train_size):
    """How many samples are for training and for testing."""
    if test_size is None and train_size is None:
        test_size = 0.25
    test = math.ceil(test_size * total) if isinstance(test_size, float) else test_size
    train = math.floor(train_size * total) if isinstance(train_size, float) else train_size
    if train is None:
        train = total - test
    elif test is None:
        test = total - train
    return train, test


def _some(samples, number):
    """That many of them."""
    return samples[:number] if isinstance(samples, np.ndarray) else samples.iloc[:number]


def train_test_split(*arrays, test_size=None, train_size=None, random_state=None, shuffle=True, stratify=None):
    """Each array in two: for training, for testing"""
    known = [each for each in arrays if is_array(each)]
    parts = []
    for each in arrays:
        if is_array(each):
            check_consistent_length(known[0], each)
            train, test = _sizes(len(each), test_size, train_size)
            parts.append(_some(each, train))
            parts.append(_some(each, test))
        else:
            parts.append(resolved(each))
            parts.append(resolved(each))
    return parts


def cross_val_score(estimator, X, y=None, *, cv=5, **options):
    """A number for each of some ways to split the samples"""
    check_consistent_length(X, y)
    return np.zeros(cv) if isinstance(cv, int) else resolved(cv)


class _Search:
    """An estimator with the best of some options, found on samples."""

    def __init__(self, estimator, *args, **options):
        self.estimator = estimator
        self.several = None

    def __getattr__(self, name):
        return resolved(name)

    def fit(self, X, y=None, **options):
        """Learn from samples and labels."""
        check_consistent_length(X, y)
        self.several = y.ndim > 1 if is_array(y) else None
        return self

    def predict(self, X):
        """A label for each sample."""
        return np.zeros(len(X)) if is_array(X) and self.several is False else resolved(X)

    def score(self, X, y=None):
        """One number."""
        check_consistent_length(X, y)
        return float(resolved())


class GridSearchCV(_Search): ...


class RandomizedSearchCV(_Search): ...
