"""sklearn.impute: https://scikit-learn.org/stable/api/sklearn.impute.html

A feature of which nothing is there may be left out.
"""

from _elsewhere import resolved
from sklearn.checks import ANSWERS, Fitted, is_array, table_of


class _Filling(Fitted):
    """As many samples, and the features that it was fitted to."""

    def transform(self, X):
        """As many samples."""
        self.check_n_features(X)
        return table_of(X, int(resolved())) if is_array(X) and ANSWERS["are arrays"] else resolved()

    def fit_transform(self, X, y=None, **options):
        """Fit, then transform."""
        return self.fit(X, y).transform(X)


class SimpleImputer(_Filling): ...


class KNNImputer(_Filling): ...
