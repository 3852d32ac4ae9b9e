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


MODEL = """from tensorflow.keras import Sequential, layers


def build():
    return Sequential([layers.Dense(1)])
"""
FIT = """import numpy as np
from made import build

network = build()
network.compile("sgd", "mse")
for start in range(0, 64, 8):
    network.train_on_batch(np.ones((8, 4)), np.ones((8, 1)))
"""


def test_a_script_trains_what_it_imports_without_naming_the_framework() -> None:
    texts = {"/nowhere/made.py": MODEL.encode(), "/nowhere/start.py": FIT.encode()}
    found = survey([*texts], Options(), Project("/nowhere", overlay=texts), texts, texts=False)
    assert {location for outcome in found.outcomes for location in outcome.plan.changed} == {"/nowhere/start.py"}


def test_a_script_that_imports_no_framework_is_left_alone() -> None:
    texts = {"/nowhere/made.py": b"def build():\n    return 1\n", "/nowhere/start.py": FIT.encode()}
    found = survey([*texts], Options(), Project("/nowhere", overlay=texts), texts, texts=False)
    assert not found.outcomes and found.skipped == 2
