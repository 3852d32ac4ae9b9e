"""Nothing is looked for that no backward pass leaves out: `find_unused_parameters` only where a parameter may get no gradient.

Two processes train each model for eight steps.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.torch.programs import rewritten, said_by_two

pytestmark = pytest.mark.requires("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, deep=False):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.drop, self.act = nn.Dropout(0.1), nn.ReLU()
{made}
        self.deep = deep

    def part(self, x):
        return self.b(x)

    def forward(self, x, mask=None):
        x = self.a(x)
{body}

{idle}
torch.manual_seed(1)
loader = DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 4)), batch_size=4)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
print("end")
"""
ALL = {
    "no weights in training": "if self.training:\n    x = self.drop(x)\nreturn self.b(x)",
    "no weights under a condition": "if mask is not None:\n    x = self.act(x)\nreturn self.b(x)",
    "the same in both arms": "if self.deep:\n    return self.b(x)\nreturn self.b(self.act(x))",
    "the same in an expression": "return self.b(x) if x.sum() > 3 else self.b(-x)",
    "the same by a method": "return self.part(x) if self.deep else self.part(-x)",
    "one behind, one within": "if self.deep:\n    x = self.act(x)\n    return self.b(x)\nelse:\n    return self.b(x)",
    "only in training": "if self.training:\n    return self.b(x)\nreturn x",
    "not outside of training": "if not self.training:\n    return x\nreturn self.b(x)",
    "made under the flag that is asked": "x = self.b(x)\nif self.deep:\n    x = self.c(x)\nreturn x",
    "a part without weights": "x = self.b(x)\nif x.sum() > 99:\n    x = self.shape(x)\nreturn x",
    "a part without weights outside of training": "if self.training:\n    return self.b(x)\nreturn self.shape(self.b(x))",
    "a class of layers that is kept": "assert self.kind is not None\nreturn self.b(x)",
}
SOME = {
    "by the data": "if x.sum() > 99:\n    x = self.b(x)\nreturn x",
    "what comes behind": "if x.sum() < 99:\n    return x\nreturn self.b(x)",
    "behind in training": "if self.training:\n    return x\nreturn self.b(x)",
    "outside of training": "if not self.training:\n    x = self.b(x)\nreturn x",
    "made whatever the flag says": "return self.b(x) if self.deep else x",
    "a part with weights": "x = self.b(x)\nif x.sum() > 99:\n    x = self.scale(x)\nreturn x",
    "a part with what it is given": "x = self.b(x)\nif x.sum() > 99:\n    x = self.around(x)\nreturn x",
    "behind the block": "if not self.deep:\n    if mask is None:\n        return x\nreturn self.b(x)",
}
IDLE = (
    "class Old(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.left = nn.Linear(4, 4)\n"
)


PARTS = {
    "self.c": ("if deep:\n            self.c = nn.Linear(4, 4)", ""),
    "self.shape": ("self.shape = Part()", "self.mean = torch.zeros(4) if factor is None else factor"),
    "self.scale": ("self.scale = Part()", "self.factor = nn.Parameter(torch.ones(4))"),
    "self.around": ("self.around = Part(nn.Linear(4, 4))", "self.factor = factor"),
    "self.kind": ("self.kind = nn.BatchNorm1d", ""),
}
"""What a pass calls beside: what makes it, and what its class keeps."""
PART = """
class Part(nn.Module):
    def __init__(self, factor=None):
        super().__init__()
        {kept}

    def forward(self, x):
        return x + sum(each.sum() for each in self.parameters())
"""


def becomes(body: str, idle: str = "") -> str:
    """The program that a program becomes."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    made, kept = next((parts for name, parts in PARTS.items() if name in body), ("", ""))
    idle += PART.format(kept=kept) if kept else ""
    text = rewritten(PROGRAM.format(body=lines, idle=idle, made=f"        {made}"), "ddp")
    assert "DistributedDataParallel" in text
    return text


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """What both processes print with each model."""
    folder: Path = tmp_path_factory.mktemp("conditions")
    return said_by_two({name: becomes(body) for name, body in (ALL | SOME).items()}, folder)


@pytest.mark.parametrize("name", [*ALL, *SOME])
def test_it_trains(name: str, told: dict[str, tuple[str, str]]) -> None:
    assert told[name][0].split()[-1] == "end"


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_looked_for_where_all_take_part(name: str) -> None:
    assert "find_unused" not in becomes(ALL[name])


@pytest.mark.parametrize("name", SOME)
def test_what_may_take_no_part_is_not_waited_for(name: str) -> None:
    assert "find_unused_parameters=True" in becomes(SOME[name])


def test_models_that_nobody_makes_leave_nothing_out() -> None:
    """A class that nothing names is no part of the program."""
    assert "find_unused" not in becomes(ALL["the same in both arms"], IDLE)
