"""pandas: https://pandas.pydata.org/docs/reference/; how many rows and columns go through its commonest parts.

What is in a table is not looked into. A table whose names are not known may have some of them twice.
"""

import numpy as np
from _elsewhere import resolved
from pandas.names import Index
from pandas.tables import DataFrame, Series, cells, is_data

UNTOLD = ("iterator", "chunksize", "squeeze", "header", "names", "mangle_dupe_cols")
"""Options by which a file is no table, or its names may be there twice."""


def read_csv(*args, **kwargs):
    """A table of a file, whose names differ"""
    if any(name in kwargs for name in UNTOLD):
        return resolved()
    return DataFrame(cells(int(resolved()), int(resolved())), distinct=True)


read_table = read_csv


def concat(objs, *args, axis=0, join="outer", **kwargs):
    """One below another, or side by side: which rows are one then is for their names to say"""
    frames = list(objs.values()) if isinstance(objs, dict) else list(objs)
    if args or not all(is_data(each) for each in frames):
        return resolved()
    if axis in (1, "columns"):
        columns = sum(1 if isinstance(each, Series) else each.shape[1] for each in frames)
        return DataFrame(cells(int(resolved()), columns), distinct=False)
    return _below(frames, join) if axis in (0, "index", "rows") else resolved(axis)


def _below(frames, join):
    """The rows of all, in columns that one has, or all have."""
    rows = sum(len(each) for each in frames)
    if all(isinstance(each, Series) for each in frames):
        return Series(cells(rows))
    if not all(isinstance(each, DataFrame) and each._is_known() for each in frames):
        return (
            resolved() if any(isinstance(each, Series) for each in frames) else DataFrame(cells(rows, int(resolved())))
        )
    names = []
    for each in frames:
        names += [name for name in each._names if name not in names]
    if join != "outer":
        names = [name for name in names if all(name in each._names for each in frames)]
    return DataFrame(cells(rows, len(names)), columns=names)


def merge(left, right, **kwargs):
    """Rows that belong together"""
    return resolved()


def get_dummies(data, *args, **kwargs):
    """A column for each value that there is: as many rows"""
    if isinstance(data, DataFrame) or isinstance(data, Series):
        return DataFrame(cells(len(data), int(resolved())), distinct=False)
    return resolved()


def date_range(start=None, end=None, periods=None, freq=None, *args, **kwargs):
    """date_range(start, periods=...): so many times, or as many as lie in between"""
    return Index(cells(periods if isinstance(periods, int) else int(resolved())))


bdate_range = period_range = timedelta_range = date_range


def RangeIndex(start=None, *args, **kwargs):
    """RangeIndex(stop): so many numbers"""
    return Index(cells(start)) if isinstance(start, int) and not args and not kwargs else Index(resolved())


DatetimeIndex = Index


def isna(obj):
    """Of the same size."""
    return obj.isna() if is_data(obj) else resolved()


isnull = isna


def notna(obj):
    """Of the same size."""
    return obj.notna() if is_data(obj) else resolved()


notnull = notna


def to_numeric(arg, *args, **kwargs):
    """Of the same size"""
    return arg.astype(float) if isinstance(arg, Series) else resolved()


to_datetime = to_timedelta = to_numeric
