"""Masked arrays: shapes as NumPy has them, no numbers, and no decision whether an array is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from distml.ops.numpy.masked import _MIRRORED
from distml.ops.registry import find_op

from interp.differential import compare_runs
from interp.programs import errors_of, revealed

HEAD = """
import numpy as np

x = np.arange(12.0).reshape(3, 4)
m = np.ma.masked_where(x % 5 == 0, x)
"""
SHAPES = [
    "m + np.ones(4)",
    "m.mean(axis=0)",
    "m.filled(0) @ np.ones((4, 2))",
    "m.count(axis=1)",
    "m.anom(axis=0)",
    "m[1:, ::2]",
    "m.T",
    "m.reshape(2, -1)",
    "np.ma.masked_array(x, mask=False).std(axis=1, keepdims=True)",
    "np.ma.MaskedArray(x, x > 3).sum(0)",
    "np.ma.stack([m[0], m[1]], axis=1)",
    "np.ma.median(m, axis=1)",
    "np.ma.corrcoef(m)",
    "np.ma.getmaskarray(m)",
    "np.ma.masked_all((2, 5))",
    "np.ma.average(m, axis=0, weights=[1, 2, 3])",
]


@pytest.mark.parametrize("asked", SHAPES)
@pytest.mark.filterwarnings("ignore")
def test_shapes_are_numpys(asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare_runs(f"{HEAD}reveal_shape(({asked}).shape)\n", tmp_path, monkeypatch)[1] == []


OPEN = {
    "isinstance(x, np.ma.MaskedArray)": "bool",
    "np.ma.isMaskedArray(m)": "bool",
    "hasattr(x, 'filled')": "bool",
    "hasattr(m, 'mask')": "bool",
    "m.mask": "unknown",
    "np.ma.array([1, 2, 3], mask=[0, 1, 0]).sum()": "ndarray[]",
    "m.compressed()": "ndarray[count]",
}


@pytest.mark.parametrize("asked", OPEN)
def test_what_a_mask_decides_is_open(asked: str) -> None:
    assert revealed(f"{HEAD}reveal_shape({asked})\n") == [OPEN[asked]]


@pytest.mark.parametrize("line", ["m + np.ones(3)", "np.ma.dot(m, np.ones(3))", "np.ma.vstack([m, np.ones(3)])"])
def test_what_fails(line: str) -> None:
    assert len(errors_of(f"{HEAD}{line}\n")) == 1


def test_what_is_mirrored_is_there() -> None:
    assert [name for name in _MIRRORED.split() if find_op(f"numpy.{name}") is None] == []
    assert [name for name in _MIRRORED.split() if not hasattr(np.ma, name)] == []
