"""Sets are brought into one order where strings may be in them; numbers have the same hashes in each process, and keep theirs."""

from __future__ import annotations

import pytest
from horovod.torch.programs import rewritten

PROGRAM = """
import sys
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset


def numbered(items):
    return {{each: i for i, each in enumerate(set(items))}}


table = np.loadtxt("table.txt", dtype=str)
ids = numbered({given})
data = TensorDataset(torch.ones(64, 4))
model = torch.nn.Linear(4, len(ids))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in DataLoader(data, batch_size=8):
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
"""
NUMBERS = [
    "np.where(np.ones((5, 5)))[0]",
    "range(12)",
    "[3, 11, 2]",
    "[int(each) for each in table]",
    "[len(each) for each in sys.argv]",
    "np.random.randint(12, size=64)",
    "np.argmax(np.ones((5, 5)), axis=1)",
]
OTHERS = [
    "table",
    "sys.argv",
    "['b', 'a']",
    "open('words.txt')",
    "[each.lower() for each in table]",
    "(1, table[0])",
]


@pytest.mark.parametrize("given", NUMBERS)
def test_numbers_keep_their_order(given: str) -> None:
    """As in one process."""
    assert "enumerate(set(items))" in rewritten(PROGRAM.format(given=given), "ddp")


MIXED = ["[3, 'a']", "['b', None]"]


@pytest.mark.parametrize("given", MIXED)
def test_what_cannot_be_compared_is_sorted_by_its_text(given: str) -> None:
    """A number and a string have no order."""
    assert "enumerate(sorted(set(items), key=repr))" in rewritten(PROGRAM.format(given=given), "ddp")


@pytest.mark.parametrize("given", OTHERS)
def test_what_may_be_strings_is_sorted(given: str) -> None:
    """Ranks would number them differently."""
    assert "enumerate(sorted(set(items)))" in rewritten(PROGRAM.format(given=given), "ddp")
