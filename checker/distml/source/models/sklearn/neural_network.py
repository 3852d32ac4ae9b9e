"""sklearn.neural_network: https://scikit-learn.org/stable/api/sklearn.neural_network.html"""

from sklearn.checks import Predictor


class MLPClassifier(Predictor): ...


class MLPRegressor(Predictor): ...
