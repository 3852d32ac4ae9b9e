"""sklearn.discriminant_analysis: https://scikit-learn.org/stable/api/sklearn.discriminant_analysis.html"""

import numpy as np
from _elsewhere import resolved
from sklearn.checks import ANSWERS, LinearClassifier, Predictor, is_array


class LinearDiscriminantAnalysis(LinearClassifier):
    """LinearDiscriminantAnalysis(n_components=None): fewer components than classes"""

    def __init__(self, solver="svd", shrinkage=None, priors=None, n_components=None, **options):
        super().__init__()
        self.n_components = n_components

    @property
    def scalings_(self):
        """A row for each feature."""
        number = self.n_features_in_
        return np.zeros((number, int(resolved()))) if isinstance(number, int) else resolved()

    def transform(self, X):
        """Components instead of features."""
        self.check_n_features(X)
        known = is_array(X) and isinstance(self.n_components, int) and ANSWERS["are arrays"]
        return np.zeros((len(X), self.n_components)) if known else resolved()

    def fit_transform(self, X, y=None):
        """Fit, then transform."""
        return self.fit(X, y).transform(X)


class QuadraticDiscriminantAnalysis(Predictor): ...
