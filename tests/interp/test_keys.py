"""Keys of dicts that are equal in several ways of writing: 1, True and 1.0, members of enumerations, tuples of them."""

from __future__ import annotations

from random import Random

import pytest

from interp.programs import judge_running

pytestmark = pytest.mark.requires("numpy")

HEAD = """
from collections import namedtuple
from enum import Enum, IntEnum
import numpy as np

class Level(IntEnum):
    LOW = 1
    HIGH = 2

class Name(str, Enum):
    A = "a"

class Bare(Enum):
    A = "a"

Point = namedtuple("Point", "x y")
d = {}
"""
KEYS = (
    *(
        "0",
        "1",
        "2",
        "True",
        "False",
        "1.0",
        "2.5",
        '"a"',
        'b"a"',
        "None",
        "Level.LOW",
        "Level.HIGH",
        "Name.A",
        "Bare.A",
        "...",
    ),
    *(
        "(1, 2)",
        "(True, 2.0)",
        "(Level.LOW, Level.HIGH)",
        "Point(1, 2)",
        "(1, (2, 'a'))",
        "(1.0, (2, Name.A))",
        "Point(True, 2)",
        "()",
    ),
)


@pytest.mark.parametrize("seed", range(40))
def test_dicts_of_mixed_keys(seed: int) -> None:
    random = Random(seed)
    lines = []
    for size in range(1, 13):
        kind, key = random.random(), random.choice(KEYS)
        if kind < 0.65:
            lines.append(f"d[{key}] = np.zeros({size})")
        elif kind < 0.8:
            lines.append(f"d.pop({key}, None)")
        else:
            lines.append(f"d.setdefault({key}, np.zeros({size}))")
    lines += ["last = np.zeros(len(d))", "first = np.zeros(99) if not d else d[next(iter(d))]"]
    program = HEAD + "\n".join(lines) + "\n"
    verdict = judge_running(program, ["last", "first"])
    assert verdict.kind == "exact", str(verdict)
    verdict = judge_running(program, [f"d.get({key}, np.zeros(77))" for key in KEYS])
    assert verdict.kind in ("exact", "vague"), str(verdict)
