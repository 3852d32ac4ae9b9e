"""sklearn.neighbors: https://scikit-learn.org/stable/api/sklearn.neighbors.html"""

from sklearn.checks import Predictor


class KNeighborsClassifier(Predictor): ...


class KNeighborsRegressor(Predictor): ...


class NearestCentroid(Predictor): ...
