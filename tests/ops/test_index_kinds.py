"""SHP309: what is no index, beside what the libraries and Python say."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from interp.programs import errors_of
from ops.index_forms import HEAD, MAKERS, indices, raised

RECORDED = Path(__file__).with_name("frameworks") / "index_forms.json"


def real(library: str) -> set[tuple[str, str]]:
    if library in ("numpy", "torch") and find_spec(library) is not None:
        return {(value, index) for value, index in raised(library)}
    return {(value, index) for value, index in json.loads(RECORDED.read_text("utf-8"))[library]}


@pytest.mark.requires("numpy", "torch")
@pytest.mark.parametrize("library", sorted(MAKERS))
def test_what_fails_is_found_and_nothing_else(library: str) -> None:
    cases = indices(library)
    program = f"{HEAD}\n{MAKERS[library][0]}\n" + "\n".join(f"_ = {value}[{index}]" for value, index in cases)
    first = program.partition("\n_ = ")[0].count("\n") + 2
    told = {cases[error.span.line - first]: error.code for error in errors_of(program)}
    # TensorFlow takes no array of integers either; with NumPy's behavior, which a program may ask for, it does.
    fails = {(value, index) for value, index in real(library) if "[0, 1], dtype=tf.int32" not in index}
    assert sorted(told.keys() - fails) == []
    assert sorted(fails - told.keys()) == []
    assert set(told.values()) == {"SHP309"}


QUIET = """
import numpy as np
import torch


def of_unknown(x, n, i: float, rows):
    half = n / 2
    table = {0.5: 1, (0, 1): 2}
    return x[half], x[: n / 2], x[i], rows[:, 0], table[0.5], table[0, 1], np.zeros(5)[n], torch.zeros(5)[rows]


def of_flags(flag, n):
    step = 2 if flag else 0.5
    rows = [[1, 2]] if flag else np.zeros((3, 2))
    return np.zeros(5)[step], rows[:, 0], rows[[0]]


class Row(list):
    def __getitem__(self, place):
        return place


try:
    [1, 2][0.5]
except TypeError:
    pass
Row([1, 2])[0, 1], Row([1, 2])[0.5]
np.zeros(5, dtype=[("a", int)])["a"]
np.zeros(5)[np.zeros(5, dtype=bool)], np.zeros(5)[[]], np.zeros((5, 2))[[0, 1], [1, 1]]
"""


def test_what_may_be_an_index_is_one() -> None:
    assert [str(error) for error in errors_of(QUIET)] == []
