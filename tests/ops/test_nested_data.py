"""Lists that become tensors, and drawing from a pool: beside what torch and NumPy do."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

pytestmark = pytest.mark.requires("numpy", "torch")

NESTED = (
    "[]",
    "[[], []]",
    "[[], [1]]",
    "[[1, 2], [3]]",
    "[[1, 2], (3, 4)]",
    "[[1, 2], range(2)]",
    "[[1, 2], [3, 4], [5]]",
    "[[[1], [2]], [[3]]]",
    "[[[1], [2]], [[3], [4, 5]]]",
    "[[1, 2], torch.zeros(2)]",
    "[[1, 2], torch.zeros(3)]",
    "[[1, 2], np.zeros(2)]",
    "[np.zeros(3), np.zeros(3)]",
    "[np.zeros(3), np.zeros(4)]",
    "[np.zeros((2, 3)), np.zeros((2, 3))]",
    "[torch.zeros(3), torch.zeros(3)]",
    "[torch.zeros(1), torch.zeros(1)]",
    "[torch.zeros(()), torch.zeros((1, 1))]",
    "[torch.zeros(2, 1), 3.0]",
    "[[torch.zeros(3)], [torch.zeros(3)]]",
    "[[torch.zeros(1), 2.0], [3.0, torch.zeros(1)]]",
    "[np.float64(1.0), 2.0]",
    "[torch.zeros(3).sum(), torch.zeros(3).mean()]",
)
MAKERS = ("torch.tensor({})", "torch.as_tensor({})", "torch.FloatTensor({})", "torch.zeros(2).new_tensor({})")
DRAWN = (
    "5, 10, replace=False",
    "5, 5, replace=False",
    "5, 10",
    "5, 3, p=[0.5, 0.5]",
    "5, 3, p=[0.2] * 5",
    "np.arange(5), 3, p=np.ones(4) / 4",
    "np.arange(5), 6, False",
    "[1, 2, 3], (2, 2), False",
    "[1, 2, 3], (3, 1), False",
    "['a', 'b'], 3, p=[0.2, 0.3, 0.5]",
    "['a', 'b'], 3, p=[0.2, 0.8]",
)
CALLS = [
    *(maker.format(nested) for maker in MAKERS for nested in NESTED),
    *(f"{owner}.choice({drawn})" for owner in ("np.random", "np.random.default_rng(0)") for drawn in DRAWN),
]


def test_what_fails_is_found_and_nothing_else() -> None:
    import numpy as np
    import torch

    fails = set()
    for call in CALLS:
        try:
            eval(call, {"np": np, "torch": torch})
        except Exception:
            fails.add(call)
    program = "import numpy as np\nimport torch\n" + "\n".join(CALLS)
    told = {CALLS[error.span.line - 3]: error.code for error in errors_of(program)}
    assert sorted(told.keys() - fails) == []
    assert sorted(fails - told.keys()) == []
    assert set(told.values()) == {"SHP203", "SHP308", "SHP502"}


def test_what_is_not_known_is_no_mistake() -> None:
    program = """
import numpy as np
import torch

def unknown(rows, n, pool):
    kept = [r for r in rows]
    np.random.choice(n, 10, replace=False)
    np.random.choice(pool, n, False, p=[0.5, 0.5])
    return torch.tensor(rows), torch.tensor(kept), torch.tensor([rows, [1, 2]]), torch.tensor([[1, 2], rows])
"""
    assert errors_of(program) == []
