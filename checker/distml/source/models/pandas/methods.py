"""Methods of tables and columns that are not written here, and those of the rows around each row."""

from _elsewhere import resolved

CHANGING = frozenset(
    """at bfill dropna eval ffill flags iat insert interpolate isetitem mask pad query rename_axis set_axis update
    where""".split()
)
"""Methods that may change a table in place and are not written here."""
REDUCING = frozenset("count kurt max mean median min nunique prod quantile sem skew std sum var".split())
"""Methods that give one number for each column, or each row."""
ANSWERING = frozenset(
    """agg aggregate all any apply argmax argmin corr corrwith cov describe duplicated explode first_valid_index groupby hist
    idxmax idxmin info items iterrows itertuples join keys last_valid_index melt memory_usage merge mode pivot pivot_table
    rank resample stack to_csv to_dict to_excel to_frame to_json to_list to_parquet to_pickle to_string tolist
    unique unstack value_counts""".split()
)
"""Methods that give something of which nothing is said, and change nothing."""


class Windows:
    """Some rows around each row, and a number of them for each."""

    def __init__(self, data):
        self._data = data

    def _of_each(self, *args, **kwargs):
        return self._data._like()

    mean = sum = std = var = min = max = median = count = quantile = skew = kurt = sem = _of_each

    def apply(self, func, *args, **kwargs):
        """What a function makes of them"""
        resolved(func)
        return self._data._like()

    def __getitem__(self, name):
        return resolved()

    def __getattr__(self, name):
        return resolved()
