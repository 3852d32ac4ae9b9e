"""Checks of the program's own, in programs that Hypothesis writes and that are run: what ends well has no SHP7 finding,
and what certainly ends in a check is found at the statement it ends in.

A program asks for a flag that distml does not know. It is run with each answer. A statement may stand in a `try`, a
manager that swallows or does not, a branch on the flag, a loop, a generator nobody consumes, a callback, a method.
"""

from __future__ import annotations

import os
import traceback
from collections import Counter
from random import Random
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interp.programs import errors_of

HEAD = """import contextlib
import os

import numpy as np

flag = os.environ.get("FLAG") == "1"


def even(n):
    assert n % 2 == 0, "even"
    return n


def fits(width, heads=4):
    if not (width % heads == 0 and width >= heads):
        raise ValueError(f"{width} by {heads}")
    return width


def square(x):
    rows, columns = x.shape
    if rows == columns:
        return x
    else:
        raise RuntimeError("square matrices only")


def given(holds, text):
    if not holds:
        raise TypeError(text)


def lengths(depths, widths):
    given(len(depths) == len(widths), "one width for each depth")
    return [fits(width) for width in widths]


class Layer:
    def __init__(self, width, heads=2):
        self.width = even(width)
        if width % heads:
            raise ValueError("heads")

    def __call__(self, x):
        assert x.shape[-1] == self.width
        return x


class Net:
    def __init__(self, *widths):
        self.layers = [Layer(width) for width in widths]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Holding:
    def __init__(self, swallows):
        self.swallows = swallows

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return self.swallows


@contextlib.contextmanager
def passing():
    yield


@contextlib.contextmanager
def catching():
    try:
        yield
    except Exception:
        pass


def later(run):
    yield run()


"""
CALLS = (
    "even({a})",
    "fits({a})",
    "fits({a}, heads={b})",
    "square(np.zeros(({a}, {b})))",
    "Layer({a}, {b})(np.zeros((2, {c})))",
    "Net({a}, {b})(np.zeros((3, {c})))",
    "lengths([{a}] * {b}, [{c}, 8])",
    "given({a} * {b} != {c} + 1, 'product')",
)
PLAIN = frozenset({"{call}", "with np.errstate(all='ignore'):\n    {call}", "with Holding(False):\n    {call}"}) | {
    "for turn in range({b}):\n    {call}",
    "try:\n    {call}\nexcept KeyError:\n    pass",
    "try:\n    {call}\nfinally:\n    flag = not flag",
    "def outer():\n    {call}\n\n\nouter()",
    "run = lambda: {call}\nrun()",
}
OTHER = (
    "if flag:\n    {call}",
    "flag and {call}",
    "try:\n    {call}\nexcept Exception:\n    pass",
    "try:\n    {call}\nexcept (AssertionError, ValueError):\n    flag = False",
    "with contextlib.suppress(Exception):\n    {call}",
    "with Holding(True):\n    {call}",
    "with Holding(flag):\n    {call}",
    "with passing():\n    {call}",
    "with catching():\n    {call}",
    "later(lambda: {call})",
    "made = map(lambda n: {call}, [1, 2])",
    "made = ({call} for turn in (1, 2))",
    "def never():\n    {call}",
    "async def waits():\n    {call}\n\n\nwaits().close()",
    "for turn in range(3):\n    if flag:\n        break\n    {call}",
)


def written(random: Random) -> tuple[str, dict[int, bool]]:
    """A program, and for each of its lines behind the head whether what stands there certainly runs, uncaught."""
    plain: dict[int, bool] = {}
    text = HEAD
    for _ in range(random.randint(2, 5)):
        certain = random.random() < 0.5
        frame = random.choice(sorted(PLAIN) if certain else OTHER)
        numbers = {name: random.choice((2, 3, 4, 6, 8)) for name in "abc"}
        piece = frame.replace("{call}", random.choice(CALLS)).format(**numbers)
        first = text.count("\n") + 1
        plain.update(dict.fromkeys(range(first, first + piece.count("\n") + 1), certain))
        text += piece + "\n"
    return text, plain


def ends_at(text: str, flag: str) -> int | None:
    """The line of the program's own text, behind the head, in which it ends; None if it ends well."""
    try:
        with mock.patch.dict(os.environ, {"FLAG": flag}):
            exec(compile(text, "<program>", "exec"), {"__name__": "__main__"})
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno or 0 for frame in frames if frame.filename == "<program>"]
        return [line for line in lines if line > HEAD.count("\n")][-1]
    return None


@pytest.mark.requires("numpy")
def test_what_ends_well_has_no_finding_and_what_ends_in_a_check_has_one() -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=80, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32))
    def holds(seed: int) -> None:
        text, plain = written(Random(seed))
        said = min((found.span.line for found in errors_of(text) if found.code.startswith("SHP7")), default=None)
        real = [ends_at(text, flag) for flag in "01"]
        dies = [line for line in real if line is not None]
        if said is not None:
            assert len(dies) == 2 and min(dies) <= said, (said, real, text)
        elif len(set(real)) == 1 and dies and all(plain[line] for line in dies):
            raise AssertionError(("missed", real, text))
        counts["found" if said is not None else "ran" if not dies else "open"] += 1

    holds()
    assert min(counts[kind] for kind in ("found", "ran")) > 4, counts


TWICE = """
import numpy as np

def splice(x, n):
    assert x.shape[-1] % n == 0
    return x

class Work:
    def run(self, k):
        {body}

    def other(self):
        self.run(4)

def main():
    Work().run(2)
{start}
"""


@pytest.mark.parametrize("body", ["splice(np.zeros((2, 5)), 3)", "[splice(np.zeros((2, 5)), 3) for _ in range(k)]"])
@pytest.mark.parametrize(("start", "code"), [("\nmain()", "SHP701"), ("", "SHP602")])
def test_one_mistake_is_told_once_at_the_call_where_it_is_certain(body: str, start: str, code: str) -> None:
    assert [each.code for each in errors_of(TWICE.format(body=body, start=start))] == [code]


REBUILT = """
import torch
import torch.nn as nn
import surgeon

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, width), nn.ReLU())

    def forward(self, x):
        return self.body(x)

class Cutter:
    def __init__(self, net):
        self.parts = {{name: part for name, part in net.named_modules()}}

    def cut(self):
        surgeon.cut(self.parts)

def cut_by(tool, net):
    tool.run(net)

def wash(net):
    for part in net.modules():
        surgeon.look(part)

def main():
    first, net = Net(4), Net(16)
    {body}
    assert {read} == 12

main()
"""
CUT = (
    "surgeon.cut(net)",
    "surgeon.cut(net.body)",
    "surgeon.cut(net.body[0])",
    "surgeon.cut(list(net.modules()))",
    "surgeon.Cutter(net).step()",
    "tool = surgeon.Cutter(); cut_by(tool, net)",
    "Cutter(net).cut()",
    "for each in surgeon.steps(net): each.run()",
    "wash(first); wash(net)",
    "net.apply(surgeon.cut)",
)
LEFT = (
    "",
    "net(torch.zeros(2, 8))",
    "net.eval()",
    "first.apply(lambda part: None)",
    "surgeon.cut(first); net = Net(16)",
)


@pytest.mark.parametrize("body", CUT + LEFT)
@pytest.mark.parametrize(
    ("read", "code"), [("net.body[0].out_features", "SHP701"), ("net.body[0].weight.shape[0]", "SHP602")]
)
def test_what_is_asserted_of_a_layer_is_what_code_that_is_not_followed_made_of_it(
    body: str, read: str, code: str
) -> None:
    found = errors_of(REBUILT.format(body=body or "pass", read=read))
    assert [each.code for each in found] == ([code] if body in LEFT else [])
