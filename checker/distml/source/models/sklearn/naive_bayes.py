"""sklearn.naive_bayes: https://scikit-learn.org/stable/api/sklearn.naive_bayes.html"""

from sklearn.checks import Classifier


class GaussianNB(Classifier): ...


class MultinomialNB(Classifier): ...


class BernoulliNB(Classifier): ...
