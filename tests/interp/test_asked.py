"""An annotation yields to evidence: a parameter of which a function asks what only another library's arrays have is no
tensor of the library that the annotation names. The programs run with arrays of that other library.
"""

from __future__ import annotations

import ast

import numpy as np
import pytest

from distml.interp.asked import asked_of
from distml.ops.registry import find_attribute, find_op

from interp.programs import errors_of, shown

torch = pytest.importorskip("torch", reason="not run: needs torch")


def only(mine: type, other: type, cls: str) -> list[str]:
    """The names that one library's arrays have, the other's have not, and the rules know."""
    names = [name for name in dir(mine) if not name.startswith("_") and not hasattr(other, name)]
    names = [name for name in names if callable(getattr(mine, name))]
    return [name for name in names if find_op(f"{cls}.{name}") or find_attribute(f"{cls}.{name}")]


NUMPY_ONLY = only(np.ndarray, torch.Tensor, "numpy.ndarray")
TORCH_ONLY = only(torch.Tensor, np.ndarray, "torch.Tensor")
ASKING = ("a.NAME", "a[0].NAME", "a.sum(1).NAME", "b.NAME", "b[0, :1].NAME")
PROGRAM = """import numpy as np
import torch
from numpy import ndarray
from torch import Tensor


def look(x: CLAIMED):
    n, m, k = x.shape
    a = x[:, :2]
    b = DONE
    return ASKED
"""
BACKWARDS = "a[::-1]"
EXCHANGED = "a.transpose(0, 1)[0]"


def look(program: str, value: object) -> None:
    """Run the function of a program on a value."""
    names: dict[str, object] = {}
    exec(program, names)
    function = names["look"]
    assert callable(function)
    function(value)


@pytest.mark.parametrize("asked", ASKING)
@pytest.mark.parametrize("name", NUMPY_ONLY)
def test_numpy_behind_an_annotation_of_torch(name: str, asked: str) -> None:
    program = PROGRAM.replace("CLAIMED", "Tensor").replace("DONE", BACKWARDS)
    program = program.replace("ASKED", asked.replace("NAME", name))
    look(program, np.zeros((2, 3, 4)))
    assert [shown(finding) for finding in errors_of(program)] == []


@pytest.mark.parametrize("name", TORCH_ONLY[::6])
def test_torch_behind_an_annotation_of_numpy(name: str) -> None:
    program = PROGRAM.replace("CLAIMED", "ndarray").replace("DONE", EXCHANGED)
    program = program.replace("ASKED", f"hasattr(a.{name}, '__call__') or b[0]")
    look(program, torch.zeros(2, 3, 4))
    assert [shown(finding) for finding in errors_of(program)] == []


@pytest.mark.parametrize("asked", ["b", "b.shape", "a.sum(1)", "a.cpu().numpy().astype(int)", "x.nowhere", "len(b)"])
def test_without_evidence_the_annotation_is_believed(asked: str) -> None:
    program = PROGRAM.replace("CLAIMED", "Tensor").replace("DONE", "a.repeat(2)").replace("ASKED", asked)
    assert len(errors_of(program)) == 1


@pytest.mark.parametrize("asked", ["b", "b.shape", "a.sum(1)", "len(b)"])
def test_a_step_back_speaks_against_a_tensor(asked: str) -> None:
    program = PROGRAM.replace("CLAIMED", "Tensor").replace("DONE", BACKWARDS)
    assert errors_of(program.replace("ASKED", asked)) == []
    assert [finding.code for finding in errors_of(program.replace("ASKED", "a.cpu()"))] == ["SHP302"]


def test_without_evidence_an_annotation_of_numpy_is_believed() -> None:
    program = PROGRAM.replace("CLAIMED", "ndarray").replace("DONE", EXCHANGED).replace("ASKED", "b")
    assert len(errors_of(program)) == 1


def test_what_is_asked_is_followed_through_names() -> None:
    function = ast.parse(
        "def f(x, y):\n    a = x.one[0].two()\n    b = c = a(1).three\n    d = y.four\n    return b.five, d.six"
    )
    assert asked_of(function.body[0], "x") == {"one", "two", "three", "five"}
    assert asked_of(function.body[0], "y") == {"four", "six"}
