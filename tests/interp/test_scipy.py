"""The sizes of SciPy's arrays, as `source/models/scipy` says them, against recorded runs of it."""

from __future__ import annotations

import pytest

from distml.source.project import MODELS

from interp import sparse_programs
from interp.programs import errors_of, fits
from interp.recorded import compare
from interp.scipy_programs import HEAD, program


def agreement(said: str, real: list[int]) -> str:
    """How well a size is known."""
    return "exact" if said == f"ndarray{real}" else "vague" if fits(said, real) else "wrong"


def test_sizes_are_those_of_recorded_runs() -> None:
    kinds = compare("scipy-1.17.1.jsonl", program, "shapes", agreement)
    assert kinds["exact"] > 600 and kinds["found"] >= 200, kinds


def test_sizes_of_sparse_matrices_are_those_of_recorded_runs() -> None:
    kinds = compare("scipy-sparse-1.17.1.jsonl", sparse_programs.program, "shapes", agreement)
    assert kinds["exact"] > 380 and kinds["found"] >= 80, kinds


WRONG = {
    "interpolate.interp1d(np.arange(5), np.zeros(6))": "SHP701",
    "stats.pearsonr(np.arange(5), np.zeros(6))": "SHP701",
    "optimize.curve_fit(line, np.zeros(5), np.zeros(6))": "SHP102",
    "optimize.minimize(squares, np.zeros(3), bounds=[(0, 1), (0, 1)])": "SHP701",
}


@pytest.mark.parametrize("made", WRONG)
def test_a_mistake_is_told_at_the_call_of_the_program(made: str) -> None:
    found = errors_of(f"{HEAD}x = {made}\n")
    assert [(each.code, each.span.line) for each in found] == [(WRONG[made], HEAD.count("\n") + 1)]
    assert not found[0].span.path.startswith(MODELS)


def test_a_function_given_to_a_library_is_called_with_numbers_in_a_row() -> None:
    lines = (
        "def cost(v, x):\n    return np.sum(x @ v)\noptimize.minimize(cost, np.zeros((3, 1)), args=np.ones((5, 4)))\n"
    )
    found = errors_of(HEAD + lines)
    assert [each.message for each in found] == [
        "x @ v: [5, 4] @ [3]: 4 columns on the left meet 3 elements of the vector"
    ]
    assert found[0].span.line == HEAD.count("\n") + 2


RIGHT = (
    "calls = []\noptimize.minimize(lambda v: calls.append(v) or v @ v, np.zeros(3))\nnp.zeros(len(calls)) + np.zeros(7)",
    "optimize.minimize(lambda v: (v @ v, 2 * v), np.zeros(3), jac=True).x + np.zeros(3)",
    "optimize.minimize(lambda v: np.array([v @ v]), np.zeros(3), jac='2-point')",
    "optimize.minimize(squares, 0.5).x + np.zeros(1)",
    "optimize.curve_fit(lambda x, *p: x @ np.array(p), np.zeros((9, 2)), np.zeros(9), p0=[1, 2])",
    "optimize.curve_fit(line, [1, 2, 3], [1, 2, 3])[0] + np.zeros(2)",
    "optimize.minimize(squares, np.zeros(3)).hess_inv @ np.zeros((5, 5))",
    "optimize.minimize(squares, np.zeros(3))['x'] + np.zeros(3)",
    "a, b = optimize.fsolve(system, [1, 2])",
    "integrate.solve_ivp(turned, (0, 1), [1, 2], args=(1,)).y @ np.zeros(40)",
    "integrate.solve_ivp(lambda t, y: [y[1], -y[0]], (0, 9), [1, 2], t_eval=np.arange(9)).y[0] + np.zeros(9)",
    "integrate.odeint(decay, 1.0, np.arange(5)) + np.zeros((5, 1))",
    "root, error = linalg.sqrtm(np.eye(3), disp=False)",
    "x, told, flag, message = optimize.fsolve(system, [1, 2], (), None, True)",
    "optimize.curve_fit(line, np.arange(5.0), np.zeros(5), None, np.ones(5))[1] + np.zeros((2, 2))",
    "x, *others = optimize.leastsq(lambda v: v - 1, [1, 2], (), None, True)",
    "from scipy import sparse\n(sparse.eye(4) @ np.zeros((4, 2))).shape",
    "from scipy.sparse.linalg import spsolve\nspsolve(np.eye(4), np.zeros(4))",
    "linalg.solve(stats.nothing_of_this_kind(3), np.zeros(3)) + np.zeros(3)",
    "signal.convolve(np.zeros(9), np.zeros(3), mode='same') + np.zeros(9)",
    "import scipy\nscipy.optimize.minimize(squares, np.zeros(2)).x + np.zeros(2)\nscipy.nothing.of_this.kind()",
    "distance.cdist([[1]], [[2]], lambda a, b: 1)",
    "stats.norm.rvs(size=(3, 4)) + np.zeros((3, 4))",
    "special.softmax(np.zeros((3, 4)), axis=1) @ np.zeros(4)",
)
"""Calls that work, or whose sizes only the numbers in the data decide."""


@pytest.mark.parametrize("made", RIGHT)
def test_what_the_model_does_not_know_is_no_mistake(made: str) -> None:
    assert not errors_of(f"{HEAD}{made}\n")
