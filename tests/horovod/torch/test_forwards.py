"""Forward passes of one backward pass: those of which only one runs are no several, and buffers go on being those of rank 0."""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome

PROGRAM = """
import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

args = argparse.ArgumentParser().parse_args()


def losses(model, x):
{ways}


data = TensorDataset(torch.ones(64, 4))
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in DataLoader(data, batch_size=8, shuffle=True):
    optimizer.zero_grad()
    loss = losses(model, x)
    loss.backward()
    optimizer.step()
"""
ONE = {
    "one": "return model(x).mean()",
    "two arms": "if args.deep:\n    return model(x).mean()\nelse:\n    return model(x).sum()",
    "two arms that set": "if args.deep:\n    y = model(x)\nelse:\n    y = model(-x)\nreturn y.mean()",
    "three arms": "if args.a:\n    y = model(x)\nelif args.b:\n    y = model(-x)\nelse:\n    y = model(2 * x)\nreturn y.mean()",
    "left early": "if args.deep:\n    return model(x).mean()\nreturn model(x).sum()",
    "left early within": "with torch.enable_grad():\n    if args.deep:\n        return model(x).mean()\n"
    "    return model(x).sum()",
    "an expression": "return (model(x) if args.deep else model(-x)).mean()",
    "an arm within": "if args.a:\n    if args.b:\n        y = model(x)\n    else:\n        y = model(-x)\n"
    "else:\n    y = model(2 * x)\nreturn y.mean()",
}
SEVERAL = {
    "two": "return model(x).mean() + model(-x).mean()",
    "an arm and more": "y = model(x)\nif args.deep:\n    y = y + model(-x)\nreturn y.mean()",
    "two conditions": "y = 0\nif args.a:\n    y = y + model(x)\nif args.b:\n    y = y + model(-x)\nreturn y.mean()",
    "two in an arm": "if args.deep:\n    return (model(x) + model(-x)).mean()\nreturn model(x).mean()",
    "in the condition": "if model(x).mean() > 0:\n    return model(x).mean()\nreturn model(-x).mean()",
    "behind an arm that may leave": "y = 0\nif args.a:\n    y = model(x)\n    if args.b:\n        return y.mean()\n"
    "return (y + model(-x)).mean()",
}


def made(ways: str) -> str:
    """What a program becomes for torch.distributed."""
    found = outcome(PROGRAM.format(ways="\n".join(f"    {line}" for line in ways.splitlines())), "ddp")
    (file,) = found.files.values()
    return file.source


@pytest.mark.parametrize("name", ONE)
def test_one_forward_pass(name: str) -> None:
    """The wrapper broadcasts buffers."""
    assert "DistributedDataParallel(model)" in made(ONE[name])


@pytest.mark.parametrize("name", SEVERAL)
def test_several_forward_passes(name: str) -> None:
    """Their buffers stay as they are until the backward pass."""
    assert "DistributedDataParallel(model)" not in made(SEVERAL[name])
