"""sklearn.discriminant_analysis: https://scikit-learn.org/stable/api/sklearn.discriminant_analysis.html"""

from sklearn.checks import Predictor


class LinearDiscriminantAnalysis(Predictor): ...


class QuadraticDiscriminantAnalysis(Predictor): ...
