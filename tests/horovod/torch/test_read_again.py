"""What rank 0 alone writes during training, and all ranks read again in the same function, is waited for."""

from __future__ import annotations

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
