"""sklearn.svm: https://scikit-learn.org/stable/api/sklearn.svm.html"""

from sklearn.checks import Predictor


class SVC(Predictor): ...


class SVR(Predictor): ...


class LinearSVC(Predictor): ...


class LinearSVR(Predictor): ...


class NuSVC(Predictor): ...
