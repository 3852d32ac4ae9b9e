"""What settings say is the same on every rank, however they are read and kept: nothing is asked of the ranks about it."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, rewritten

PROGRAM = (
    HEAD
    + """import argparse

import numpy as np


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--optimizer", default="SGD")
    parser.add_argument("--name")
    return parser.parse_args()


{settings}
model = nn.Linear(4, 1)
if {asked} == "SGD":
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
else:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(9):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        if {asked} == "SGD":
            optimizer.step()
"""
)
SAME = {
    "a namespace": ("config = parsed()", "config.optimizer"),
    "vars": ("config = vars(parsed())", "config['optimizer']"),
    "vars, filled": ("config = vars(parsed())\nconfig['name'] = '%s_a' % config['optimizer']", "config['optimizer']"),
    "vars, read by get": ("config = vars(parsed())", "config.get('optimizer')"),
    "a dict of vars": ("config = dict(vars(parsed()))", "config['optimizer']"),
    "a variable": ("config = vars(parsed())\nkind = config['optimizer']", "kind"),
}
OWN = {
    "drawn": (
        "config = vars(parsed())\nconfig['optimizer'] = np.random.choice(['SGD', 'Adam'])",
        "config['optimizer']",
    ),
}


def made(settings: str, asked: str) -> str:
    """What a program becomes for torch.distributed."""
    return rewritten(PROGRAM.format(settings=settings, asked=asked), "ddp")


@pytest.mark.parametrize("name", SAME)
def test_settings_are_asked_of_each_rank_alone(name: str) -> None:
    """No rank waits for another."""
    settings, asked = SAME[name]
    text = made(settings, asked)
    assert f'if {asked} == "SGD":' in text and "agreed(" not in text and "any_rank(" not in text


@pytest.mark.parametrize("name", OWN)
def test_what_is_drawn_is_asked_of_all(name: str) -> None:
    """Ranks would go their own ways."""
    assert "agreed(" in made(*OWN[name])
