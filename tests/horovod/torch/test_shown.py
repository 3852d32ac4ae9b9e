"""What is shown of something that all ranks compute: all of them compute it, and one shows it.

Each program ends by writing into a file of each rank how often that evaluated.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.torch.programs import outcome, said_by_two

pytestmark = pytest.mark.requires("torch")

HEAD = """\
import json
import logging
import os
import pprint
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x, y = torch.randn(32, 4), torch.randn(32, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
logger = logging.getLogger(f"shown {id(loader)}")
logger.setLevel(logging.INFO)
logger.addHandler(logging.StreamHandler(sys.stdout))
evaluated = []


def evaluate(model):
    evaluated.append(1)
    total = 0.0
    for inputs, targets in loader:
        total += nn.functional.mse_loss(model(inputs), targets).item()
    return total / len(loader)


def train(model, epochs):
    for epoch in range(epochs):
        for inputs, targets in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(inputs), targets).backward()
            optimizer.step()
    return {"loss": evaluate(model)}


class Report:
    def __init__(self, model):
        self.model = model

    def score(self):
        return evaluate(self.model)


"""
SHOWN = {
    "an argument": "print(evaluate(model))",
    "among others": "print('score', evaluate(model), sep=': ', flush=True)",
    "in a format": "print(f'score {evaluate(model):.4f}')",
    "in a percent": "print('score %.4f' % evaluate(model))",
    "in str.format": "print('score {:.4f}'.format(evaluate(model)))",
    "in an operator": "print(100 * (1 - evaluate(model)))",
    "of a method": "print(Report(model).score())",
    "an item of it": "print(train(model, 1)['loss'])",
    "all of training": "print('best', train(model, 1))",
    "named in it": "print(score := evaluate(model))",
    "to a stream": "print(evaluate(model), file=sys.stdout)",
    "written to a stream": "sys.stdout.write(str(evaluate(model)))",
    "at length": "pprint.pprint({'score': evaluate(model)})",
    "logged": "logger.info('score %s', evaluate(model))",
    "logged with a format": "logger.log(logging.INFO, f'score {evaluate(model)}')",
    "in each turn": "for _ in range(2):\n    print(evaluate(model))",
    "under a condition": "if len(loader) > 1:\n    print(evaluate(model))",
    "in a function": "def tell():\n    print(evaluate(model))\n\n\ntell()",
    "saved": "torch.save(evaluate(model), os.devnull)\nprint('saved')",
    "drawn": "print(torch.rand(2), evaluate(model))",
    "in a branch": "print(evaluate(model)) if evaluated is not None else print('none')",
    "behind a condition": "loader and print('score', evaluate(model))",
    "in an alternative": "not loader or print('score', evaluate(model))",
    "in a pair": "print('score'), print(evaluate(model))",
    "in a list": "[print(evaluate(model), each) for each in range(2)]",
    "by a lambda": "tell = lambda: print(evaluate(model))\ntell()",
    "by a function in a line": "def tell(): return print(evaluate(model))\ntell()",
    "by a map": "list(map(print, [evaluate(model)]))",
    "two of them": "print(evaluate(model), evaluate(model))",
}
LAST = """
with open(f'counted{os.environ["RANK"]}', "a") as counted:
    counted.write(f"{len(evaluated)} ")
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """What each of two ranks shows."""
    texts = {}
    for name, form in SHOWN.items():
        (file,) = outcome(f"{HEAD}train(model, 1)\n{form}\n", "ddp").files.values()
        texts[name] = file.source + LAST
    folder: Path = tmp_path_factory.mktemp("shown")
    found = said_by_two(texts, folder)
    one, other = ((folder / f"counted{rank}").read_text().split() for rank in (0, 1))
    assert one == other and len(one) == len(SHOWN)
    return found


@pytest.mark.parametrize("name", SHOWN)
def test_all_compute_and_one_shows(name: str, said: dict[str, tuple[str, str]]) -> None:
    first, second = said[name]
    assert first.strip() and not second
