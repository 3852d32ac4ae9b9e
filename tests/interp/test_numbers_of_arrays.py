"""Numbers of arrays that become sizes: quotients, scaled, shifted, compared; what floats do not keep exact stays unknown."""

from __future__ import annotations

import numpy as np
import pytest

from interp.programs import revealed

SIZES = [
    "(np.atleast_1d(3) - 1) / 2 * np.atleast_1d(1)",
    "(np.atleast_1d((3, 5)) - 1) / 2 * np.atleast_1d(2)",
    "(np.atleast_1d([3, 7, 1]) - 1) / 2",
    "np.array([32, 48]) * 0.5",
    "np.array([32, 48]) / 4 + 1",
    "np.array([7, 9]) / 2 - 0.5",
    "1.5 * np.array([3, 5])",
    "np.array([3, 7]) * 0.1",
    "np.array([0.6, 0.3]) * 10",
    "np.array([7, 9]) % 4",
    "np.array([7, 9]) // 2 * 3",
    "np.atleast_1d(np.array([4, 6])) // 2",
]


@pytest.mark.parametrize("text", SIZES)
def test_sizes(text: str) -> None:
    known = [int(each) for each in eval(text, {"np": np})]
    assert revealed(f"import numpy as np\nreveal_shape([int(each) for each in {text}])\n") == [repr(known)]


@pytest.mark.parametrize(
    "text", ["np.array([3, 7]) * np.nan", "np.array([7, 9]) % np.array([2, 0])", "np.array([3, 4]) * n"]
)
def test_not_known(text: str) -> None:
    program = f"import random\nimport numpy as np\nn = random.random()\nreveal_shape([int(each) for each in {text}])\n"
    assert revealed(program) == ["[int int, int int]"]


@pytest.mark.parametrize(
    "text",
    ["np.prod(2) != 1", "np.prod(1) == 1", "np.prod((2, 3)) > 5", "np.sum([1, 2]) <= 2", "np.array([4, 2])[0] / 8 < 1"],
)
def test_branches(text: str) -> None:
    program = f"import numpy as np\nif {text}:\n    a = 1\nelse:\n    a = 2\nreveal_shape(a)\n"
    assert revealed(program) == ["1" if eval(text, {"np": np}) else "2"]


@pytest.mark.parametrize("text", ["np.random.rand() > 0.5", "np.array([1, 2]) == 1", "np.prod(np.zeros(3)) == 0"])
def test_undecided_branches(text: str) -> None:
    program = f"import numpy as np\nif ({text}).any():\n    a = 1\nelse:\n    a = 2\nreveal_shape(a)\n"
    assert revealed(program) == ["1 | 2"]
