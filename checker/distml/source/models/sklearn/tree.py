"""sklearn.tree: https://scikit-learn.org/stable/api/sklearn.tree.html"""

from sklearn.checks import Predictor


class DecisionTreeClassifier(Predictor): ...


class DecisionTreeRegressor(Predictor): ...


class ExtraTreeClassifier(Predictor): ...
