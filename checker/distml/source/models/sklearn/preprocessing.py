"""sklearn.preprocessing: https://scikit-learn.org/stable/api/sklearn.preprocessing.html"""

import numpy as np
from _elsewhere import resolved
from sklearn.checks import Scaler, is_array, same_size


class StandardScaler(Scaler): ...


class MinMaxScaler(Scaler): ...


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


scale = minmax_scale = same_size
