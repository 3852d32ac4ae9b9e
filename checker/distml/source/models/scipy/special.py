"""scipy.special: https://docs.scipy.org/doc/scipy/reference/special.html; functions of each number."""

import numpy as np
from _arrays import as_array, is_array, numbers
from _elsewhere import resolved


def _of_each(x, *args, **options):
    """A number for each."""
    if isinstance(x, (int, float)):
        return float(resolved(x))
    x = as_array(x)
    return numbers(*x.shape) if is_array(x) and not args and not options else resolved(x, args, options)


expit = logit = erf = erfc = erfinv = gamma = gammaln = loggamma = digamma = psi = factorial = ndtr = ndtri = _of_each
j0 = j1 = i0 = i1 = exp10 = exp2 = expm1 = log1p = cbrt = sinc = zeta = log_ndtr = log_expit = _of_each


def softmax(x, axis=None):
    """softmax(x): a number for each"""
    return _of_each(x)


log_softmax = softmax


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """logsumexp(a, axis=None): the axis is left out"""
    if b is not None or return_sign:
        return resolved(a, b)
    return np.sum(np.exp(a), axis=axis, keepdims=keepdims)


def xlogy(x, y):
    """xlogy(x, y): x * log(y)"""
    return np.multiply(x, np.log(y))


rel_entr = kl_div = xlogy
