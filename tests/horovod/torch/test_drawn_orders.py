"""Optimizers that are chosen by name, loops that go through an order of samples which each rank draws for itself, and slices
of samples that are arranged anew between epochs, which all ranks arrange alike."""

from __future__ import annotations

import json

import pytest
from horovod.torch.programs import HEAD, outcome, said_by_two

PROGRAM = (
    HEAD.replace("import torch\n", "import argparse\nimport random\nimport numpy as np\nimport torch\n", 1)
    + """
parser = argparse.ArgumentParser()
parser.add_argument("--optim", default="SGD")
parser.add_argument("--turns", type=int, default=4)
args = parser.parse_args()
rows = [(one, other) for one, other in zip(x, y)]
model = nn.Linear(4, 1)
optimizer = {made}(model.parameters(), lr=0.1)


def train():
    total, begin = 0.0, 0
    {order}
    for turn in range(args.turns):
        picked = [rows[i] for i in order[begin : begin + 8]]
        begin += 8
        optimizer.zero_grad()
        loss = sum(nn.functional.mse_loss(model(a), b) for a, b in picked)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(total / {count})


for epoch in range(3):
    train()
"""
)
MADE = {
    "a class": "torch.optim.SGD",
    "a name that is given": "getattr(torch.optim, args.optim)",
    "an entry": "torch.optim.__dict__[args.optim]",
}
ORDERS = {
    "NumPy": "order = np.random.permutation(len(rows))",
    "Python": "order = random.sample(range(len(rows)), len(rows))",
    "PyTorch": "order = torch.randperm(len(rows)).tolist()",
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("order", ORDERS)
def test_the_turns_of_a_drawn_order_are_divided_or_named(made: str, order: str) -> None:
    for count, warned in (("args.turns", False), ("(args.turns * 8)", True)):
        found = outcome(PROGRAM.format(made=MADE[made], order=ORDERS[order], count=count), "ddp")
        assert not found.plan.refusals
        assert [each.code for each in found.plan.warnings] == ["HVD303"] * warned
        (file,) = found.files.values()
        assert "lr=0.1 * dist.get_world_size()" in file.source
        assert ("range(args.turns // dist.get_world_size())" in file.source) is not warned
        assert ("total / (args.turns // dist.get_world_size())" in file.source) is not warned
        assert "    total = mean_of_ranks(total)\n" in file.source


SLICED = """
import json
import math
import random

import numpy as np
import torch
from sklearn.utils import shuffle
from torch import nn

{seed}
x = np.arange(32).reshape(32, 1)
y = np.ones((32, 1))
many = math.ceil(len(x) / 4)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
seen = []


def noise(a):
    return a + np.random.rand() * 0 + random.random() * 0 + torch.rand(1) * 0


def train(x, y):
    {arrange}
    for i in range(many):
        a, b = x[i * 4 : i * 4 + 4], y[i * 4 : i * 4 + 4]
        seen.extend(int(each) for each in a[:, 0])
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(noise(torch.tensor(a).float())), torch.tensor(b).float())
        loss.backward()
        optimizer.step()
    return x, y


for epoch in range(3):
    {call}
"""
ARRANGED = {
    "scikit-learn": ("x, y = shuffle(x, y)", "train(x, y)"),
    "NumPy": ("rows = np.random.permutation(32)\n    x, y = x[rows], y[rows]", "train(x, y)"),
    "in place": ("np.random.shuffle(x)", "train(x, y)"),
    "in front": ("pass", "np.random.shuffle(x)\n    train(x, y)"),
    "Python": ("x = np.array(random.sample(list(x), len(x)))", "train(x, y)"),
    "PyTorch": ("x = x[torch.randperm(len(x)).numpy()]", "train(x, y)"),
    "kept": ("x, y = shuffle(x, y)", "x, y = train(x, y)"),
}
SEEDS = {"no seed": "", "seeds": "random.seed(1)\nnp.random.seed(1)\ntorch.manual_seed(1)"}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """What both processes print in each program."""
    texts = {}
    for way, (arrange, call) in ARRANGED.items():
        for each, seed in SEEDS.items():
            found = outcome(SLICED.format(seed=seed, arrange=arrange, call=call), "ddp")
            assert not found.plan.refusals
            (file,) = found.files.values()
            texts[f"{way}, {each}"] = f"{file.source}\nprint(json.dumps(seen))\n"
    return said_by_two(texts, tmp_path_factory.mktemp("arranged"))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("way", ARRANGED)
def test_ranks_go_through_all_samples_in_each_epoch(way: str, seed: str, told: dict[str, tuple[str, str]]) -> None:
    one, other = map(json.loads, told[f"{way}, {seed}"])  # what is kept is of all ranks
    assert one == other and len(one) == 96
    assert [sorted(one[begin : begin + 32]) for begin in range(0, 96, 32)] == [list(range(32))] * 3
