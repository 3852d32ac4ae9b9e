"""A program becomes the same in every run: nothing depends on the order of a set."""

from __future__ import annotations

import random

import pytest
from horovod.torch.programs import outcome

from distml.training.store import MOST, Store
from distml.training.values import Constant, Foreign

PROGRAM = """import torch
from made import built, {changed}

model = torch.nn.Linear(4, 1)
made = built(model.parameters())
for x in torch.utils.data.DataLoader([torch.ones(4)] * 8):
    made = {changed}(made, 2)
    model(x).sum().backward()
    made.step()
"""


@pytest.mark.parametrize("changed", [f"changed{number}" for number in range(8)])
def test_what_is_made_of_itself_is_asked_once(changed: str) -> None:
    """In 5 of 6 runs this was nested too deeply to be rewritten."""
    assert [loop.code for loop in outcome(PROGRAM.format(changed=changed), "ddp").plan.loops] == ["HVD106"]


def test_a_full_place_keeps_the_same_values_whatever_their_order() -> None:
    values = [*(Constant(number) for number in range(MOST)), *(Foreign(f"?{number}") for number in range(MOST))]
    kept = set()
    for seed in range(20):
        random.Random(seed).shuffle(values)
        store = Store()
        store.add(values, "name")
        kept.add(store.read("name"))
    assert kept == {frozenset(map(Constant, range(MOST)))}
