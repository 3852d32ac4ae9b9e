"""What a generator hands out, where the number of values depends on the path."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from interp.programs import errors_of, judge_running

HEAD = """import os
import numpy as np
flag0 = "flag0" in os.environ
flag1 = "flag1" in os.environ
turns0 = int(os.environ["turns0"])
"""
BLOCKS = (
    "if {flag}:\n{a}\nelse:\n{b}",
    "if {flag}:\n{a}",
    "for i in range(2):\n{a}",
    "for i in range(turns0):\n{a}",
    "for i in (1, 2, 3):\n    if {flag}:\n        break\n{a}",
    "try:\n{a}\nexcept KeyError:\n{b}",
    "if {flag}:\n    return",
    "while {flag}:\n{a}\n    break",
    "yield from (np.zeros({n}), np.ones({n}))",
    "yield from [np.ones({n}) for _ in range(turns0)]",
)


def _body(random: Random, depth: int = 0) -> list[str]:
    lines: list[str] = []
    for _ in range(random.randrange(1, 3)):
        if depth > 1 or random.random() < 0.5:
            lines.append(f"yield np.zeros({random.randrange(1, 3)})")
            continue
        parts = {name: "\n".join(f"    {line}" for line in _body(random, depth + 1)) for name in "ab"}
        flag = random.choice(("flag0", "flag1"))
        lines += random.choice(BLOCKS).format(flag=flag, n=random.randrange(1, 3), **parts).splitlines()
    return lines


def _program(seed: int) -> str:
    lines = [f"    {line}" for line in (*_body(Random(seed)), "yield np.zeros(3)")]
    return (
        f"{HEAD}def g():\n"
        + "\n".join(lines)
        + "\nfound = [np.zeros(5), *g()]\nn = np.zeros(len(found))\nlast = found[-1]\n"
    )


def test_as_many_values_as_a_path_hands_out() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(150):
        verdict = judge_running(_program(seed), ("n", "last"))
        kinds[verdict.kind] += 1
        assert verdict.kind in ("exact", "vague"), verdict
    assert kinds["exact"] > 40, kinds


UNPACKED = """
def pair(x):
    if x is None:
        yield 1
        yield 2
    else:
        yield 3
        yield 4
def some(x):
    yield 1
    if x:
        yield 2
def use(x):
    {}
"""


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("a, b = pair(x)", []),
        ("a, b = tuple(pair(x))", []),
        ("a, b, c = tuple(pair(x))", ["SHP306"]),
        ("a, b = tuple(some(x))", []),
        ("a, b = pair(None)", []),
    ],
)
def test_the_same_number_on_each_path_can_be_unpacked(line: str, codes: list[str]) -> None:
    assert [each.code for each in errors_of("import numpy as np\n" + UNPACKED.format(line))] == codes


GIVEN = (
    "def make(a, b):\n    return (x for x in (a, b))",
    "def make(a, b):\n    c = a\n    return (x * c.mean() for x in (c, b))",
    "def make(a, b):\n    return (i for i in (a, b)), None",
    "def make(a, b):\n    return map(lambda x: x + 1, (a, b))",
    "def make(a, b):\n    def inner():\n        yield a\n        yield b\n    return inner()",
)
LATER = (
    "def make(a, n):\n    g = (np.zeros(n) for x in (a, a))\n    n = 3\n    return g",
    "def make(a, n):\n    held = [n]\n    g = (np.zeros(held[0]) for x in (a, a))\n    held[0] = 3\n    return g",
    "def make(a, n):\n    g = (np.zeros(n) for x in (a, a))\n    n = 3\n    return g, n",
    (
        "class Maker:\n    def __call__(self, a, n):\n        self.n = n\n        g = (np.zeros(self.n) for x in (a, a))\n"
        "        self.n = 3\n        return g\nmake = Maker()"
    ),
)


@pytest.mark.parametrize("make", GIVEN)
def test_what_a_function_returns_to_be_made_later_is_known(make: str) -> None:
    made = "make(np.zeros(2), np.zeros(3))" + ("[0]" if "None" in make else "")
    program = f"import numpy as np\n{make}\nfirst, second = {made}\n"
    exec(program + "first + np.zeros(2)\nsecond + np.zeros(3)\n", {})
    assert errors_of(program + "first + np.zeros(2)\nsecond + np.zeros(3)\n") == []
    assert errors_of(program + "second + np.zeros(2)\n") != []


@pytest.mark.parametrize("make", LATER)
def test_what_its_variables_become_before_it_is_made_counts(make: str) -> None:
    made = "make(np.zeros(2), 2)" + ("[0]" if "g, n" in make else "")
    program = f"import numpy as np\n{make}\nfirst, second = {made}\nfirst + np.zeros(3)\n"
    exec(program, {})
    assert errors_of(program) == []
