"""sklearn.decomposition: https://scikit-learn.org/stable/api/sklearn.decomposition.html"""

import numpy as np
from _elsewhere import resolved
from sklearn.checks import ANSWERS, Fitted, is_array, number_of_features, table_of


class _Components(Fitted):
    """What gives components instead of features."""

    def __init__(self, n_components=None, **options):
        super().__init__()
        self.n_components = n_components

    def transform(self, X):
        """Components instead of features."""
        self.check_n_features(X)
        known = is_array(X) and isinstance(self.n_components, int) and ANSWERS["are arrays"]
        return np.zeros((len(X), self.n_components)) if known else resolved()

    def fit_transform(self, X, y=None):
        """Fit, then transform."""
        return self.fit(X).transform(X)


class _Linear(_Components):
    """A row of weights for each component, by which features come back."""

    @property
    def components_(self):
        """A weight for each component and feature."""
        known = isinstance(self.n_components, int) and isinstance(self.n_features_in_, int)
        return np.zeros((self.n_components, self.n_features_in_)) if known else resolved()

    def inverse_transform(self, X):
        """Features instead of components."""
        if not is_array(X) or not isinstance(self.n_components, int) or not isinstance(self.n_features_in_, int):
            return resolved()
        components, fitted_to = number_of_features(X), self.n_components
        assert components == fitted_to
        return table_of(X, self.n_features_in_)


class _Explaining(_Linear):
    """How much each component explains."""

    @property
    def explained_variance_(self):
        """One for each component."""
        return np.zeros(self.n_components) if isinstance(self.n_components, int) else resolved()

    explained_variance_ratio_ = singular_values_ = explained_variance_


class PCA(_Explaining):
    """PCA(n_components=None): no more components than samples or features"""

    def fit(self, X, y=None):
        """Learn from samples."""
        super().fit(X)
        if is_array(X) and isinstance(self.n_components, int):
            n_components, features, samples = self.n_components, number_of_features(X), len(X)
            assert n_components <= features
            assert n_components <= samples
        return self

    @property
    def mean_(self):
        """One for each feature."""
        return self.for_each_feature()


class IncrementalPCA(_Explaining): ...


class TruncatedSVD(_Explaining):
    """TruncatedSVD(n_components=2)"""

    def __init__(self, n_components=2, **options):
        super().__init__(n_components)


class NMF(_Linear): ...


class FactorAnalysis(_Components): ...


class FastICA(_Components): ...
