"""scipy.optimize: https://docs.scipy.org/doc/scipy/reference/optimize.html; what is called with numbers in a row."""

import inspect

import numpy as np
from _arrays import Result, as_array, as_tuple, as_vector, is_array, numbers, repeatedly
from _elsewhere import resolved

WITHOUT_GRADIENT = ("Nelder-Mead", "nelder-mead", "Powell", "powell", "COBYLA", "cobyla", "COBYQA", "cobyqa")


def _scalar(function, x, args):
    """A function of numbers in a row gives one number."""
    value = repeatedly(function, x, *args)
    if is_array(value):
        returned_numbers = value.size
        assert returned_numbers == 1


def minimize(fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None, **options):
    """minimize(fun, x0, args): fun and jac get x0 in a row"""
    x, args = as_vector(x0), as_tuple(args)
    if isinstance(bounds, (list, tuple)) and is_array(x):
        number_of_bounds, variables = len(bounds), len(x)
        assert number_of_bounds == variables
    if jac is None or jac is False or isinstance(jac, str):
        _scalar(fun, x, args)
    else:
        repeatedly(fun, x, *args)
    if callable(jac) and isinstance(method, (str, type(None))) and method not in WITHOUT_GRADIENT:
        repeatedly(jac, x, *args)
    resolved(hess, hessp, options)
    return Result(x=as_vector(x0), fun=resolved())


def basinhopping(func, x0, niter=100, T=1.0, stepsize=0.5, minimizer_kwargs=None, **options):
    """basinhopping(func, x0): func gets x0 in a row"""
    if minimizer_kwargs is None:
        _scalar(func, as_vector(x0), ())
    resolved(func, minimizer_kwargs, options)
    return Result(x=as_vector(x0))


def fmin(func, x0, args=(), *rest, **options):
    """fmin(func, x0, args): the best x"""
    _scalar(func, as_vector(x0), as_tuple(args))
    return resolved(rest, options) if rest or "full_output" in options else as_vector(x0)


fmin_powell = fmin


def _bounded(func, bounds, args=(), *rest, **options):
    """func gets a number for each pair of bounds."""
    x = numbers(len(bounds)) if isinstance(bounds, (list, tuple)) else resolved(bounds)
    _scalar(func, x, as_tuple(args))
    resolved(rest, options)
    return Result(x=numbers(len(bounds)) if isinstance(bounds, (list, tuple)) else resolved())


differential_evolution = dual_annealing = shgo = _bounded


def _parameters(f, p0):
    """How many parameters a curve has: as many as guesses, or as its function takes after the first."""
    if p0 is not None:
        p0 = as_vector(p0)
        return len(p0) if is_array(p0) else None
    parameters = list(inspect.signature(f).parameters.values())
    return None if any(each._takes_rest for each in parameters) else len(parameters) - 1


def curve_fit(f, xdata, ydata, p0=None, *rest, **options):
    """curve_fit(f, xdata, ydata, p0=None): f(xdata, *parameters) - ydata"""
    x, y, count = as_array(xdata), as_array(ydata), _parameters(f, p0)
    if not isinstance(count, int):
        resolved(f, xdata, ydata, options)
        return resolved(), resolved()
    fitted = repeatedly(f, x, *(float(each) for each in numbers(count)))
    if is_array(fitted) and is_array(y):
        fitted - y
        measured = y.size
        if not rest and options.get("bounds") is None and options.get("method") is None:
            assert count <= measured
    if options.get("full_output"):
        return resolved(options)
    return numbers(count), numbers(count, count)


def _residuals(fun, x0, args):
    """As many residuals as fun gives, in a row."""
    x = as_vector(x0)
    residuals = as_array(repeatedly(fun, x, *as_tuple(args)))
    return x, residuals


def least_squares(fun, x0, jac="2-point", *rest, args=(), kwargs=None, **options):
    """least_squares(fun, x0, args=()): fun gives residuals in a row"""
    if is_array(x0):
        x0_axes = x0.ndim
        assert x0_axes <= 1
    if kwargs is None:
        _, residuals = _residuals(fun, x0, args)
        if is_array(residuals):
            residuals_axes = residuals.ndim
            assert residuals_axes <= 1
    resolved(jac, options, rest)
    return Result(x=as_vector(x0))


def leastsq(func, x0, args=(), *rest, **options):
    """leastsq(func, x0, args): no fewer residuals than numbers"""
    x, residuals = _residuals(func, x0, args)
    if is_array(x) and is_array(residuals):
        variables, number_of_residuals = len(x), residuals.size
        assert variables <= number_of_residuals
    known = not rest and "full_output" not in options
    return (as_vector(x0), int(resolved())) if known else resolved(rest, options)


def _roots(func, x0, args):
    """As many equations as numbers."""
    x, equations = _residuals(func, x0, args)
    if is_array(x) and is_array(equations):
        variables, number_of_equations = len(x), equations.size
        assert number_of_equations == variables


def fsolve(func, x0, args=(), *rest, **options):
    """fsolve(func, x0, args): as many equations as numbers"""
    _roots(func, x0, args)
    return resolved(rest, options) if rest or "full_output" in options else as_vector(x0)


def root(fun, x0, args=(), method="hybr", **options):
    """root(fun, x0, args): as many equations as numbers"""
    if method == "hybr" and options.get("jac") is None:
        _roots(fun, x0, args)
    resolved(fun, options)
    return Result(x=as_vector(x0) if method == "hybr" else resolved())


def linprog(c, A_ub=None, b_ub=None, A_eq=None, b_eq=None, *rest, **options):
    """linprog(c, A_ub, b_ub, A_eq, b_eq): a column for each variable, a row for each limit"""
    cost = as_vector(c)
    for matrix, limits in ((A_ub, b_ub), (A_eq, b_eq)):
        matrix, limits = as_array(matrix), as_array(limits)
        if is_array(matrix) and is_array(cost) and matrix.ndim == 2:
            columns, variables = matrix.shape[1], len(cost)
            assert columns == variables
        if is_array(matrix) and is_array(limits) and matrix.ndim == 2:
            rows, number_of_limits = len(matrix), limits.size
            assert rows == number_of_limits
    return Result(x=cost)


def nnls(A, b, **options):
    """nnls(A, b): a row for each number of b"""
    A, b = as_array(A), as_array(b)
    if is_array(A) and is_array(b) and A.ndim == 2:
        rows, measured = len(A), len(b)
        assert rows == measured
        return numbers(A.shape[1]), float(resolved())
    return resolved(A, b), float(resolved())


def linear_sum_assignment(cost_matrix, maximize=False):
    """linear_sum_assignment(cost_matrix): rows and columns, as many as there are of the fewer"""
    costs = as_array(cost_matrix)
    if not is_array(costs):
        return resolved(costs), resolved(costs)
    axes_of_costs = costs.ndim
    assert axes_of_costs == 2
    pairs = min(costs.shape)
    return np.empty(pairs, dtype=int), np.empty(pairs, dtype=int)
