"""`hasattr`, `getattr` with a default and `callable` where the program's own code answers, as Python does."""

from __future__ import annotations

from pathlib import Path

import pytest

from interp.differential import compare_runs
from interp.programs import errors_of

CLASSES = """
from functools import partial

import torch
from torch import nn


class Plain:
    pass


class Asked:
    def __init__(self):
        self.own = 3

    def __getattr__(self, name):
        if name == "made":
            return 7
        raise AttributeError(name)

    def __call__(self):
        return 1


class Known:
    @property
    def present(self):
        return 4

    @property
    def absent(self):
        raise AttributeError("absent")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        if not hasattr(self, "held"):
            self.held = {"made": 5}

    def __getattr__(self, name):
        if "held" in self.__dict__ and name in self.__dict__["held"]:
            return self.held[name]
        raise AttributeError(name)


def default(value, other):
    return value if value is not None else other() if not isinstance(other, nn.Module) and callable(other) else other


plain, asked, known, net = Plain(), Asked(), Known(), Net()
"""
VALUES = ("plain", "asked", "known", "net")
NAMES = ("own", "made", "present", "absent", "held", "nowhere")
THINGS = (*VALUES, "Plain", "default", "lambda: 3", "3", "'a'", "None", "(1, 2)", "[1]", "{}", "slice(3)")
THINGS += ("partial(default, 3)", "torch.zeros(2)", "nn.Linear(2, 3)")


@pytest.mark.parametrize("value", VALUES)
def test_what_has_no_attribute_is_asked_for_one_without_ending_the_program(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "".join(
        f"reveal_shape(hasattr({value}, {name!r}))\nreveal_shape(getattr({value}, {name!r}, 9) == 9)\n"
        for name in NAMES
    )
    assert compare_runs(CLASSES + asked, tmp_path, monkeypatch)[1] == []


def test_what_is_called_callable_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "".join(
        f"reveal_shape(callable({thing}))\nreveal_shape(isinstance({thing}, nn.Module))\n" for thing in THINGS
    )
    asked += "reveal_shape(default(None, 0))\nreveal_shape(default(None, lambda: 5))\nreveal_shape(default(4, None))\n"
    assert compare_runs(CLASSES + asked, tmp_path, monkeypatch)[1] == []


def test_a_mode_that_only_other_code_sets_is_no_crash() -> None:
    program = """
import numpy as np
import pandas as pd

def prepare(data):
    data.training = 1

df = pd.DataFrame({"a": [1, 2]})
unknown(df)
df.values + np.zeros((3, 4))
"""
    assert errors_of(program) == []
