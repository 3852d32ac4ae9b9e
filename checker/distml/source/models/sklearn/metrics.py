"""sklearn.metrics: https://scikit-learn.org/stable/api/sklearn.metrics.html; those that compare one label a sample."""

from _elsewhere import resolved
from sklearn.checks import check_consistent_length


def _compared(y_true, y_pred, **options):
    check_consistent_length(y_true, y_pred)
    return resolved(options)


def accuracy_score(y_true, y_pred, **options):
    """The share of equal labels."""
    return _compared(y_true, y_pred)


def confusion_matrix(y_true, y_pred, **options):
    """How often each label stands for each."""
    return _compared(y_true, y_pred)


def classification_report(y_true, y_pred, **options):
    """Text."""
    return _compared(y_true, y_pred)


def f1_score(y_true, y_pred, **options):
    """One number, or one a class."""
    return _compared(y_true, y_pred)


def precision_score(y_true, y_pred, **options):
    """One number, or one a class."""
    return _compared(y_true, y_pred)


def recall_score(y_true, y_pred, **options):
    """One number, or one a class."""
    return _compared(y_true, y_pred)


def mean_squared_error(y_true, y_pred, **options):
    """One number, or one an output."""
    return _compared(y_true, y_pred)


def mean_absolute_error(y_true, y_pred, **options):
    """One number, or one an output."""
    return _compared(y_true, y_pred)


def r2_score(y_true, y_pred, **options):
    """One number, or one an output."""
    return _compared(y_true, y_pred)
