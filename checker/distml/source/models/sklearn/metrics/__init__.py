"""sklearn.metrics: https://scikit-learn.org/stable/api/sklearn.metrics.html; those that compare one label a sample."""

from _elsewhere import resolved
from sklearn.checks import check_consistent_length
from sklearn.metrics.pairwise import euclidean_distances, pairwise_distances


def _compared(y_true, y_pred, **options):
    """A number, several or text."""
    check_consistent_length(y_true, y_pred)
    return resolved(options)


accuracy_score = balanced_accuracy_score = confusion_matrix = classification_report = matthews_corrcoef = _compared
f1_score = fbeta_score = precision_score = recall_score = jaccard_score = precision_recall_fscore_support = _compared
mean_squared_error = root_mean_squared_error = mean_absolute_error = mean_absolute_percentage_error = _compared
r2_score = explained_variance_score = median_absolute_error = mean_squared_log_error = max_error = _compared
hamming_loss = zero_one_loss = log_loss = _compared


def roc_curve(y_true, y_score, **options):
    """Numbers for each threshold."""
    return _compared(y_true, y_score)


roc_auc_score = average_precision_score = precision_recall_curve = roc_curve
