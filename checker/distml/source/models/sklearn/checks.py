"""What every part of scikit-learn asks of its input: arrays and tables of pandas. Lists are not looked into."""

import numpy as np
from _elsewhere import resolved
from pandas.tables import is_sized

ANSWERS = {"are arrays": True}
"""What `set_config` may change."""


def is_array(values):
    """Whether sizes are those of an array, or of a table of pandas."""
    return isinstance(values, np.ndarray) or is_sized(values)


def is_table(X):
    """Whether an array may be samples by features; text and single features are not looked into."""
    return is_array(X) and X.dtype != object


def number_of_features(X):
    """One axis is no table."""
    assert X.ndim == 2
    return X.shape[1]


def check_consistent_length(X, y):
    """As many labels as samples."""
    if is_array(X) and is_array(y):
        samples, labels = len(X), len(y)
        assert samples == labels


class Fitted:
    """What is fitted to a number of features, and gets as many later."""

    def __init__(self, *args, **kwargs):
        self.n_features_in_ = None

    def __getattr__(self, name):
        return resolved(name)

    def set_output(self, *args, **kwargs):
        """Data frames, perhaps."""
        return resolved(self)

    def fit(self, X, y=None, **kwargs):
        """Learn the number of features."""
        check_consistent_length(X, y)
        self.n_features_in_ = number_of_features(X) if is_array(X) else None
        return self

    def for_each_feature(self):
        """One number for each feature that it was fitted to."""
        number = self.n_features_in_
        return np.zeros(number) if isinstance(number, int) else resolved()

    def check_n_features(self, X):
        """As many features as it was fitted to."""
        if is_array(X):
            features, fitted_to = number_of_features(X), self.n_features_in_
            if isinstance(fitted_to, int):
                assert features == fitted_to


def table_of(X, features):
    """Other numbers for the same samples."""
    return np.zeros((len(X), features))


def same_size(X, **options):
    """Other numbers, of the same size."""
    return np.zeros(X.shape) if is_array(X) and ANSWERS["are arrays"] else resolved()


class Scaler(Fitted):
    """What gives a table of the same size."""

    def transform(self, X):
        """The same size."""
        self.check_n_features(X)
        return same_size(X)

    def fit_transform(self, X, y=None, **kwargs):
        """Fit, then transform."""
        return self.fit(X, y).transform(X)

    def inverse_transform(self, X):
        """The same size."""
        return self.transform(X)


class Predictor(Fitted):
    """What learns from samples and labels, and tells labels."""

    def predict(self, X):
        """A label, or as many as there were, for each sample."""
        self.check_n_features(X)
        if not is_array(X):
            return resolved()
        return np.zeros(len(X)) if self.several is False else resolved()

    def fit(self, X, y=None, **kwargs):
        """Learn from samples and labels."""
        super().fit(X, y)
        self.several = y.ndim > 1 if is_array(y) else None
        return self

    def fit_predict(self, X, y=None):
        """Fit, then predict the same samples."""
        self.fit(X, y)
        return np.zeros(len(X), dtype=int) if is_array(X) else resolved()

    def score(self, X, y=None):
        """One number."""
        self.check_n_features(X)
        check_consistent_length(X, y)
        return float(resolved())


class Regressor(Predictor):
    """What tells numbers, by a weight for each feature."""

    @property
    def coef_(self):
        """A weight for each feature, where there is one number to tell."""
        return self.for_each_feature() if self.several is False else resolved()


class Classifier(Predictor):
    """What tells classes, of which nobody knows how many there are."""

    def predict_proba(self, X):
        """A number for each sample and class."""
        self.check_n_features(X)
        return table_of(X, int(resolved())) if is_array(X) and self.several is False else resolved()


class LinearClassifier(Classifier):
    """What tells classes by weights for each feature."""

    @property
    def coef_(self):
        """Weights for each feature."""
        number = self.n_features_in_
        return np.zeros((int(resolved()), number)) if isinstance(number, int) else resolved()
