"""sklearn.cluster: https://scikit-learn.org/stable/api/sklearn.cluster.html"""

import numpy as np
from _elsewhere import resolved
from sklearn.checks import Predictor, is_array


class _Clustering(Predictor):
    """A cluster for each sample."""

    def fit(self, X, y=None, **options):
        """Learn from samples."""
        super().fit(X)
        self.labels_ = np.zeros(len(X), dtype=int) if is_array(X) else resolved()
        return self


class KMeans(_Clustering):
    """KMeans(n_clusters=8): a center for each cluster"""

    def __init__(self, n_clusters=8, **options):
        super().__init__()
        self.n_clusters = n_clusters

    @property
    def cluster_centers_(self):
        """A center for each cluster."""
        known = isinstance(self.n_clusters, int) and isinstance(self.n_features_in_, int)
        return np.zeros((self.n_clusters, self.n_features_in_)) if known else resolved()

    def predict(self, X, *args, **options):
        """A cluster for each sample."""
        self.check_n_features(X)
        return np.zeros(len(X), dtype=int) if is_array(X) else resolved()

    def transform(self, X):
        """How far each sample is from each center."""
        self.check_n_features(X)
        known = is_array(X) and isinstance(self.n_clusters, int)
        return np.zeros((len(X), self.n_clusters)) if known else resolved()

    def fit_transform(self, X, y=None, **options):
        """Fit, then transform."""
        return self.fit(X).transform(X)


class MiniBatchKMeans(KMeans): ...


class DBSCAN(_Clustering): ...


class AgglomerativeClustering(_Clustering): ...
