"""The length of a loader whose batches are dealt out in its loops counts the batches of a rank, wherever it is asked for.

Two processes tell what one process does: how full an array of that length is, where a schedule ends, how far an epoch is.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import told_alone, told_by_first

pytestmark = pytest.mark.requires("torch")

HEAD = """
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset

torch.manual_seed(3)
x = torch.randn(64, 4)
y = torch.arange(64.0).reshape(64, 1) / 16 - 2
data = TensorDataset(x, y)


class Backwards(Sampler):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        return iter(reversed(range(len(self.data))))

    def __len__(self):
        return len(self.data)


loader = {loader}
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)


def step(a, b):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(a), b)
    loss.backward()
    optimizer.step()
    return loss.item()


"""
LOADERS = {
    "shuffled": "DataLoader(data, batch_size=8, shuffle=True)",
    "a sampler": "DataLoader(data, batch_size=8, sampler=Backwards(data))",
    "batches": "DataLoader(data, batch_sampler=[list(range(i, i + 8)) for i in range(0, 64, 8)])",
}
WAYS = {
    "an array": "losses = np.zeros(len(loader))\nfor i, (a, b) in enumerate(loader):\n    losses[i] = 1 + step(a, b)\n"
    "print((losses > 0).mean())\n",
    "an array in a function": "def train(loader):\n    losses = np.zeros(len(loader))\n    for i, (a, b) in enumerate(loader):\n"
    "        losses[i] = 1 + step(a, b)\n    return losses\n\n\nprint((train(loader) > 0).mean())\n",
    "an array of all epochs": "def train(loader):\n    losses = np.zeros(len(loader))\n    for i, (a, b) in enumerate(loader):\n"
    "        losses[i] = 1 + step(a, b)\n    return losses\n\n\ndef main(loader, epochs):\n    turns = len(loader)\n"
    "    found = np.zeros(turns * epochs)\n    for epoch in range(epochs):\n"
    "        found[epoch * turns : (epoch + 1) * turns] = train(loader)\n    print((found > 0).mean())\n\n\nmain(loader, 2)\n",
    "a list": "losses = [0.0] * len(loader)\nfor i, (a, b) in enumerate(loader):\n    losses[i] = 1 + step(a, b)\n"
    "print(min(losses) > 0)\n",
    "a schedule": "optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)\nsteps = 2 * len(loader)\n"
    "schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.5, total_iters=steps)\nfor epoch in range(2):\n"
    "    for a, b in loader:\n        step(a, b)\n        schedule.step()\nprint(schedule.last_epoch / steps)\n",
    "how far": "for epoch in range(2):\n    for i, (a, b) in enumerate(loader):\n        step(a, b)\n"
    "        far = epoch + (i + 1) / len(loader)\nprint(far)\n",
    "how many steps": "done = 0\nfor epoch in range(2):\n    for i, (a, b) in enumerate(loader):\n        step(a, b)\n"
    "        done = epoch * len(loader) + i + 1\nprint(done / len(loader))\n",
    "the last": "for i, (a, b) in enumerate(loader):\n    step(a, b)\n    if i == len(loader) - 1:\n        print(1)\n",
    "in a variable": "turns = len(loader)\ntotal = 0.0\nfor a, b in loader:\n    total += step(a, b)\nprint(total / turns)\n",
    "a mean": "total = 0.0\nfor a, b in loader:\n    total += step(a, b)\nprint(total / len(loader))\n",
    "a mean of samples": "total = 0.0\nfor a, b in loader:\n    total += 8 * step(a, b)\nprint(total / len(loader.sampler))\n",
    "a mean, and a sum": "total = 0.0\nfor a, b in loader:\n    total += step(a, b)\nprint(total)\nprint(total / len(loader))\n",
    "half of it": "for i, (a, b) in enumerate(loader):\n    if i >= len(loader) // 2:\n        break\n    step(a, b)\n"
    "print(i / len(loader))\n",
    "drawn": "batches = iter(loader)\ndone = 0\nfor i in range(len(loader)):\n    a, b = next(batches)\n"
    "    step(a, b)\n    done += 1\nprint(done / len(loader))\n",
}
FIRST = {
    "that is judged too": "total = 0.0\nfor a, b in loader:\n    total += step(a, b)\nprint(total / len(loader))\n"
    "with torch.no_grad():\n    print(sum(nn.functional.mse_loss(model(a), b).item() for a, b in loader) / len(loader))\n",
}


def programs() -> list[tuple[str, str]]:
    """Each with the words that tell it apart."""
    found = [
        (f"{way}, {each}", HEAD.format(loader=made) + text)
        for each, made in LOADERS.items()
        for way, text in WAYS.items()
    ]
    return found + [(way, HEAD.format(loader=LOADERS["a sampler"]) + text) for way, text in FIRST.items()]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """The numbers that rank 0 of two prints in each program."""
    return told_by_first(programs(), tmp_path_factory.mktemp("lengths"))


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in programs()])
def test_it_counts_the_batches_of_a_rank(
    name: str, text: str, printed: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    alone = told_alone(text, capsys)
    assert alone and printed[name] == pytest.approx(alone, rel=1e-4)
