"""Scripts that other scripts import are programs too."""

from __future__ import annotations

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.tree import survey
from distml.source.project import Project

TRAIN = """import torch


class Net(torch.nn.Linear):
    pass


def train():
    net = Net(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in torch.utils.data.DataLoader([(torch.ones(4), torch.ones(1))] * 8):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
"""
TRY = """import torch
from train import Net

if __name__ == "__main__":
    data = torch.utils.data.DataLoader([torch.ones(4)] * 8)
    print([Net(4, 1)(x) for x in data])
"""


def test_a_script_that_only_tries_the_model_hides_no_training() -> None:
    texts = {"/nowhere/train.py": TRAIN.encode(), "/nowhere/attempt.py": TRY.encode()}
    project = Project("/nowhere", overlay=texts)
    found = survey([*texts], Options(), project, texts, texts=False)
    changed = {location for outcome in found.outcomes for location in outcome.plan.changed}
    assert changed == {"/nowhere/train.py"}
