"""sklearn.compose: https://scikit-learn.org/stable/api/sklearn.compose.html"""

import numpy as np
from _elsewhere import resolved
from sklearn.checks import ANSWERS, Fitted, is_array, table_of


def _part(X, columns):
    """Some columns of a table or an array, as a table."""
    return X[:, columns] if isinstance(X, np.ndarray) else X[columns]


class ColumnTransformer(Fitted):
    """ColumnTransformer(transformers): what each makes of its columns, side by side"""

    def __init__(self, transformers, *, remainder="drop", **options):
        super().__init__()
        self.transformers = transformers
        self.remainder = remainder

    def _known(self, X):
        """Whether all columns are listed."""
        listed = all([isinstance(columns, list) for _, _, columns in self.transformers])
        return listed and is_array(X) and ANSWERS["are arrays"] and self.remainder in ("drop", "passthrough")

    def fit(self, X, y=None, **options):
        """Learn from the columns of each."""
        super().fit(X, y)
        if self._known(X):
            for _, step, columns in self.transformers:
                if not isinstance(step, str):
                    step.fit(_part(X, columns), y)
        return self

    def transform(self, X):
        """Side by side."""
        self.check_n_features(X)
        if not self._known(X):
            return resolved()
        width = X.shape[1] if self.remainder == "passthrough" else 0
        for _, step, columns in self.transformers:
            if self.remainder == "passthrough":
                width = width - len(columns)
            if step == "passthrough":
                width = width + len(columns)
            elif step != "drop":
                made = step.transform(_part(X, columns))
                if not isinstance(made, np.ndarray):
                    return resolved()
                width = width + made.shape[1]
        return table_of(X, width)

    def fit_transform(self, X, y=None, **options):
        """Fit, then transform."""
        return self.fit(X, y).transform(X)
