"""sklearn.pipeline: https://scikit-learn.org/stable/api/sklearn.pipeline.html; each step gets what the one before gives."""

from _elsewhere import resolved


class Pipeline:
    """Pipeline(steps): transformers by name, and what comes after them"""

    def __init__(self, steps, **options):
        self.steps = steps

    def __getattr__(self, name):
        return resolved(name)

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, which):
        if isinstance(which, slice):
            return Pipeline(self.steps[which])
        return self.steps[which][1] if isinstance(which, int) else dict(self.steps)[which]

    @property
    def named_steps(self):
        """The steps by name."""
        return dict(self.steps)

    def set_output(self, *args, **kwargs):
        """Data frames, perhaps."""
        return resolved(self)

    def _before(self, X):
        """What the last step gets."""
        for _, step in self.steps[:-1]:
            if _is_there(step):
                X = step.transform(X)
        return X

    def _learned(self, X, y):
        """What the last step learns from."""
        for _, step in self.steps[:-1]:
            if _is_there(step):
                X = step.fit_transform(X, y)
        return X

    def fit(self, X, y=None, **options):
        """Learn step by step."""
        X, last = self._learned(X, y), self.steps[-1][1]
        if _is_there(last):
            last.fit(X, y)
        return self

    def transform(self, X):
        """Through all steps."""
        X, last = self._before(X), self.steps[-1][1]
        return last.transform(X) if _is_there(last) else X

    def fit_transform(self, X, y=None, **options):
        """Learn step by step, then through the last."""
        X, last = self._learned(X, y), self.steps[-1][1]
        return last.fit_transform(X, y) if _is_there(last) else X

    def predict(self, X, **options):
        """What the last step says."""
        return self.steps[-1][1].predict(self._before(X))

    def predict_proba(self, X, **options):
        """How likely the last step thinks each class."""
        return self.steps[-1][1].predict_proba(self._before(X))

    def fit_predict(self, X, y=None, **options):
        """Learn step by step, then what the last step says."""
        return self.steps[-1][1].fit_predict(self._learned(X, y), y)

    def score(self, X, y=None, **options):
        """One number."""
        return self.steps[-1][1].score(self._before(X), y)


def _is_there(step):
    """Whether a step does anything."""
    return step is not None and step != "passthrough"


def make_pipeline(*steps, **options):
    """Steps that get names"""
    return Pipeline([(str(number), step) for number, step in enumerate(steps)])
