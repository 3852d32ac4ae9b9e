"""matplotlib.pyplot: https://matplotlib.org/stable/api/pyplot_summary.html; what is drawn in may have three dimensions."""

from _elsewhere import resolved
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_current = Axes()

plot, semilogx, semilogy, loglog, step = (
    _current.plot,
    _current.semilogx,
    _current.semilogy,
    _current.loglog,
    _current.step,
)
scatter, bar, barh, errorbar, fill_between = (
    _current.scatter,
    _current.bar,
    _current.barh,
    _current.errorbar,
    _current.fill_between,
)
pie, hist, imshow, contour, contourf, pcolormesh = (
    _current.pie,
    _current.hist,
    _current.imshow,
    _current.contour,
    _current.contourf,
    _current.pcolormesh,
)


def xticks(ticks=None, labels=None, **kwargs):
    """xticks(ticks, labels): as many labels"""
    _current.set_xticks(ticks, labels)
    return resolved(kwargs), resolved(kwargs)


yticks = xticks


def figure(*args, **kwargs):
    """A new figure"""
    return Figure() if "FigureClass" not in kwargs else resolved(args, kwargs)


def subplot(*args, **kwargs):
    """subplot(nrows, ncols, index)"""
    return Figure().add_subplot(*args, **kwargs)


def subplots(nrows=1, ncols=1, **kwargs):
    """subplots(nrows=1, ncols=1): a figure, and one or an array of what is drawn in"""
    made = Figure()
    return made, made.subplots(nrows, ncols, **kwargs)
