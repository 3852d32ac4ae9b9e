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
