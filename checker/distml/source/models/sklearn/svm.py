"""sklearn.svm: https://scikit-learn.org/stable/api/sklearn.svm.html"""

from sklearn.checks import Classifier, Predictor


class SVC(Classifier): ...


class SVR(Predictor): ...


class LinearSVC(Classifier): ...


class LinearSVR(Predictor): ...


class NuSVC(Classifier): ...
