"""What may be one of several is told of where every one of them fails, and known as far as they agree."""

from __future__ import annotations

import re
from itertools import product

import pytest

from interp.programs import errors_by_function, revealed

HEAD = """import inspect
import functools
import types
import numpy as np
import torch
from torch import nn

def flag():
    return len(np.array([1.0])) > UNSEEN

def given(rows, columns=2, *rest, depth=1, **more):
    return torch.zeros(rows, columns, depth)
"""
UNPACKED = [
    ("(1, 2)", "(3, 4)"),
    ("(1, {})", "(3, {})"),
    ("[1, 2]", "[2, 1]"),
    ("(1, 2)", "(1, 2, 3, 4)"),
    ("(1,)", "(1, 2, 3, 4)"),
    ("torch.zeros(2)", "torch.zeros(2, 4)"),
    ("torch.zeros(2, 3).shape", "torch.zeros(4, 5).shape"),
    ("(1, 2)", "(1, 2, 3)"),
    ("[1, 2]", "[1, 2, 3]"),
    ("(1, 2)", "UNSEEN"),
]


def _runs(text: str, name: str) -> bool:
    """Whether a function runs to its end for one answer of its condition at least."""
    for answer in (True, False):
        names: dict[str, object] = {"UNSEEN": (1, 2, 3)}
        exec(text, names)
        try:
            names[name](answer)  # type: ignore[operator]
        except (ValueError, TypeError):
            continue
        return True
    return False


@pytest.mark.requires("torch")
def test_none_of_several_can_be_unpacked() -> None:
    text = HEAD
    for place, (first, second) in enumerate(UNPACKED):
        text += f"\ndef f{place}(c):\n    v = {first} if c else {second}\n    a, b, d = v\n"
    found = errors_by_function(text)
    told = {name for name, errors in found.items() if any(error.code == "SHP306" for error in errors)}
    assert told == {f"f{place}" for place in range(len(UNPACKED)) if not _runs(text, f"f{place}")}


SPREAD = [
    ("*", "(3, 4)", "(3,)"),
    ("*", "(3, 4)", "(3, 4, 5)"),
    ("*", "[3]", "(3, 2)"),
    ("**", "dict(rows=3)", "dict(rows=3, columns=2)"),
    ("**", "dict(rows=3, depth=4)", "dict(rows=3)"),
    ("**", "{'rows': 5}", "{'rows': 5, 'name': 1}"),
    ("**", "{'columns': 5}", "{'columns': 5, 'rows': 1}"),
    ("*", "()", "(1,)"),
    ("*", "()", "(1, 2)"),
]


@pytest.mark.requires("torch")
def test_one_of_several_is_spread() -> None:
    """A call with `*v` or `**v` gives what it gives with each of the alternatives, but those with which it fails."""
    text = HEAD + "UNSEEN = 1\n"
    for place, (star, first, second) in enumerate(SPREAD):
        text += f"\ndef f{place}(c):\n    v = {first} if c else {second}\n    return given({star}v)\n"
    shapes: list[set[tuple[int, ...]]] = []
    names: dict[str, object] = {}
    exec(text, names)
    for place, answer in product(range(len(SPREAD)), (True, False)):
        shapes += [set()] if answer else []
        try:
            shapes[-1].add(tuple(names[f"f{place}"](answer).shape))  # type: ignore[operator]
        except TypeError:
            continue
    asked = text + "".join(f"\nreveal_shape(f{place}(UNKNOWN()))" for place in range(len(SPREAD)))
    told = [{tuple(map(int, re.findall(r"\d+", each))) for each in said.split(" | ")} for said in revealed(asked)]
    assert [each - {()} for each in told] == shapes


KINDS = """
nn.Linear
nn.Linear(2, 3)
nn.Linear(2, 3).forward
torch.zeros(2)
np.zeros(2)
np
len
int
1
2.5
None
'a'
(1, 2)
[1]
{}
Own
Own()
Own().method
Own.method
Derived(2, 3)
Derived
given
lambda: 1
functools.partial(given, 1)
decorated
""".split("\n")[1:-1]
QUESTIONS = "isclass isfunction ismethod isbuiltin isgenerator ismodule".split()
CLASSES = """

class Own:
    def method(self):
        return 1

class Derived(nn.Linear):
    pass

@functools.wraps(given)
def decorated(x):
    return x
"""


@pytest.mark.requires("torch")
def test_what_a_value_is() -> None:
    """`inspect` is answered as it answers, or left open."""
    text = HEAD + CLASSES + "UNSEEN = 1\n"
    asked = [f"inspect.{question}({kind})" for question, kind in product(QUESTIONS, KINDS)]
    names: dict[str, object] = {}
    exec(text, names)
    real = [str(eval(each, names)) for each in asked]
    told = revealed(text + "".join(f"\nreveal_shape({each})" for each in asked))
    wrong = [(one, *both) for one, *both in zip(asked, told, real, strict=True) if both[0] not in (both[1], "bool")]
    assert not wrong
    assert sum(each != "bool" for each in told) > 0.84 * len(told)
