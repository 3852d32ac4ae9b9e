"""What is changed in place is changed for every name of the object, and what is given back is that object."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.growing import arrays, grow
from interp.programs import judge_running

pytestmark = pytest.mark.requires("torch")

ARGUMENTS = (
    "", "0", "1", "0, 1", "2, 3", "0.5", "0.1, 0.9", "torch.ones(3, 4)", "torch.ones(1, 4), torch.ones(3, 4)", "0, 1, 1.0",
    "torch.ones(3, 4), torch.ones(3, 4)", "torch.ones(3, 3), torch.ones(3, 4)", "torch.ones(3), torch.ones(4)", "torch.ones(3)",
    "torch.ones(3, 4, dtype=torch.bool), 2.0", "torch.ones(3, 4, dtype=torch.bool), torch.ones(12)", "(2, 2), (1, 1)",
    "0, torch.tensor([0, 1]), torch.ones(2, 4)", "0, torch.tensor([0, 1]), 2.0", "0, torch.zeros(3, 4, dtype=torch.long), 2.0",
    "0, torch.zeros(3, 4, dtype=torch.long), torch.ones(3, 4)", "torch.tensor([0, 1]), torch.ones(2)", "torch.zeros(4, 3)",
    "0, torch.zeros(3, 4, dtype=torch.long), torch.ones(3, 4), 'sum'", "0, torch.tensor([0, 1]), torch.ones(2, 4), 'mean'",
    "(torch.tensor([0]), torch.tensor([1])), torch.tensor([5.0])", "2, 0, 1", "torch.ones(3, 4), lambda a, b: a", "lambda a: a",
)  # fmt: skip
"""One of these fits every method that works in place."""
TENSORS = ("torch.ones(3, 4)", "torch.ones(3, 4, dtype=torch.int64)", "torch.ones(3, 3)", "torch.ones(1, 3, 1)")


def _methods() -> list[str]:
    import torch

    return [n for n in dir(torch.Tensor) if n.endswith("_") and not n.startswith("_")]


def _call(name: str) -> str | None:
    """Two lines that make a tensor and call a method of it, and run."""
    import torch

    for tensor in TENSORS:
        for arguments in ARGUMENTS:
            lines = f"x = {tensor}\ny = x\nz = [x]\nresult = x.{name}({arguments})\n"
            try:
                exec(lines, {"torch": torch})
            except Exception:
                continue
            return lines
    return None


def test_every_method_that_works_in_place() -> None:
    wrong, called = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in _methods():
            lines = _call(name)
            if lines is None or "share" in name:
                continue
            called += 1
            verdict = judge_running(f"import torch\n{lines}z = z[0]\n", ["x", "y", "z", "result"])
            if verdict.kind not in ("exact", "vague"):
                wrong.append(str(verdict))
    assert called > 120
    assert not wrong, "\n".join(wrong)


def test_every_function_with_out() -> None:
    import torch

    wrong, called = [], 0
    for name in sorted(n for n in dir(torch) if "out=" in str(getattr(torch, n).__doc__)):
        for first in ("torch.ones(3, 3), ", "torch.ones(3, 4), ", "[torch.ones(3, 4)], ", ""):
            for arguments in ARGUMENTS:
                call = f"torch.{name}({first}{arguments}, out=o)".replace(", ,", ",")
                lines = f"o = torch.empty(0)\ny = o\nresult = {call}\nresult.unsqueeze_(0)\n"
                try:
                    exec(lines, {"torch": torch})
                except Exception:
                    continue
                break
            else:
                continue
            called += 1
            verdict = judge_running("import torch\n" + lines, ["o", "y", "result"])
            if verdict.kind not in ("exact", "vague"):
                wrong.append(str(verdict))
            break
    assert called > 80, called
    assert not wrong, "\n".join(wrong)


CHANGES = (
    "{}.unsqueeze_(0)", "{}.t_()", "{}.squeeze_()", "{}.transpose_(0, 1)", "{}.resize_(2, 6)", "{}.swapaxes_(0, -1)",
    "{}.resize_as_(b)", "{}.data = c", "{}.set_(d)", "{}.add_(1)", "{}.unsqueeze_(0).transpose_(1, 2)", "{}.squeeze_(0).mul_(2)",
    "{}.shape = (2, 6)", "{}.resize((6, 2), refcheck=False)", "{}.zero_().unsqueeze_(-1)", "grow({})", "box.keep({})",
    "{}.contiguous().unsqueeze_(0)", "keep({}).squeeze_()",
)  # fmt: skip
NAMES = (
    "{new} = {old}", "{new} = {old}.contiguous()", "{new} = keep({old})", "{new} = grow({old})", "{new} = [{old}][0]",
    "{new} = {{'k': ({old}, 1)}}['k'][0]", "{new} = {old} if flag() else {other}", "{new} = box.held",
    "{new} = {old}.reshape(-1)",
    "{new} = torch.relu({old})", "{new} = np.asarray({old})", "{new} = {old}.clone()", "{new} = torch.add({old}, 1, out=e)",
    "{new} = {old}.float()", "{new} = torch.as_tensor({old})", "{new} = max([{old}, {other}], key=len)",
)  # fmt: skip
PRELUDE = """import numpy as np
import torch
flag = eval("lambda: True")
def keep(value): return value
def grow(value):
    value.unsqueeze_(0)
    return value
class Box:
    def __init__(self, value): self.held = value
    def keep(self, value):
        self.held = value
        value.unsqueeze_(0)
a = torch.ones(3, 4)
b = torch.ones(3, 4)
c = torch.ones(5, 2)
d = torch.ones(4, 3)
e = torch.empty(0)
f = np.ones((3, 4))
box = Box(torch.ones(2, 2))"""


def _change(random: Random, names: Any, new: str) -> str:
    return random.choice(CHANGES).format(random.choice(names))


def _name(random: Random, names: Any, new: str) -> str:
    return random.choice(NAMES).format(new=new, old=random.choice(names), other=random.choice(names))


def program(random: Random) -> tuple[str, list[str]]:
    """A program that runs, and the names that hold arrays at its end."""
    text, known = grow(random, PRELUDE, "abcdef", [_change, _change, _name], 14)
    return text, arrays(text, known)


@settings(max_examples=60)
@given(st.integers(0, 10**9))
def test_every_name_sees_the_change(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = judge_running(*program(Random(seed)))
    assert verdict.kind in ("exact", "vague"), str(verdict)


@pytest.mark.parametrize("steps", [1, 63, 64, 65, 200])
def test_a_tensor_that_may_be_one_of_many(steps: int) -> None:
    """Each step may give its argument back, so after some of them there are too many objects to tell apart."""
    text = PRELUDE + "\ng = a\n" + "g = g.contiguous()\n" * steps + "h = g.unsqueeze_(0)\n"
    verdict = judge_running(text, list("abcdgh"))
    assert verdict.kind in ("exact", "vague"), str(verdict)
