"""A slice of a sequence is of the sequence's class: a tuple is several indices of an array, a range or a list is one."""

from __future__ import annotations

import contextlib

import pytest

from interp.programs import errors_of, shown

SEQUENCES = (
    "range(4)",
    "range(6, 0, -2)",
    "range(n, n + 3)",
    "range(len(given))",
    "(0, 1, 2)",
    "[0, 1, 2]",
    "tuple(range(n))",
)
SLICES = ("", "[:2]", "[1:]", "[::2]", "[-2:]", "[5:]", "[n - 2 :]", "[1:][:1]")
USES = (
    "np.zeros(10)[TAKEN]",
    "np.zeros((5, 6, 7))[TAKEN]",
    "torch.zeros(7)[TAKEN]",
    "torch.zeros(7, 8)[TAKEN].sum(-1)",
    "np.zeros((2, 3)) @ np.zeros((4 if isinstance(TAKEN, tuple) else 3, 4 if isinstance(TAKEN, range) else 3))",
    "np.zeros((2, len(TAKEN))) @ np.zeros((len(TAKEN), 1))",
    "np.zeros((2, len(TAKEN))) @ np.zeros((len(list(TAKEN)), 1))",
)


HEAD = "import numpy as np\nimport torch\n\ngiven = [4, 5, 6]\nn = 3\n"


@pytest.mark.requires("torch")
@pytest.mark.parametrize("sequence", SEQUENCES)
def test_what_is_sliced_keeps_its_class(sequence: str) -> None:
    wrong = []
    for use in (use.replace("TAKEN", sequence + part) for use in USES for part in SLICES):
        with contextlib.suppress(Exception):
            exec(HEAD + use, {})
            wrong += [f"{use}: {shown(each)}" for each in errors_of(HEAD + use)]
    assert wrong == []


def test_a_slice_of_a_tuple_is_several_indices() -> None:
    assert [each.code for each in errors_of(HEAD + "np.zeros(10)[(0, 1, 2)[1:]]")] == ["SHP303"]


DRAWN = """import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

data, rng = torch.zeros(90), np.random.default_rng(0)


class Windows(Dataset):
    def __len__(self):
        return LAST + 1

    def __getitem__(self, i):
        return data[i : i + 16]


def use(window):
    return window + torch.zeros(15)


"""
WAYS_TO_DRAW = (
    "i = random.randint(0, LAST)\nuse(data[i : i + 16])",
    "i = random.randrange(LAST + 1)\nuse(data[i : i + 16])",
    "i = random.randrange(0, LAST + 1)\nuse(data[slice(i, i + 16)])",
    "i = np.random.randint(0, LAST + 1)\nuse(data[i : i + 16])",
    "i = rng.integers(LAST + 1)\nuse(data[i : i + 16])",
    "i = rng.integers(0, LAST, endpoint=True)\nuse(data[i : i + 16])",
    "i = torch.randint(0, LAST + 1, (1,)).item()\nuse(data[i : i + 16])",
    "i = int(torch.randint(LAST + 1, ()))\nuse(data[i : i + 16])",
    "for i in range(LAST + 1):\n    x = data[i : i + 16]\nuse(x)",
    "for x in DataLoader(Windows(), batch_size=3):\n    use(x)",
    "for x in DataLoader(Windows(), batch_size=3, shuffle=True):\n    use(x[0])",
    "def run(data):\n    i = random.randrange(len(data) - 16 + LAST - 73)\n    use(data[i : i + 16])\nrun(torch.zeros(90))",
)


@pytest.mark.parametrize("way", WAYS_TO_DRAW)
def test_a_number_that_is_drawn_lies_below_the_end(way: str) -> None:
    """Windows that begin at 74 of 90 or before are whole; of those behind it the last may fit by chance."""
    whole, cut = (DRAWN.replace("LAST", last) + way.replace("LAST", last) for last in ("74", "75"))
    with pytest.raises(RuntimeError):
        exec(whole, {})
    assert len(errors_of(whole)) == 1
    assert errors_of(cut) == []
