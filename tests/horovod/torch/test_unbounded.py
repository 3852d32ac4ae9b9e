"""Loops that go on until their data ends, which each rank arranges for itself: HVD303 says that they keep their steps."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, outcome

PROGRAM = (
    HEAD
    + """
import random


class Rows:
    def __init__(self):
        self.names = list(range(96))
        random.shuffle(self.names)
        self.at = 0

    def get(self):
        self.at += 8
        rows = self.names[self.at - 8 : self.at]
        return (x[rows], y[rows]) if self.at <= 96 else (None, None)

    def more(self):
        return self.at < 96


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step(a, b):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(a), b).backward()
    optimizer.step()


def train():
    rows = Rows()
{loop}


for epoch in range(3):
    train()
"""
)
LOOPS = {
    "None ends it": "    while True:\n        a, b = rows.get()\n        if a is None:\n            break\n        step(a, b)",
    "a return": "    while True:\n        a, b = rows.get()\n        if a is None:\n            return\n        step(a, b)",
    "a question": "    while rows.more():\n        a, b = rows.get()\n        step(a, b)",
    "a flag": "    going = True\n    while going:\n        a, b = rows.get()\n        going = rows.more()\n        step(a, b)",
}
BOUNDED = {
    "a number": "    for i in range(12):\n        a, b = rows.get()\n        step(a, b)",
    "for ever": "    while True:\n        a, b = rows.get()\n        step(a, b)",
}


def codes(loop: str) -> set[str]:
    made = outcome(PROGRAM.format(loop=loop), "ddp")
    assert made.files
    return {each.code for each in made.plan.warnings}


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_that_keeps_its_steps_is_named(loop: str) -> None:
    assert codes(LOOPS[loop]) & {"HVD302", "HVD303"}


@pytest.mark.parametrize("loop", BOUNDED)
def test_others_are_not(loop: str) -> None:
    assert not codes(BOUNDED[loop]) & {"HVD302", "HVD303"}
