"""sklearn.decomposition: https://scikit-learn.org/stable/api/sklearn.decomposition.html"""

import numpy as np
from _elsewhere import resolved
from sklearn.checks import ANSWERS, Fitted, is_array, number_of_features


class PCA(Fitted):
    """PCA(n_components=None): no more components than samples or features"""

    def __init__(self, n_components=None, **options):
        super().__init__()
        self.n_components = n_components

    def fit(self, X, y=None):
        """Learn from samples."""
        super().fit(X)
        if is_array(X) and isinstance(self.n_components, int):
            n_components, features, samples = self.n_components, number_of_features(X), len(X)
            assert n_components <= features
            assert n_components <= samples
        return self

    def transform(self, X):
        """Components instead of features."""
        self.check_n_features(X)
        known = is_array(X) and isinstance(self.n_components, int) and ANSWERS["are arrays"]
        return np.zeros((len(X), self.n_components)) if known else resolved(X)

    def fit_transform(self, X, y=None):
        """Fit, then transform."""
        return self.fit(X).transform(X)
