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


def cross_val_predict(estimator, X, y=None, *, method="predict", **options):
    """What is said of each sample by an estimator that has not seen it"""
    check_consistent_length(X, y)
    one = is_array(X) and is_array(y) and y.ndim == 1 and method == "predict"
    return np.zeros(len(X)) if one else resolved()


class _Folds:
    """Ways to split samples in two: numbers of those to learn from, and of those to test with."""

    def __getattr__(self, name):
        return resolved(name)

    def _sizes(self, samples):
        """How many of them each way leaves for testing; unknown where data decide."""
        return resolved(samples)

    def split(self, X, y=None, groups=None):
        """Two arrays of numbers for each way"""
        check_consistent_length(X, y)
        samples = len(X) if is_array(X) or isinstance(X, (list, range)) else resolved()
        sizes = self._sizes(samples) if isinstance(samples, int) else resolved(samples)
        if not isinstance(sizes, list):
            return resolved()
        return iter([(np.zeros(train, dtype=int), np.zeros(test, dtype=int)) for train, test in sizes])


class KFold(_Folds):
    """KFold(n_splits=5): parts of one size, or of two sizes that differ by one, the larger ones first"""

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        self.n_splits = n_splits

    def get_n_splits(self, X=None, y=None, groups=None):
        """How many parts."""
        return self.n_splits

    def _sizes(self, samples):
        if not isinstance(self.n_splits, int):
            return resolved(samples)
        tests = [(samples - each + self.n_splits - 1) // self.n_splits for each in range(self.n_splits)]
        return [(samples - each, each) for each in tests]


class StratifiedKFold(KFold):
    """StratifiedKFold(n_splits=5): parts as large as those of `KFold`"""


class RepeatedKFold(KFold):
    """RepeatedKFold(n_splits=5, n_repeats=10): `KFold` again and again"""

    def __init__(self, *, n_splits=5, n_repeats=10, random_state=None):
        super().__init__(n_splits)
        self.n_repeats = n_repeats

    def get_n_splits(self, X=None, y=None, groups=None):
        """How many parts, each time it is done."""
        return self.n_splits * self.n_repeats

    def _sizes(self, samples):
        sizes = super()._sizes(samples)
        known = isinstance(sizes, list) and isinstance(self.n_repeats, int)
        return sizes * self.n_repeats if known else resolved(samples)


class RepeatedStratifiedKFold(RepeatedKFold): ...


class LeaveOneOut(_Folds):
    """LeaveOneOut(): each sample alone"""

    def _sizes(self, samples):
        return [(samples - 1, 1) for _ in range(samples)]


class ShuffleSplit(_Folds):
    """ShuffleSplit(n_splits=10): as `train_test_split`, so many times"""

    def __init__(self, n_splits=10, *, test_size=None, train_size=None, random_state=None):
        self.n_splits = n_splits
        self.test_size = 0.1 if test_size is None and train_size is None else test_size
        self.train_size = train_size

    def get_n_splits(self, X=None, y=None, groups=None):
        """How many times."""
        return self.n_splits

    def _sizes(self, samples):
        sizes = _sizes(samples, self.test_size, self.train_size)
        return [sizes for _ in range(self.n_splits)] if isinstance(self.n_splits, int) else resolved(samples)


class StratifiedShuffleSplit(ShuffleSplit): ...


class TimeSeriesSplit(_Folds):
    """TimeSeriesSplit(n_splits=5): all samples before a part, and the part"""

    def __init__(self, n_splits=5, *, max_train_size=None, test_size=None, gap=0):
        self.n_splits = n_splits
        self.test_size = test_size
        self.plain = max_train_size is None and gap == 0

    def get_n_splits(self, X=None, y=None, groups=None):
        """How many parts."""
        return self.n_splits

    def _sizes(self, samples):
        if not self.plain or not isinstance(self.n_splits, int):
            return resolved(samples)
        test = samples // (self.n_splits + 1) if self.test_size is None else self.test_size
        return [(samples - each * test, test) for each in range(self.n_splits, 0, -1)]


class GroupKFold(_Folds):
    """GroupKFold(n_splits=5): groups stay together"""

    def __init__(self, n_splits=5, **options):
        self.n_splits = n_splits


class LeaveOneGroupOut(_Folds): ...


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
        return np.zeros(len(X)) if is_array(X) and self.several is False else resolved()

    def score(self, X, y=None):
        """One number."""
        check_consistent_length(X, y)
        return float(resolved())


class GridSearchCV(_Search): ...


class RandomizedSearchCV(_Search): ...
