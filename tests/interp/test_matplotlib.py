"""What Matplotlib draws together, as `source/models/matplotlib` says it, against recorded runs of it."""

from __future__ import annotations

import pytest

from interp.matplotlib_programs import HEAD, program
from interp.programs import errors_of
from interp.recorded import compare


def test_mistakes_are_those_of_recorded_runs() -> None:
    kinds = compare("matplotlib-3.11.2.jsonl", program, "shapes", lambda said, real: "exact")
    assert kinds["found"] >= 130, kinds


WRONG = {
    "plt.plot(np.zeros(5), np.zeros(6))": "plt.plot wants `rows_of_x == rows_of_y`: rows_of_x is 5, rows_of_y is 6",
    "ax.imshow(np.zeros((3, 8, 8)))": "ax.imshow wants `channels in (1, 3, 4)`: channels is 8",
    "plt.subplots(3)[1][0, 0]": "2 indices for [3], which has 1 axis",
}


@pytest.mark.parametrize("made", WRONG)
def test_a_mistake_is_told_at_the_call_of_the_program(made: str) -> None:
    found = errors_of(f"{HEAD}x = {made}\n")
    assert [(each.message, each.span.line) for each in found] == [(WRONG[made], HEAD.count("\n") + 1)]


RIGHT = (
    "for each, name in zip(plt.subplots(2, 2)[1].flat, 'abcd'):\n    each.set_title(name)",
    "for row in plt.subplots(2, 2)[1]:\n    for each in row:\n        each.plot([1], [2])",
    "(a, b), (c, d) = plt.subplots(2, 2)[1]\na.plot(np.zeros(5), np.zeros(5))",
    "plt.subplots(1, 1, subplot_kw={'projection': '3d'})[1].plot(np.zeros(5), np.zeros(5), np.zeros(5))",
    "plt.axes(projection='3d').scatter(np.zeros(5), np.zeros(5), np.zeros(5))",
    "ax.plot('x', 'y', data={'x': [1], 'y': [2]})",
    "ax.plot([1, 2], [3, 4], [5, 6])",
    "ax.scatter(np.zeros(5), np.zeros(5), 3, np.zeros(5))",
    "ax.bar(['a', 'b'], [1, 2], yerr=np.zeros((2, 2)))",
    "ax.errorbar([1, 2], [3, 4], yerr=[[1, 2], [3, 4]])",
    "ax.fill_between(range(5), 0, np.zeros(5), where=np.ones(5, bool))",
    "ax.boxplot([np.zeros(5), np.zeros(6)])",
    "ax.hist([np.zeros(5), np.zeros(6)], weights=[np.zeros(5), np.zeros(6)])",
    "ax.contour(np.zeros((4, 5)), 3)",
    "plt.imshow(plt.imread('a.png'))",
    "plt.nothing_of_this_kind(3).at_all()",
    "ax.plot(*np.zeros((2, 5)))",
    "n = int(input())\nplt.subplots(n, n)[1].plot([1], [2])",
)
"""Pictures that are drawn, or whose sizes only the numbers in the data decide."""


@pytest.mark.parametrize("made", RIGHT)
def test_what_the_model_does_not_know_is_no_mistake(made: str) -> None:
    assert not errors_of(f"{HEAD}{made}\n")
