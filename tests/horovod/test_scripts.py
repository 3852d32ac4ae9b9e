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


STEPS = """import torch


class Net(torch.nn.Linear):
    def trainer(self, optimizer):
        def train(x, y):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(self(x), y).backward()
            optimizer.step()

        return train

"""
DATA = """import torch


def load(path):
    print("loading", path)
    return [(torch.ones(4), torch.ones(1))] * 8
"""
STEPPED = """import torch
from data import load
from steps import Net

net = Net(4, 1)
train = net.trainer(torch.optim.SGD(net.parameters(), lr=0.1))
for x, y in torch.utils.data.DataLoader(load("a")):
    train(x, y)
"""
LOOKED = """from data import load
from steps import Net

net = Net(4, 1)
print([net(x) for x, _ in load("a")])
"""


def test_a_script_that_only_uses_what_trains_goes_on_alone() -> None:
    programs = {"steps": STEPS, "data": DATA, "train": STEPPED, "look": LOOKED}
    texts = {f"/nowhere/{name}.py": text.encode() for name, text in programs.items()}
    found = survey([*texts], Options(backend="ddp"), Project("/nowhere", overlay=texts), texts)
    changed = {location: file.source for outcome in found.outcomes for location, file in outcome.files.items()}
    assert {*changed} == {*texts} - {"/nowhere/look.py"}
    assert 'if os.environ.get("RANK", "0") == "0":\n        print' in changed["/nowhere/data.py"]
    assert "init_process_group" not in changed["/nowhere/data.py"] + changed["/nowhere/steps.py"]


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
