"""scipy.integrate: https://docs.scipy.org/doc/scipy/reference/integrate.html"""

import numpy as np
from _arrays import Result, as_array, as_tuple, as_vector, is_array, numbers, repeatedly
from _elsewhere import resolved


def _derivatives(slopes, y):
    """A derivative for each number."""
    slopes = as_array(slopes)
    if is_array(slopes) and is_array(y):
        number_of_derivatives, variables = slopes.size, len(y)
        assert number_of_derivatives == variables


def odeint(func, y0, t, args=(), Dfun=None, *rest, tfirst=False, **options):
    """odeint(func, y0, t, args=()): func(y, t) gives as many derivatives as y0 has numbers; a row for each time"""
    given, times = as_array(y0), as_array(t)
    if is_array(given):
        axes_of_y0 = given.ndim
        assert axes_of_y0 <= 1
    y, time = as_vector(y0), float(resolved())
    order = (time, y) if tfirst else (y, time)
    _derivatives(repeatedly(func, *order, *as_tuple(args)), y)
    known = is_array(times) and is_array(y) and "full_output" not in options and not rest
    return numbers(len(times), len(y)) if known else resolved(Dfun, rest, options)


def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None, *rest, args=None, **options
):
    """solve_ivp(fun, t_span, y0, t_eval=None): fun(t, y); a column of y for each time, if no event ends it"""
    y, times = as_array(y0), as_array(t_eval)
    if is_array(y):
        axes_of_y0 = y.ndim
        assert axes_of_y0 == 1
        y = numbers(len(y))
    further = () if args is None else args
    slopes = as_array(repeatedly(fun, float(resolved()), y, *further))
    if is_array(slopes) and slopes.ndim == 1 and len(slopes) != 1:
        _derivatives(slopes, y)
    count = len(times) if is_array(times) and events is None else int(resolved(events, method, rest, options))
    return Result(t=numbers(count), y=numbers(len(y), count) if is_array(y) else resolved(y))


def quad(func, a, b, args=(), *rest, **options):
    """quad(func, a, b, args=()): the integral, and its error"""
    value = repeatedly(func, float(resolved(a, b)), *as_tuple(args))
    if is_array(value):
        returned_numbers = value.size
        assert returned_numbers == 1
    return resolved(rest, options) if rest or options else (float(resolved()), float(resolved()))


trapezoid = trapz = np.trapezoid


def simpson(y, *, x=None, dx=1.0, axis=-1):
    """simpson(y, x=None): samples, and as many places"""
    return np.trapezoid(y, x, dx, axis)


def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    """cumulative_trapezoid(y, x=None, initial=None): one fewer than samples, or as many with an initial value"""
    y, x = as_array(y), as_array(x)
    if not is_array(y) or not isinstance(axis, int):
        return resolved(y, x)
    if is_array(x) and x.ndim == 1:
        samples, places = y.shape[axis], len(x)
        assert samples == places
    sums = np.diff(y, axis=axis)
    return numbers(*(sums.shape if initial is None else y.shape))


cumtrapz = cumulative_trapezoid
