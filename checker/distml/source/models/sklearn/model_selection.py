"""sklearn.model_selection: https://scikit-learn.org/stable/api/sklearn.model_selection.html"""

import math

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


def train_test_split(*arrays, test_size=None, train_size=None, random_state=None, shuffle=True, stratify=None):
    """Each array in two: for training, for testing"""
    known = [each for each in arrays if is_array(each)]
    parts = []
    for each in arrays:
        if is_array(each):
            check_consistent_length(known[0], each)
            train, test = _sizes(len(each), test_size, train_size)
            parts.append(each[:train])
            parts.append(each[:test])
        else:
            parts.append(resolved(each))
            parts.append(resolved(each))
    return parts
