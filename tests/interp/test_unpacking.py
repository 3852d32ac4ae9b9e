"""Unpacking what has a known number of items is a finding exactly where Python raises."""

from __future__ import annotations

from itertools import product

import pytest

from interp.programs import errors_of

HEAD = """import numpy as np
import torch

x = np.zeros((4, 3))
t = torch.zeros(4, 3)

def pairs(n):
    found = []
    for i in range(n):
        found.append((i, x))
    return found

def grown(items):
    items.append(x)
    return items

class Holder:
    def __init__(self):
        self.kept = [x, t]
"""
LISTS = [
    "[1, 2, 3]",
    "list((x, t))",
    "[x] + [t, t]",
    "[x] * 3",
    "sorted([3, 1, 2])",
    "[row.sum() for row in x]",
    "[size for size in x.shape]",
    "np.split(x, 2)",
    "np.split(x, [1, 2, 3], axis=1)",
    "x.tolist()",
    "t.tolist()[0]",
    "list(x.shape)",
    "list(t.size())[1:]",
    "pairs(3)",
    "grown([x, t])",
    "Holder().kept",
    "list(zip(x, t))",
    "list(range(3))[::-1]",
    "[[x, t], [t]][0]",
    "[*t.shape, 1]",
    "list({'a': x, 'b': t}.values())",
    "t.split(2)",
    "torch.unbind(t)",
    "x.shape",
]
TARGETS = ["a,", "a, b", "[a, b]", "a, b, c", "a, b, c, d", "a, *b", "a, b, c, *d", "*a, b, c, d, e"]


def raises(text: str) -> bool:
    """Whether Python raises for a program."""
    try:
        exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("given", LISTS)
def test_what_python_raises_for_is_found(given: str) -> None:
    for target, way in product(TARGETS, ["{0} = {1}\n", "for {0} in [{1}]:\n    pass\n", "[0 for {0} in [{1}]]\n"]):
        text = HEAD + way.format(target, given)
        assert [each.code for each in errors_of(text)] == ["SHP306"] * raises(text), (target, way)


@pytest.mark.parametrize(
    "text",
    [
        "def f(items):\n    a, b, c = items\nf",
        "items = [1, 2]\nunknown(items)\na, b, c = items",
        "items = [1, 2]\nif unknown():\n    items.append(3)\na, b, c = items",
        "items = []\nfor _ in unknown():\n    items.append(1)\na, b, c = items",
        "def f(items=[]):\n    a, b = items\nf(unknown())",
        "class A:\n    def __init__(self):\n        self.items = []\n    def use(self):\n        a, b = self.items\n",
        "try:\n    a, b = [1, 2, 3]\nexcept ValueError:\n    pass",
        "items = [1, 2]\nother = unknown.keep(items)\nother.more()\na, b, c = items",
    ],
)
def test_what_may_have_another_number_of_items_is_none(text: str) -> None:
    assert errors_of(f"import torch\nfrom elsewhere import unknown\n{text}\n") == []
