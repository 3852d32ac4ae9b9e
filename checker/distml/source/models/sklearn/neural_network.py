"""sklearn.neural_network: https://scikit-learn.org/stable/api/sklearn.neural_network.html"""

from sklearn.checks import Classifier, Predictor


class MLPClassifier(Classifier): ...


class MLPRegressor(Predictor): ...
