"""sklearn.preprocessing: https://scikit-learn.org/stable/api/sklearn.preprocessing.html"""

import math

import numpy as np
from _elsewhere import resolved
from sklearn.checks import ANSWERS, Fitted, Scaler, is_array, number_of_features, same_size, table_of


class StandardScaler(Scaler):
    """StandardScaler(): a mean and a scale for each feature"""

    def __init__(self, *, copy=True, with_mean=True, with_std=True):
        super().__init__()
        self.with_std = with_std

    @property
    def mean_(self):
        """One for each feature."""
        return self.for_each_feature()

    @property
    def scale_(self):
        """One for each feature, if there is a scale."""
        return self.for_each_feature() if self.with_std is True else resolved()

    var_ = scale_


class MinMaxScaler(Scaler):
    """MinMaxScaler(): the least and the greatest of each feature"""

    @property
    def data_min_(self):
        """One for each feature."""
        return self.for_each_feature()

    data_max_ = data_range_ = scale_ = min_ = data_min_


class MaxAbsScaler(Scaler): ...


class RobustScaler(Scaler): ...


class Normalizer(Scaler): ...


class QuantileTransformer(Scaler): ...


class PowerTransformer(Scaler): ...


class LabelEncoder:
    """LabelEncoder(): a number for each label"""

    def __getattr__(self, name):
        return resolved(name)

    def fit(self, y):
        """Learn the labels."""
        return self

    def transform(self, y):
        """Their numbers."""
        return np.zeros(len(y), dtype=int) if is_array(y) else resolved(y)

    def fit_transform(self, y):
        """Learn the labels, and number them."""
        return self.transform(y)


class _Sparse:
    """A table most of whose cells are zero."""

    def __init__(self, cells):
        self._cells = cells
        self.shape = cells.shape

    def __getattr__(self, name):
        return resolved(name)

    def toarray(self):
        """All cells."""
        return self._cells


class OneHotEncoder(Fitted):
    """OneHotEncoder(): a feature for each category that is listed, or of an unknown number of them"""

    def __init__(self, *, categories="auto", drop=None, sparse_output=True, **options):
        super().__init__()
        self.categories = categories
        self.sparse_output = sparse_output
        self.drop = drop
        self.whole = not any([name not in ("handle_unknown", "dtype") for name in options])

    def _features_of(self, categories):
        """The features for some categories, of which one may be left out."""
        if self.drop == "if_binary":
            return 1 if len(categories) == 2 else len(categories)
        return len(categories) - (0 if self.drop is None else 1)

    def transform(self, X):
        """As many features as there are categories, but for those that are dropped."""
        self.check_n_features(X)
        if not is_array(X) or not ANSWERS["are arrays"] or not isinstance(self.sparse_output, bool):
            return resolved()
        listed = isinstance(self.categories, list) and self.whole and self.drop in (None, "first", "if_binary")
        made = table_of(X, sum([self._features_of(each) for each in self.categories]) if listed else int(resolved()))
        return _Sparse(made) if self.sparse_output else made

    def fit_transform(self, X, y=None, **options):
        """Fit, then transform."""
        return self.fit(X).transform(X)


class PolynomialFeatures(Fitted):
    """PolynomialFeatures(degree=2): products of features"""

    def __init__(self, degree=2, *, interaction_only=False, include_bias=True, order="C"):
        super().__init__()
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias

    def transform(self, X):
        """A feature for each product."""
        self.check_n_features(X)
        if not is_array(X) or not ANSWERS["are arrays"] or not isinstance(self.degree, int):
            return resolved()
        features, degree = number_of_features(X), self.degree
        if self.interaction_only:
            products = sum([math.comb(features, each) for each in range(degree + 1)])
        else:
            products = math.comb(features + degree, degree)
        return table_of(X, products - (0 if self.include_bias else 1))

    def fit_transform(self, X, y=None, **options):
        """Fit, then transform."""
        return self.fit(X).transform(X)


scale = minmax_scale = same_size
