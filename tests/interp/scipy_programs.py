"""Programs over SciPy, and what they give: `PYTHONPATH=tests python -m interp.scipy_programs` writes them down.

It needs SciPy, which the tests do without: https://docs.scipy.org/doc/scipy/reference/.
"""

from __future__ import annotations

import json
import warnings
from random import Random
from typing import Any

from interp.recording import stopped

HEAD = """import numpy as np
import scipy.fft, scipy.integrate, scipy.interpolate, scipy.linalg, scipy.ndimage, scipy.optimize, scipy.signal
import scipy.spatial.distance, scipy.special, scipy.stats
from scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, special, stats
from scipy.spatial import KDTree, distance
rng = np.random.default_rng(0)
def squares(v, *args): return np.sum(v ** 2)
def residuals(v, x, y): return x @ v - y
def rows(v, k): return np.repeat(v.sum(), k) - 1
def cost(v, x, y): return np.mean((x @ v - y) ** 2)
def slope(v, x, y): return x.T @ (x @ v - y)
def line(x, a, b): return a * x + b
def parabola(x, a, b, c): return a * x ** 2 + b * x + c
def decay(y, t): return -y
def pair(y, t): return [y[1], -y[0]]
def three(t, y): return np.array([y[0], y[1], y[0]])
def turned(t, y, rate): return rate * y
def system(v): return [v[0] + v[1] - 3, v[0] - v[1]]
"""
STEPS = (
    "r = optimize.minimize(squares, {v}).x",
    "r = optimize.minimize(cost, {v}, args=({m}, {w})).x",
    "r = optimize.minimize(cost, {v}, args=({m}, {w}), jac=slope, method='BFGS', options={{'maxiter': 1}}).x",
    "r = optimize.minimize(squares, {v}, bounds=[(0, 1)] * {n}).x",
    "r = optimize.minimize(residuals, {v}, args=({m}, {w})).x",
    "r = optimize.least_squares(residuals, {v}, args=({m}, {w})).x",
    "r = optimize.least_squares(squares, {m}).x",
    "r = optimize.leastsq(residuals, {v}, args=({m}, {w}))[0]",
    "r, s = optimize.leastsq(rows, {v}, {n})",
    "r = optimize.fsolve(rows, {v}, {n})",
    "r = optimize.root(rows, {v}, args=({n},)).x",
    "r = optimize.fsolve(system, [1.0, 2.0])",
    "r = optimize.fsolve(system, {v})",
    "r, s = optimize.curve_fit(line, np.arange({n}.0), {v})",
    "r, s = optimize.curve_fit(parabola, {v}, {w})",
    "r, s = optimize.curve_fit(parabola, {v}, {v}, p0=[1, 2, 3])",
    "r, s = optimize.curve_fit(parabola, {v}, {v}, p0=np.ones({k}))",
    "r = optimize.linprog({v}, A_ub={m}, b_ub={w}).x",
    "r = optimize.linprog({v}, {m}, {w}, {m}, {w}).x",
    "r, s = optimize.nnls({m}, {v})",
    "r, s = optimize.linear_sum_assignment({m})",
    "r, s = optimize.linear_sum_assignment({v})",
    "r = optimize.differential_evolution(squares, [(-1, 1)] * {k}, maxiter=1).x",
    "r = integrate.odeint(decay, {v}, np.linspace(0, 1, {n}))",
    "r = integrate.odeint(pair, {v}, np.linspace(0, 1, {n}))",
    "r = integrate.odeint(pair, [1.0, 0.0], np.linspace(0, 1, {n}))",
    "r = integrate.odeint(decay, {m}, np.linspace(0, 1, {n}))",
    "r = integrate.odeint(turned, {v}, np.linspace(0, 1, {n}), args=(2,), tfirst=True)",
    "r = integrate.solve_ivp(turned, (0, 1), {v}, args=(2,)).y",
    "r = integrate.solve_ivp(three, (0, 1), {v}, t_eval=np.linspace(0, 1, {n})).y",
    "r = integrate.solve_ivp(turned, [0, 1], {m}, args=(2,)).y",
    "r, s = integrate.quad(lambda x: x ** 2, 0, 1)",
    "r, s = integrate.quad(lambda x, a: a * x, 0, 1, args=({v},))",
    "r = integrate.trapezoid({m}, {v})",
    "r = integrate.trapezoid({v}, dx=0.1)",
    "r = integrate.simpson({v}, x={w})",
    "r = integrate.simpson({m}, dx=0.5)",
    "r = integrate.cumulative_trapezoid({v}, {w})",
    "r = integrate.cumulative_trapezoid({m}, axis=0)",
    "r = integrate.cumulative_trapezoid({v}, initial=0)",
    "r = interpolate.interp1d(np.arange({n}), {v})(np.zeros({k}))",
    "r = interpolate.interp1d(np.arange({n}), {m})(np.zeros({k}))",
    "r = interpolate.interp1d(np.arange({n}), {m}, axis=0)(np.zeros({k}))",
    "r = interpolate.CubicSpline(np.arange({n}), {v})(np.zeros(({k}, 2)))",
    "r = interpolate.CubicSpline(np.arange({n}), {m})(np.zeros({k}))",
    "r = interpolate.PchipInterpolator(np.arange({n}), {v})(0.5)",
    "r = interpolate.UnivariateSpline(np.arange({n}), {v}, k=1)(np.zeros({k}))",
    "r = interpolate.splev(np.zeros({k}), interpolate.splrep(np.arange({n}), {v}, k=1))",
    "r = interpolate.RegularGridInterpolator((np.arange({n}), np.arange({k})), {m})(np.zeros((2, 2)))",
    "r = interpolate.griddata({p}, {v}, (np.zeros((4, 5)), np.zeros((4, 5))), method='nearest')",
    "r = interpolate.griddata(({v}, {w}), {v}, (np.zeros((4, 5)), np.zeros((4, 5))), method='nearest')",
    "r = signal.convolve({v}, {w})",
    "r = signal.convolve({v}, {w}, mode='same')",
    "r = signal.convolve({v}, {w}, 'valid')",
    "r = signal.convolve({m}, {v})",
    "r = signal.correlate({m}, {m}, mode='full')",
    "r = signal.fftconvolve({v}, {w}, mode='same')",
    "r = signal.convolve2d({m}, np.ones((3, 3)), mode='{mode}')",
    "r = signal.convolve2d({m}, {v})",
    "r = signal.correlate2d({m}, {m}, 'valid')",
    "b, a = signal.butter({o}, 0.3)\nr = signal.lfilter(b, a, {v})\ns = b",
    "b, a = signal.butter({o}, [0.2, 0.4], btype='band')\nr = signal.filtfilt(b, a, {v})\ns = a",
    "b, a = signal.butter({o}, 0.3, 'high')\nr = signal.filtfilt(b, a, {m})",
    "s = signal.butter({o}, 0.3, output='sos')\nr = signal.sosfilt(s, {v})",
    "r = signal.medfilt({v})",
    "r = signal.detrend({m})",
    "r = signal.hilbert({v})",
    "r = signal.savgol_filter({v}, {o}, 2)",
    "r = signal.resample({v}, {n})",
    "r = signal.resample({m}, {n}, axis=1)",
    "r, s = signal.find_peaks({m})",
    "r, s = signal.periodogram({v})",
    "r = signal.get_window('hann', {n})",
    "r = ndimage.gaussian_filter({m}, 1)",
    "r = ndimage.median_filter({m}, size=3)",
    "r = ndimage.convolve({m}, np.ones((3, 3)))",
    "r = ndimage.convolve({m}, np.ones(3))",
    "r = ndimage.correlate1d({m}, np.ones({o}))",
    "r, s = ndimage.label({m} > 0)",
    "r = ndimage.map_coordinates({m}, np.zeros(({o}, {n})))",
    "r = ndimage.distance_transform_edt({m})",
    "r = stats.pearsonr({v}, {w})[0]",
    "r = stats.spearmanr({v}, {w})[0]",
    "r = stats.kendalltau({v}, {w})[0]",
    "r = stats.linregress({v}, {w}).slope",
    "r = stats.ttest_rel({v}, {w})[0]",
    "r = stats.ttest_ind({v}, {w})[0]",
    "r = stats.zscore({m})",
    "r = stats.gaussian_kde({p}.T)(np.zeros((2, {n})))",
    "r = stats.gaussian_kde(rng.random({n}))(np.zeros({k}))",
    "r = stats.gaussian_kde(rng.random((3, 9)))(np.zeros(({o}, {k})))",
    "r = distance.cdist({m}, {m})",
    "r = distance.cdist({p}, {p}, 'cityblock')",
    "r = distance.cdist({v}, {m})",
    "r = distance.pdist({m})",
    "r = distance.squareform(distance.pdist({m}))",
    "r = distance.euclidean({v}, {w})",
    "r = distance.cosine({v}, {w})",
    "r, s = KDTree({m}).query({m})",
    "r, s = KDTree({p}).query(np.zeros(({n}, 2)), k=2)",
    "r, s = KDTree({p}).query({v})",
    "r = linalg.inv({m})",
    "r = linalg.det({q})",
    "r = linalg.solve({q}, {v})",
    "r = linalg.solve({q}, {m})",
    "r = linalg.expm({m})",
    "r = linalg.cho_solve(linalg.cho_factor({q}), {v})",
    "r = linalg.block_diag({m}, {q}, {v})",
    "r = linalg.toeplitz({v}, {w})",
    "r = linalg.toeplitz({v})",
    "r, s, t = linalg.svd({m}, full_matrices=False)",
    "r, s = linalg.eigh({q})",
    "r = special.expit({m})",
    "r = special.softmax({m}, axis=1)",
    "r = special.logsumexp({m}, axis=0)",
    "r = special.xlogy({v}, {w})",
    "r = special.erf(0.5)",
    "r = fft.fft({v})",
    "r = fft.rfft({m})",
    "r = fft.dct({m})",
    "r = fft.fftfreq({n}, 0.1)",
)
NAMES = "rst"


def program(seed: int) -> str:
    """One call with arrays that fit or do not."""
    random = Random(seed)
    n, other, k = random.choice((3, 4, 20)), random.choice((3, 4, 20)), random.choice((2, 3, 5))
    call = STEPS[seed % len(STEPS)].format(
        n=n,
        k=k,
        o=random.choice((1, 2, 3)),
        v=f"rng.random({random.choice((n, n, n, other))})",
        w=f"rng.random({random.choice((n, n, other))})",
        m=f"rng.random(({random.choice((n, n, other))}, {random.choice((n, n, k))}))",
        p=f"rng.random(({random.choice((n, n, other))}, 2))",
        q=f"(np.eye({n}) + 1)",
        mode=random.choice(("full", "same", "valid")),
    )
    return f"{HEAD}{call}\n"


def record(seed: int) -> dict[str, Any]:
    """The shapes that a program leaves, or the line in which it stops."""
    names: dict[str, Any] = {}
    if end := stopped(program(seed), names):
        return {"seed": seed, **end}
    shapes = {name: list(names[name].shape) for name in NAMES if getattr(names.get(name), "shape", ())}
    return {"seed": seed, "shapes": shapes}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for number in range(900):
        print(json.dumps(record(number)))
