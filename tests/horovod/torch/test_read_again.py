"""What rank 0 alone writes during training, and all ranks read again in the same function or iteration, is waited for."""

from __future__ import annotations

from textwrap import indent

import pytest
from horovod.torch.programs import rewritten

PROGRAM = """
import csv
import json
import pickle
import os
import numpy as np
import torch
from torchvision.datasets import ImageFolder
from torchvision.utils import save_image
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
steps = []


def step(value):
    steps.append(value)
    return value


def score(path):
{reads}


def evaluate(path):
    found = [model(x).sum().item() for x, y in DataLoader(data, batch_size=8)]
{writes}
    return score(path)


best = 0.0
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        {called}
"""
WAYS = {
    "lines": (
        "with open(path, 'w') as f:\n        for each in found:\n            f.write(f'{each}\\n')",
        "with open(path) as f:\n        return len(f.readlines())",
    ),
    "printed": (
        "with open(path, 'w') as f:\n        print(found, file=f)",
        "return len(open(path).read())",
    ),
    "JSON": (
        "with open(path, 'w') as f:\n        json.dump(found, f)",
        "with open(path) as f:\n        return len(json.load(f))",
    ),
    "pickle": (
        "with open(path, 'wb') as f:\n        pickle.dump(found, f)",
        "with open(path, 'rb') as f:\n        return len(pickle.load(f))",
    ),
    "by a branch": ("torch.save(found, path) if found else None", "return len(torch.load(path))"),
    "a folder of arrays": (
        "[np.save(f'{path}/{i}', each) for i, each in enumerate(found)]",
        "return len(os.listdir(path))",
    ),
    "a folder of pictures": (
        "for i, each in enumerate(found):\n        save_image(step(each), f'{path}/{i}.png')",
        "return len(ImageFolder(path))",
    ),
    "weights": ("torch.save(model.state_dict(), path)", "return len(torch.load(path))"),
}
ALL_CALL = ("evaluate('found')", "if i % 4 == 0:\n            evaluate('found')", "best = max(best, evaluate('found'))")
SOME_CALL = ("if loss.item() > 3:\n            evaluate('found')", "sorted([3, 1], key=lambda each: evaluate('found'))")


def waits(way: str, called: str) -> int:
    """How often the ranks wait for each other in what a program becomes."""
    writes, reads = WAYS[way]
    return rewritten(PROGRAM.format(reads=f"    {reads}", writes=f"    {writes}", called=called)).count("hvd.barrier()")


@pytest.mark.parametrize("called", ALL_CALL)
@pytest.mark.parametrize("way", WAYS)
def test_all_wait_before_they_read(way: str, called: str) -> None:
    assert waits(way, called) == 1


@pytest.mark.parametrize("called", SOME_CALL)
def test_what_some_ranks_call_waits_for_none(called: str) -> None:
    assert waits("lines", called) == 0


IN_EPOCHS = (
    PROGRAM.partition("best = 0.0")[0]
    + """
def train():
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


def put(path):
    found = [model(x).sum().item() for x, y in DataLoader(data, batch_size=8)]
{writes}


class Scores:
    def __init__(self, path):
        self.value = score(path)


for epoch in range(3):
{body}
"""
)
ORDERS = {
    "one after the other": ("train()\nput('found')\nScores('found')", 1),
    "in front of training": ("put('found')\nScores('found')\ntrain()", 1),
    "now and then": ("train()\nif epoch % 2 == 0:\n    put('found')\n    Scores('found')", 1),
    "in the next iteration": ("if epoch:\n    Scores('found')\ntrain()\nput('found')", 1),
    "of several turns": ("for turn in range(2):\n    put('found')\n    Scores('found')\n    train()", 1),
    "another file": ("train()\nput('found')\nScores('other')", 0),
    "for some": ("train()\nif loader.dataset[0][0].sum() > torch.rand(1):\n    put('found')\n    Scores('found')", 0),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("way", ["lines", "JSON", "weights"])
def test_all_wait_within_an_iteration(way: str, order: str) -> None:
    (writes, reads), (body, count) = WAYS[way], ORDERS[order]
    program = IN_EPOCHS.format(reads=f"    {reads}", writes=f"    {writes}", body=indent(body, "    "))
    assert rewritten(program).count("hvd.barrier()") == count
