"""pandas: https://pandas.pydata.org/docs/reference/; how many rows and columns go through its commonest parts.

What is in a table is not looked into. A table whose names are not known may have some of them twice.
"""

import numpy as np
from _elsewhere import resolved
from pandas.tables import DataFrame, Series, cells, is_data

UNTOLD = ("iterator", "chunksize", "squeeze", "header", "names", "mangle_dupe_cols")
"""Options by which a file is no table, or its names may be there twice."""


def read_csv(*args, **kwargs):
    """A table of a file, whose names differ"""
    if any(name in kwargs for name in UNTOLD):
        return resolved()
    return DataFrame(cells(int(resolved()), int(resolved())), distinct=True)


read_table = read_csv


def concat(objs, *args, axis=0, **kwargs):
    """One below another, or side by side"""
    return resolved(objs, axis)


def merge(left, right, **kwargs):
    """Rows that belong together"""
    return resolved(left, right)


def get_dummies(data, *args, **kwargs):
    """A column for each value that there is: as many rows"""
    if isinstance(data, DataFrame) or isinstance(data, Series):
        return DataFrame(cells(len(data), int(resolved())), distinct=False)
    return resolved(data)


def isna(obj):
    """Of the same size."""
    return obj.isna() if is_data(obj) else resolved(obj)


isnull = isna


def notna(obj):
    """Of the same size."""
    return obj.notna() if is_data(obj) else resolved(obj)


notnull = notna


def to_numeric(arg, *args, **kwargs):
    """Of the same size"""
    return arg.astype(float) if isinstance(arg, Series) else resolved(arg)
