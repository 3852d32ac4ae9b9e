"""Work that modules do while they are imported is bounded, and costs no precision where that can be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.interp.check import CheckResult, check_file
from distml.source.project import Project

DOCUMENTING = """
def document(thing=None, intro=None):
    def apply(thing):
        return write_documentation(thing, intro)

    if thing:
        return apply(thing)
    return apply


def write_documentation(thing, intro):
    text = ""
    for word in thing.__doc__.split():
        for _ in range(200):
            if word:
                text += word
            else:
                text += intro
    thing.__doc__ = text
    return thing
"""

LISTING = """
import os

def structure(path):
    found = {}
    for name in os.listdir(path):
        for _ in range(250):
            if name:
                found[name] = structure(name)
    return found
"""

MODEL = """
import torch
from torch import nn
from documenting import document
from package import WIDTH


@document(intro="a model")
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(WIDTH, 4)

    @document
    def forward(self, x):
        return self.second(self.first(x))
"""


def check(folder: Path, name: str) -> CheckResult:
    project = Project(str(folder))
    return check_file(project.open(name), project)


def test_a_decorator_that_hands_back_what_it_was_given_is_not_followed_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "documenting.py").write_text(DOCUMENTING)
    (tmp_path / "package.py").write_text("WIDTH = 32\n")
    (tmp_path / "model.py").write_text(MODEL)
    result = check(tmp_path, str(tmp_path / "model.py"))
    assert [(d.code, d.span.line) for d in result.diagnostics] == [("SHP401", 17)]


def test_a_call_that_is_too_much_work_does_not_end_the_module_around_it(tmp_path: Path) -> None:
    (tmp_path / "documenting.py").write_text("def document(thing=None, intro=None):\n    return lambda thing: thing\n")
    (tmp_path / "listing.py").write_text(LISTING)
    (tmp_path / "package.py").write_text(
        "from listing import structure\nCONTENT = structure('.')\nMORE = structure('..')\nWIDTH = 32\n"
    )
    (tmp_path / "model.py").write_text(MODEL.replace("    @document\n", ""))
    result = check(tmp_path, str(tmp_path / "model.py"))
    assert [(d.code, d.span.line) for d in result.diagnostics] == [("SHP401", 16)]


def test_a_decorator_that_changes_the_class_is_not_taken_for_one_that_hands_it_back(tmp_path: Path) -> None:
    changing = DOCUMENTING.replace("thing.__doc__ = text", "thing.forward = lambda self, x: x")
    (tmp_path / "documenting.py").write_text(changing)
    (tmp_path / "package.py").write_text("WIDTH = 16\n")
    model = MODEL.replace("    @document\n", "") + "\n\nModel()(torch.zeros(2, 9))\n"
    (tmp_path / "model.py").write_text(model)
    result = check(tmp_path, str(tmp_path / "model.py"))
    assert result.diagnostics == ()


WORK = """
import atexit
import random
import torch

TABLE = {}


class Setter:
    def __setattr__(self, name, value):
        TABLE[name] = value
        super().__setattr__(name, value)

    @property
    def size(self):
        return len(TABLE)

    @size.setter
    def size(self, value):
        for _ in range(200):
            TABLE[value] = value


def fill(*given):
    for _ in range(200):
        for name in given:
            TABLE[name] = 1
    return TABLE


class Filling(dict):
    def __setitem__(self, name, value):
        fill(name)


held, filling = Setter(), Filling()
for each in range(3):
    IN_LOOP
AFTER
"""


@pytest.mark.parametrize(
    "rest",
    [
        "atexit.register(fill)",
        "atexit.register(lambda: fill(1))",
        "atexit.register(held.__setattr__)",
        "held.size = 3",
        "held.other = fill",
        "filling[fill] = 2",
        "fill(fill)",
        "found = [fill(each) for each in TABLE]",
        "TABLE.update(size=fill)",
    ],
)
@pytest.mark.parametrize("in_loop", [True, False])
def test_what_is_left_when_the_work_is_spent_takes_no_more_work(
    tmp_path: Path, rest: str, in_loop: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distml.interp.machine.MAX_STEPS", 200)
    work = "x = 1\n    " * 300
    text = WORK.replace("IN_LOOP", work + rest if in_loop else "pass").replace("AFTER", work.replace("    ", "") + rest)
    (tmp_path / "work.py").write_text(text)
    result = check(tmp_path, str(tmp_path / "work.py"))
    assert result.diagnostics == ()
    assert any("too much work" in lost.reason for lost in result.lost)
