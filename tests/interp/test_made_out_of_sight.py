"""Objects that a constructor out of sight makes: class data is only what they begin with.

Each program runs for real. A shape that distml knows is the real one, and nothing is found. Made without arguments an object
is held to be as its class says, although a constructor may have values of its own.
"""

from __future__ import annotations

from itertools import product

import pytest

from interp.programs import judge_running, revealed

pytestmark = pytest.mark.requires("torch")

KEYWORDS = ("size=4", "**{'size': 4}", "**json.loads('{\"size\": 4}')", "other=1, size=4", "other=1", "")
BASES = (
    ("argparse.Namespace", KEYWORDS),
    ("types.SimpleNamespace", KEYWORDS),
    ("eval('argparse.Namespace')", KEYWORDS),
    ("logging.Handler", ("4", "*[4]")),  # its `level`
)
CLASSES = (
    "class Made({base}):\n    size = level = 3\n",
    "class Between({base}):\n    size = level = 3\n\n\nclass Made(Between):\n    pass\n",
    (
        "class Made({base}):\n    size = level = 3\n\n    def __init__(self, *args, **kwargs):\n"
        "        super().__init__(*args, **kwargs)\n"
    ),
    "class Mixed:\n    size = level = 3\n\n\nclass Made(Mixed, {base}):\n    pass\n",
)
PROGRAMS = [
    f"import argparse\nimport json\nimport logging\nimport types\nimport torch\n\n\n{cls.format(base=base)}\n\n"
    f"made = Made({given})\nx = torch.zeros(made.size, made.level)\n"
    for (base, ways), cls in product(BASES, CLASSES)
    for given in ways
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_a_constructor_out_of_sight_sets_is_not_class_data(program: str) -> None:
    verdict = judge_running(program, ["x"])
    assert verdict.kind in ("exact", "vague"), verdict


@pytest.mark.parametrize("base", ["argparse.Namespace", "unseen.Settings"])
def test_what_it_is_not_given_is_as_the_class_says(base: str) -> None:
    module = base.partition(".")[0]
    program = (
        f"import {module}\nimport torch\n\n\nclass Made({base}):\n    size = 3\n\n    def rows(self):\n"
        "        reveal_shape(torch.zeros(self.size))\n\n\nreveal_shape(torch.zeros(Made(other=4).size))\n"
    )
    assert revealed(program) == ["Tensor[3]", "Tensor[3]"]
