"""What is taken from an iterator is gone for everyone who holds it, and nothing else is.

Programs share an iterator among the built-ins and tools that draw from it, eager and lazy ones, in any order. Python runs
them for real; where the analysis believes in another number of items or another sum than Python counts, two matrices of
these sizes do not fit, which is a finding.
"""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from interp.programs import errors_of, shown

TAKING = (
    "list(it)",
    "list(zip(it, it))",
    "list(zip_longest(it, it, fillvalue=1))",
    "list(zip_longest(*[it] * 3, fillvalue=1))",
    "list(zip(it, [5, 6], it))",
    "list(zip([5, 6], it))",
    "list(zip(it, [5, 6]))",
    "list(map(add, it, it))",
    "list(islice(it, 2))",
    "list(islice(it, 1, 3))",
    "[next(it, 1)]",
    "[x for x in it]",
    "[x + y for x in it for y in it]",
    "[x for x in it if x < 2]",
    "[1 in it]",
    "[any(x > 1 for x in it)]",
    "[all(x < 1 for x in it)]",
    "list(takewhile(lambda x: x < 2, it))",
    "list(chain(it, it))",
    "list(product(it, it))",
    "[sum(it)]",
    "[max(it, default=1)]",
    "sorted(it)",
    "[next(enumerate(it), 1)]",
    "[next(zip(it, it), 1)]",
    "[next(map(str, it), 1)]",
    "[next(filter(None, it), 1)]",
    "[next(chain(it, it), 1)]",
    "[next((x for x in it), 1)]",
    "list(early(it))",
    "[*it]",
    "list(reversed([*it]))",
    "list(accumulate(it))",
    "list(pairwise(it))",
    "list(batched(it))",
)
PRELUDE = """import numpy as np
from itertools import accumulate, chain, islice, pairwise, product, takewhile, zip_longest
from operator import add


def early(items):
    found = []
    for item in items:
        found.append(item)
        if item == 1:
            break
    return found


def batched(items):
    return iter(lambda: tuple(islice(items, 2)), ())


counts = []
"""


def program(items: list[int], steps: list[str]) -> str:
    """A program that takes from one iterator step by step and counts what each step takes."""
    lines = [PRELUDE, f"it = iter({items})"]
    for index, step in enumerate([*steps, "list(it)"]):
        lines += [f"got_{index} = {step}", f"counts.append(len(got_{index}))"]
    return "\n".join(lines) + "\n"


@settings(max_examples=60)
@given(st.lists(st.integers(0, 3), max_size=7), st.lists(st.sampled_from(TAKING), min_size=1, max_size=3))
@example([0, 1, 2, 3, 0], ["list(zip_longest(it, it, fillvalue=1))"])
@example([0, 1, 2, 3], ["list(map(add, it, it))"])
@example([0, 1, 2, 3], ["[next(enumerate(it), 1)]"])
@example([0, 1, 2, 3], ["list(zip(it, [5, 6]))"])
def test_what_is_taken_is_gone(items: list[int], steps: list[str]) -> None:
    text = program(items, steps)
    names: dict[str, list[int]] = {}
    exec(text, names)
    for index, count in enumerate(names["counts"]):
        text += f"np.zeros((1, {count + 1})) @ np.zeros((len(got_{index}) + 1, 1))\n"
    assert [shown(finding) for finding in errors_of(text)] == []
