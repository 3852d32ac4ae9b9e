"""Weights are given to all ranks behind what sets them, also where that stands behind the optimizer."""

from __future__ import annotations

import pytest
from horovod.torch.programs import rewritten

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def begin(module):
    for each in module.parameters():
        each.data.uniform_(-0.1, 0.1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 1)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=0.01)
        {own}

    def forward(self, x):
        return self.inner(x)

    def begin(self):
        begin(self)


def build(options):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    {given}
    return [model], {{"optimizer": optimizer}}


def train(model, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8, shuffle=True)
{main}
"""
OWN = ("self.begin()", "begin(self)", "self.apply(begin)", "begin(self.inner)")
GIVEN = ("begin(model)", "model.apply(begin)", "model.load_state_dict(torch.load('m.pt'))")
OF_OBJECT = "for net in [Net()]:\n    for epoch in range(3):\n        train(net, net.optimizer, loader)"
OF_FUNCTION = "models, kept = build(None)\nfor epoch in range(3):\n    train(models[0], kept['optimizer'], loader)"


@pytest.mark.parametrize("setting", OWN)
def test_in_a_constructor(setting: str) -> None:
    text = rewritten(PROGRAM.format(own=setting, given="pass", main=OF_OBJECT), "ddp")
    assert -1 < text.index(f"        {setting}\n") < text.index("broadcast_all(self.state_dict().values())")


@pytest.mark.parametrize("setting", GIVEN)
def test_in_a_function(setting: str) -> None:
    text = rewritten(PROGRAM.format(own="pass", given=setting, main=OF_FUNCTION), "ddp")
    assert -1 < text.index(f"    {setting}\n") < text.index("broadcast_all(model.state_dict().values())")
