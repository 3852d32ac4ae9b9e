"""matplotlib.figure: https://matplotlib.org/stable/api/figure_api.html"""

import numpy as np
from _elsewhere import resolved
from matplotlib.axes import Axes

OTHERS = ("projection", "polar", "axes_class", "subplot_kw")
"""Options by which what is drawn in is something else."""


class Figure:
    """A window or a page."""

    def __getattr__(self, name):
        return resolved(name)

    def add_subplot(self, *args, **kwargs):
        """add_subplot(nrows, ncols, index)"""
        return resolved(args, kwargs) if any(name in kwargs for name in OTHERS) else Axes()

    def subplots(self, nrows=1, ncols=1, *, squeeze=True, **kwargs):
        """subplots(nrows=1, ncols=1): an array without the axes that count one, if not asked for"""
        if not isinstance(nrows, int) or not isinstance(ncols, int) or not isinstance(squeeze, bool):
            return resolved(nrows, ncols, squeeze)
        if squeeze and nrows == 1 and ncols == 1:
            return self.add_subplot(**kwargs)
        several = np.empty((nrows, ncols), dtype=object)
        return np.squeeze(several) if squeeze else several
