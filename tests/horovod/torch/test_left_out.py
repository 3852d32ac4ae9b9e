"""Layers that a rank leaves out of a step and another does not: the gradient that it lacks counts as zero.

Two processes take each way for eight steps; without that they would add up gradients of different layers, or wait for ever.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.torch.programs import outcome, said_by_two

pytestmark = pytest.mark.requires("torch")

PROGRAM = """
import random
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, flag=True):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
        self.blocks, self.flag = nn.ModuleList(nn.Linear(4, 4) for _ in range(3)), flag

    def loss(self, x, hint=None):
        x = self.first(x)
{inside}
        return self.last(x).pow(2).mean()


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)


signs = torch.tensor([1.0, -1.0]).repeat(32).reshape(64, 1)
loader = DataLoader(TensorDataset(signs * torch.ones(64, 4)), batch_size=4)
net, other = Net(), Other()
optimizer = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.01)
for (x,) in loader:
    hint = x + 1
{outside}
    loss = net.loss(x{given})
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(*[round(w.sum().item(), 4) for model in (net, other) for w in model.parameters()])
"""
CHANCE = "random.random() < 0.5"
APART: dict[str, dict[str, str]] = {
    "by chance": {"inside": f"if {CHANCE}:\n    x = self.second(x)"},
    "by chance of PyTorch": {"inside": "if torch.rand(1).item() < 0.5:\n    x = self.second(x)"},
    "by the data": {"inside": "if x.mean() > 0:\n    x = self.second(x)\nelse:\n    x = x * 2"},
    "by a number of the data": {"inside": "many = x.sum().item()\nif many > 0:\n    x = self.second(x)"},
    "in an expression": {"inside": f"x = self.second(x) if {CHANCE} else x"},
    "one or another": {"inside": f"if {CHANCE}:\n    x = self.second(x)\nelse:\n    x = self.blocks[0](x)"},
    "of several": {"inside": f"for block in self.blocks:\n    if {CHANCE}:\n        x = block(x)"},
    "skipped": {"inside": f"for block in self.blocks:\n    if {CHANCE}:\n        continue\n    x = block(x)"},
    "left early": {"inside": f"if {CHANCE}:\n    return self.last(x).mean()\nx = self.second(x)"},
    "an argument": {
        "inside": "if hint is not None:\n    x = x + self.second(hint)",
        "outside": f"if {CHANCE}:\n    hint = None",
        "given": ", hint",
    },
    "an argument by keyword": {
        "inside": "if hint is None:\n    x = x + 1\nelse:\n    x = x + self.second(hint)",
        "outside": "if x.mean() > 0:\n    hint = None",
        "given": ", hint=hint",
    },
    "another model": {"outside": f"if {CHANCE}:\n    x = other(x)"},
}
ALIKE: dict[str, dict[str, str]] = {
    "by a setting": {"inside": "if self.flag:\n    x = self.second(x)"},
    "by a mode": {"inside": "if self.training:\n    x = self.second(x)"},
    "an argument that is never None": {"inside": "if hint is not None:\n    x = self.second(hint)", "given": ", hint"},
    "an argument that is always None": {"inside": "if hint is not None:\n    x = self.second(hint)"},
    "an argument by a setting": {
        "inside": "if hint is not None:\n    x = self.second(hint)",
        "outside": "if net.flag:\n    hint = None",
        "given": ", hint",
    },
    "the same in both": {"inside": f"if {CHANCE}:\n    x = self.second(x)\nelse:\n    x = self.second(-x)"},
    "no layer": {"inside": f"if {CHANCE}:\n    x = x * 2"},
    "without gradients": {"inside": f"if {CHANCE}:\n    with torch.no_grad():\n        self.second(x)"},
    "by the epoch": {"outside": "for epoch in range(2):\n    if epoch > 0:\n        x = other(x)"},
}


def program(parts: dict[str, str]) -> str:
    """A program whose model is called in one way."""
    inside, outside = (parts.get(each, "pass").splitlines() for each in ("inside", "outside"))
    indented = "\n".join(f"        {line}" for line in inside), "\n".join(f"    {line}" for line in outside)
    return PROGRAM.format(inside=indented[0], outside=indented[1], given=parts.get("given", ""))


def made(parts: dict[str, str], backend: str = "ddp") -> str:
    """What it becomes."""
    found = outcome(program(parts), backend)  # type: ignore[arg-type]
    assert not found.plan.refusals
    (file,) = found.files.values()
    return file.source


def test_a_layer_that_one_rank_leaves_out(tmp_path: Path) -> None:
    """Both processes end with the same weights."""
    texts = {name: made(parts) for name, parts in APART.items()}
    assert all("fill_gradients(optimizer)" in text for text in texts.values())
    for name, (one, other) in said_by_two(
        texts | {name: made(parts) for name, parts in ALIKE.items()}, tmp_path
    ).items():
        assert name in ALIKE or one.count(" ") > 5, name
        assert one == "" or other in ("", one), name


@pytest.mark.parametrize("name", ALIKE)
def test_layers_that_all_ranks_leave_out_alike(name: str) -> None:
    """Nothing is asked about them."""
    assert "fill_gradients" not in made(ALIKE[name])


@pytest.mark.parametrize("backend", ["horovod", "accelerate"])
def test_every_back_end(backend: str) -> None:
    """Where gradients are averaged in front of a step, a rank's missing ones are asked for."""
    assert ("fill_gradients(" in made(APART["another model"], backend)) == (backend == "accelerate")
