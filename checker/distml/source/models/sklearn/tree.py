"""sklearn.tree: https://scikit-learn.org/stable/api/sklearn.tree.html"""

from sklearn.checks import Classifier, Predictor


class DecisionTreeClassifier(Classifier): ...


class DecisionTreeRegressor(Predictor): ...


class ExtraTreeClassifier(Classifier): ...
