"""Arrays made around an unknown one, and numbers made of unknown ones: what is learned of the new one is its own."""

from __future__ import annotations

import numpy as np
import pytest

from distml.shapes.symbol import MAX_NAME

from interp.programs import errors_of, revealed

AROUND = (
    "np.array([x])",
    "np.array([x, x])",
    "np.stack([x])",
    "x[None]",
    "np.expand_dims(x, 0)",
    "np.random.normal(x, size=(2, 3))",
)
LEARNED = ("y.ndim == {rank}", "len(y.shape) == {rank}", "y.shape == {shape}")


@pytest.mark.parametrize("learned", LEARNED)
@pytest.mark.parametrize("made", AROUND)
def test_what_is_learned_of_an_array_around_another_is_not_said_of_that(made: str, learned: str) -> None:
    for x in (np.ones(()), np.ones(3), np.ones((2, 3))):
        try:
            y = eval(made)
        except ValueError:
            continue
        test = learned.format(rank=y.ndim, shape=y.shape)
        lines = (
            f"    y = {made}",
            f"    if {test}:",
            "        reveal_shape(x)",
            f"        return np.array([x, np.ones({x.shape})])",
        )
        program = "\n".join(("import numpy as np", "def f(x):", *lines, ""))
        assert not errors_of(program)
        said = revealed(program)[0].partition("[")[2].removesuffix("]")
        sizes = [each for each in said.split(", ") if each]
        assert "..." in sizes or not sizes or len(sizes) == x.ndim, (said, x.shape)


def test_bounds_of_a_range_may_be_numbers_of_numpy() -> None:
    program = "import numpy as np\nn = np.min([100, {n}])\nfor i in {range}:\n    np.zeros(3) + np.zeros(4)\n"
    for text in ("range(n)", "range(n - 1, -1, -1)", "range(0, n)", "range(5, 5 + n)", "range(0, n, 2)"):
        assert not errors_of(program.format(n=0, range=text)), text
        assert errors_of(program.format(n=2, range=text)), text


def test_names_of_numbers_made_of_numbers_do_not_grow() -> None:
    program = (
        "import numpy as np\ndef f(n, k):\n    for _ in range(40):\n        n = max(n, k)\n        k = min(n, k + 1)\n"
    )
    said = revealed(f"{program}    reveal_shape(np.zeros((n, k)))\n")
    assert all(len(each) < 4 * MAX_NAME for each in said)
