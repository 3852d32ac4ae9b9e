"""sklearn.naive_bayes: https://scikit-learn.org/stable/api/sklearn.naive_bayes.html"""

from sklearn.checks import Predictor


class GaussianNB(Predictor): ...


class MultinomialNB(Predictor): ...


class BernoulliNB(Predictor): ...
