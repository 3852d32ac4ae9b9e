"""sklearn.neighbors: https://scikit-learn.org/stable/api/sklearn.neighbors.html"""

import numpy as np
from _elsewhere import resolved
from sklearn.checks import Classifier, Fitted, Predictor, is_array


class NearestNeighbors(Fitted):
    """NearestNeighbors(n_neighbors=5): so many of each sample"""

    def __init__(self, n_neighbors=5, **options):
        super().__init__()
        self.n_neighbors = n_neighbors

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """kneighbors(X): a distance and an index for each neighbor"""
        self.check_n_features(X)
        number = self.n_neighbors if n_neighbors is None else n_neighbors
        if not is_array(X) or not isinstance(number, int) or not isinstance(return_distance, bool):
            return resolved()
        places = np.zeros((len(X), number), dtype=int)
        return (np.zeros((len(X), number)), places) if return_distance else places


class KNeighborsClassifier(NearestNeighbors, Classifier): ...


class KNeighborsRegressor(NearestNeighbors, Predictor): ...


class NearestCentroid(Predictor): ...
