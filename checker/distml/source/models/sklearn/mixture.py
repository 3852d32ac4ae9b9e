"""sklearn.mixture: https://scikit-learn.org/stable/api/sklearn.mixture.html"""

import numpy as np
from _elsewhere import resolved
from sklearn.checks import Fitted, is_array


class GaussianMixture(Fitted):
    """GaussianMixture(n_components=1): weights, means and covariances of each component"""

    def __init__(self, n_components=1, *, covariance_type="full", **options):
        super().__init__()
        self.n_components = n_components
        self.covariance_type = covariance_type

    def _of_components(self, *features):
        """So many for each component."""
        known = isinstance(self.n_components, int) and all(isinstance(each, int) for each in features)
        return np.zeros((self.n_components, *features)) if known else resolved()

    @property
    def weights_(self):
        """One for each component."""
        return self._of_components()

    @property
    def means_(self):
        """A feature's mean for each component."""
        return self._of_components(self.n_features_in_)

    @property
    def covariances_(self):
        """A matrix for each component, unless all share one or features are apart."""
        full = self.covariance_type == "full"
        return self._of_components(self.n_features_in_, self.n_features_in_) if full else resolved()

    def predict(self, X):
        """The component of each sample."""
        self.check_n_features(X)
        return np.zeros(len(X), dtype=int) if is_array(X) else resolved()

    def fit_predict(self, X, y=None):
        """Fit, then predict the same samples."""
        return self.fit(X).predict(X)

    def predict_proba(self, X):
        """A number for each sample and component."""
        self.check_n_features(X)
        return np.zeros((len(X), self.n_components)) if is_array(X) else resolved()

    def score_samples(self, X):
        """A number for each sample."""
        self.check_n_features(X)
        return np.zeros(len(X)) if is_array(X) else resolved()

    def sample(self, n_samples=1):
        """Samples, and the component of each."""
        known = isinstance(n_samples, int) and isinstance(self.n_features_in_, int)
        if not known:
            return resolved(n_samples), resolved(n_samples)
        return np.zeros((n_samples, self.n_features_in_)), np.zeros(n_samples, dtype=int)


class BayesianGaussianMixture(GaussianMixture): ...
