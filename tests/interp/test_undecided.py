"""Programs whose mistakes stand behind conditions that nothing decides, run for real in several environments.

What stands there would fail, and is never reached. A program that ends well in every environment has no finding.
The same mistakes without a guard are found, so that silence is no accident.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
from collections.abc import Iterator
from random import Random
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interp.programs import Verdict, errors_of, run, shown

IMPORTS = """\
import contextlib
import importlib.util
import inspect
import keyword
import numbers
import os
import sys
from typing import NoReturn, Optional

import numpy as np
import torch
"""

MISTAKES = [
    "np.ones((2, 3)) @ np.ones((2, 3))",
    "torch.zeros(2, 3).reshape(4, 4)",
    "torch.cat([torch.zeros(2, 3), torch.zeros(2)], dim=1)",
    "np.concatenate([np.zeros((2, 3)), np.zeros((2, 3, 1))])",
    "torch.nn.Linear(4, 5)(torch.zeros(2, 3))",
    "np.zeros((2, 3)) + np.zeros((3, 3))",
    "torch.stack([torch.zeros(2), torch.zeros(3)])",
    "np.transpose(np.zeros((2, 3)), (0, 1, 2))",
]
WITH_ARGUMENT = [
    "torch.cat([torch.zeros(2, 3), v], dim=1)",
    "torch.zeros(2, 3) @ v",
    "np.concatenate([np.zeros((2, 3)), v])",
    "np.zeros((2, 3)) + v",
    "np.expand_dims(v, 3)",
    "torch.sum(v, dim=3)",
    "torch.nn.functional.linear(torch.zeros(2, 3), v)",
]
TRUE_HERE = [
    "len(sys.argv) < 9",
    'os.environ.get("NOT_SET_HERE") is None',
    '"NOT_SET_HERE" not in os.environ',
    'not os.path.exists("/not/there")',
    'importlib.util.find_spec("not_there") is None',
    "not (sys.argv[9:])",
    'os.getenv("NOT_SET_HERE", "") == ""',
    "os.getpid() > 0",
    '"NOT_SET_HERE" not in os.environ and len(sys.argv) < 9',
    'not keyword.iskeyword("name")',
    "inspect.ismodule(sys)",
]
EXITS = ["sys.exit()", "sys.exit(0)", "raise SystemExit", "raise SystemExit(0)", "quit()", "leave()", "give_up()"]
HELPERS = """\
def leave() -> NoReturn:
    raise SystemExit


def give_up():
    print("nothing to do")
    sys.exit(0)
"""
VALUES = [
    "None",
    "...",
    '"text"',
    "[0, 1]",
    "(0, 1)",
    "{}",
    "np.zeros(5)",
    "torch.zeros(2, 3)",
    "3",
    "object",
    "np.float64(1)",
]
NEVER = [
    "inspect.isclass(v) and inspect.isgeneratorfunction(v)",
    "inspect.isabstract(v)",
    'hasattr(v, "no_such_attribute")',
    'callable(getattr(v, "no_such_method", None))',
    "isinstance(v, contextlib.ExitStack)",
    "isinstance(v, numbers.Rational) and v > 7",
    "inspect.iscoroutine(v)",
    'getattr(v, "no_such_attribute", None) is not None',
]
ANNOTATIONS = [
    "torch.Tensor",
    "np.ndarray",
    "int",
    "str",
    "tuple[int, int]",
    "Optional[torch.Tensor]",
    "list",
    "float",
    "bool",
]
TESTS = [
    ("isinstance(v, torch.Tensor)", "torch.zeros(2, 3)", "None"),
    ("isinstance(v, (list, tuple))", "[1, 2]", "torch.zeros(2)"),
    ("v is None", "None", "3"),
    ('hasattr(v, "items")', "{}", "None"),
    ('hasattr(v, "shape")', "np.zeros(3)", "[1]"),
    ("isinstance(v, np.ndarray)", "np.zeros(3)", "np.zeros(3).sum()"),
    ("isinstance(v, int)", "3", "(1, 2, 3)"),
    ("callable(v)", "len", "None"),
    ("isinstance(v, (tuple, list)) and len(v) == 3", "(1, 2, 3)", "(1, 2)"),
]

ABANDONED = [
    """\
NAMEs = np.zeros((2, 3))


def NAME(n):
    global NAMEs
    if n:
        return NAME(n - 1)
    NAMEs = np.zeros((3, 2))


NAME(LAST)
print((np.zeros((2, 3)) @ NAMEs).shape)""",
    """\
NAMEs = [np.zeros((2, 3))]


def NAME(n):
    if n:
        return NAME(n - 1)
    NAMEs[0] = np.zeros((3, 2))


NAME(LAST)
print((np.zeros((2, 3)) @ NAMEs[0]).shape)""",
    """\
def NAME():
    x = np.zeros((2, 3))

    def inner(n):
        nonlocal x
        if n:
            return inner(n - 1)
        x = np.zeros((3, 2))

    inner(LAST)
    return np.zeros((2, 3)) @ x


NAME()""",
    """\
class NAME:
    def __init__(self):
        self.w = np.zeros((2, 3))

    def grow(self, n):
        if n:
            return self.grow(n - 1)
        self.w = np.zeros((3, 2))


NAMEs = NAME()
NAMEs.grow(LAST)
print((np.zeros((2, 3)) @ NAMEs.w).shape)""",
    """\
NAME = np.zeros((2, 3))
for i in range(LAST00):
    if i == LAST00 - 1:
        NAME = np.zeros((3, 2))
print((np.zeros((2, 3)) @ NAME).shape)""",
]


class Guards:
    """Writes one program: pieces of code, each of which holds a mistake back."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.serial = 0

    def program(self) -> str:
        """Two to four pieces; an exit only at the end, since nothing comes after it."""
        pieces = [self.piece() for _ in range(self.random.randint(1, 3))]
        if self.random.random() < 0.6:
            pieces.append(self.behind_exit())
        return "\n\n".join([IMPORTS, HELPERS, *pieces, ""])

    def one(self, options: list[str]) -> str:
        return self.random.choice(options)

    def name(self) -> str:
        self.serial += 1
        return f"piece{self.serial}"

    def piece(self) -> str:
        kinds = [
            self.behind_return,
            self.behind_predicate,
            self.behind_default,
            self.behind_annotation,
            self.behind_property,
        ]
        return self.random.choice(kinds)()

    def behind_exit(self) -> str:
        condition, leave, mistake = self.one(TRUE_HERE), self.one(EXITS), self.one(MISTAKES)
        forms = [
            f"if {condition}:\n    {leave}\n{mistake}",
            f"if not ({condition}):\n    {mistake}\nelse:\n    {leave}",
            f"def main():\n    if {condition}:\n        {leave}\n    {mistake}\n\n\nmain()",
            f"def ask():\n    if {condition}:\n        {leave}\n\n\nask()\n{mistake}",
            f"try:\n    import not_there\nexcept ImportError:\n    {leave}\n{mistake}",
            f"for step in range(3):\n    if {condition}:\n        {leave}\n    {mistake}",
        ]
        return self.random.choice(forms)

    def behind_return(self) -> str:
        name, condition, mistake = self.name(), self.one(TRUE_HERE), self.one(MISTAKES)
        forms = [
            f"def {name}():\n    if {condition}:\n        return None\n    {mistake}\n\n\n{name}()",
            f"def {name}(flag):\n    if flag:\n        return 1\n    return {mistake}\n\n\n{name}({condition})",
            f"if not ({condition}):\n    {mistake}",
            f"{name} = None if {condition} else {mistake}",
            f"def {name}():\n    return None if {condition} else {mistake}\n\n\n{name}()",
        ]
        return self.random.choice(forms)

    def behind_predicate(self) -> str:
        name, condition = self.name(), self.one(NEVER)
        body = self.one([*MISTAKES, *WITH_ARGUMENT])
        calls = "\n".join(f"{name}({value})" for value in self.random.sample(VALUES, 3))
        return f"def {name}(v):\n    if {condition}:\n        return {body}\n    return v\n\n\n{calls}"

    def behind_default(self) -> str:
        name, condition, body = self.name(), self.one([*NEVER, "v is not None", "v"]), self.one(WITH_ARGUMENT)
        empty = self.one(["None", "..."]) if condition in NEVER else "None"
        return f"def {name}(x, v={empty}):\n    return {body} if {condition} else x\n\n\n{name}(torch.zeros(2, 3))"

    def behind_annotation(self) -> str:
        name, mistake, annotation = self.name(), self.one(MISTAKES), self.one(ANNOTATIONS)
        condition, holds, fails = self.random.choice(TESTS)
        default = self.one(["", " = None"])
        head = f"def {name}(v: {annotation}{default}):\n"
        if self.random.random() < 0.5:
            return f"{head}    if {condition}:\n        return v\n    {mistake}\n\n\n{name}({holds})"
        return f"{head}    if not ({condition}):\n        return v\n    {mistake}\n\n\n{name}({fails})"

    def behind_property(self) -> str:
        name, body = self.name().title(), self.one(WITH_ARGUMENT).replace("v", "self.v")
        way = self.one(
            ["self.__dict__.update(options)", "for key in options:\n            setattr(self, key, options[key])"]
        )
        lines = [
            f"class {name}:",
            "    wanted = False",
            "    def __init__(self, **options):",
            "        self.v = None",
            f"        {way}",
            "    def run(self, x):",
            "        if self.wanted:",
            f"            return {body}",
            "        return x",
            f"\n\n{name}(wanted={self.one(['False', '0', 'len(sys.argv) > 9'])}).run(torch.zeros(2, 3))",
        ]
        return "\n".join(lines)

    def behind_budget(self) -> str:
        """What changes in a call that is nested too deeply, or a loop that is too long, to be followed."""
        text = self.one(ABANDONED).replace("LAST", str(self.random.randint(50, 90)))
        return text.replace("NAME", self.name())


def environments() -> Iterator[tuple[list[str], dict[str, str]]]:
    """The arguments and variables that a program may be run with."""
    for arguments in (["program.py"], ["program.py", "3"], ["program.py", "a", "b"]):
        for variables in ({}, {"GO": "1"}):
            yield arguments, variables


def judge(program: str) -> Verdict:
    """A program that ends well everywhere must have no finding."""
    for arguments, variables in environments():
        with mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(io.StringIO()):
            try:
                end = run(program, variables, lambda value: value)
            except SystemExit as left:
                assert not left.code, program
                end = None
        if end is not None:
            return Verdict("other", f"line {end[1]}: {end[0]}", program)
    found = errors_of(program)
    return Verdict("false alarm", shown(found[0]), program) if found else Verdict("silent", "", program)


@pytest.fixture(autouse=True)
def present() -> None:
    if importlib.util.find_spec("numpy") is None or importlib.util.find_spec("torch") is None:
        pytest.skip("needs numpy and torch")


@pytest.mark.requires("numpy", "torch")
@pytest.mark.filterwarnings("ignore")
def test_what_is_never_reached_is_never_reported() -> None:
    judged: list[str] = []

    @settings(max_examples=150, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32))
    def examine(seed: int) -> None:
        verdict = judge(Guards(Random(seed)).program())
        assert verdict.kind == "silent", verdict
        judged.append(verdict.kind)

    examine()
    assert len(judged) > 100


@pytest.mark.requires("numpy", "torch")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_same_mistakes_are_found_where_nothing_guards_them(mistake: str) -> None:
    assert errors_of(f"{IMPORTS}{mistake}\n")
