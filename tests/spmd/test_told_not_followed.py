"""What functions give that are too large, or too deep, to be followed is of what they are given: of one rank if that is."""

from __future__ import annotations

from textwrap import indent

import pytest

from spmd.test_told import ALIKE, OWN_LOADER, told

LARGE = "\n".join(f"step{i} = [each * {i} for each in ({i}, {i + 1}, {i + 2})]" for i in range(40))
FUNCTIONS = {
    "a large function": f"def loss_of(scores, labels=None):\n{indent(LARGE, '    ')}\n    return scores.mean(), 2",
    "one that calls itself": (
        "def loss_of(scores, labels=None):\n    if len(scores) == 1:\n        return scores, 2\n"
        "    return loss_of(scores[1:], labels)"
    ),
    "a large method": (
        f"class Losses:\n    def of(self, scores, labels=None):\n{indent(LARGE, ' ' * 8)}\n        return scores.mean(), 2\n\n"
        "loss_of = Losses().of"
    ),
}
SHOWN = {
    "an item": "found = loss_of(model(x))\n    if dist.get_rank() == 0:\n        print(found[0])",
    "unpacked": "found, _ = loss_of(model(x), labels=x)\n    if dist.get_rank() == 0:\n        print(found.item())",
    "added up": "total += loss_of(scores=model(x))[0]\n    if dist.get_rank() == 0:\n        print(f'{total:.2f}')",
    "in a function": "report(*loss_of(model(x)))",
}
PROGRAM = """
{function}

def report(loss, count):
    if dist.get_rank() == 0:
        print(loss)

total = 0.0
for x in {data}:
    {shown}
"""


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_a_function_gives_is_of_what_it_is_given(function: str, shown: str) -> None:
    program = PROGRAM.replace("{function}", FUNCTIONS[function]).replace("{shown}", SHOWN[shown])
    assert len(told(program.replace("{data}", OWN_LOADER))) == 1
    assert told(program.replace("{data}", ALIKE["all of them"])) == []
