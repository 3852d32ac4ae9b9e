"""sklearn.metrics.pairwise: https://scikit-learn.org/stable/api/sklearn.metrics.html#pairwise-metrics"""

import numpy as np
from _elsewhere import resolved
from sklearn.checks import is_array, number_of_features


def _of_pairs(X, Y=None, **options):
    """A number for each sample of X and sample of Y."""
    Y = X if Y is None else Y
    if not is_array(X) or not is_array(Y) or options:
        return resolved()
    features_of_x, features_of_y = number_of_features(X), number_of_features(Y)
    assert features_of_x == features_of_y
    return np.zeros((len(X), len(Y)))


cosine_similarity = cosine_distances = euclidean_distances = manhattan_distances = linear_kernel = _of_pairs


def rbf_kernel(X, Y=None, gamma=None):
    """A number for each sample of X and sample of Y"""
    return _of_pairs(X, Y)


def pairwise_distances(X, Y=None, metric="euclidean", **options):
    """A number for each sample of X and sample of Y; of distances that are given nothing is said"""
    known = metric in ("euclidean", "cosine", "manhattan", "cityblock", "l1", "l2", "sqeuclidean", "chebyshev")
    return _of_pairs(X, Y) if known else resolved()
