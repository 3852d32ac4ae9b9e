"""scikit-learn: https://scikit-learn.org/stable/api/; how many rows, columns and classes go through its commonest parts."""

from _elsewhere import resolved
from sklearn.checks import ANSWERS


def set_config(*args, transform_output=None, **options):
    """How answers are given"""
    if transform_output is not None:
        ANSWERS["are arrays"] = resolved(transform_output)


config_context = set_config
