"""Layers that a model makes and no forward pass goes through: nothing waits for their gradients.

Two processes train each model for two steps; where it has no such layer, the wrapper need not look for any.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.torch.programs import outcome, said_by_two

pytestmark = pytest.mark.requires("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.other = {made}
{begin}

    def forward(self, x):
        return {result}
{method}

torch.manual_seed(1)
loader = DataLoader(TensorDataset(torch.ones(32, 4), torch.ones(32, 4)), batch_size=4)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
print("end")
"""
LINEAR, INNER = "nn.Linear(4, 4)", "Inner()"
APART: dict[str, tuple[str, ...]] = {
    "read nowhere": (LINEAR, "pass", ""),
    "of the program": (INNER, "pass", ""),
    "copied": (LINEAR, "self.first.weight.data.copy_(self.other.weight.data)", ""),
    "copied from a part": (
        "nn.Sequential(nn.Linear(4, 4))",
        "self.first.weight.data = self.other[0].weight.data.clone()",
        "",
    ),
    "of the program, copied": (INNER, "self.first.load_state_dict(self.other.layer.state_dict())", ""),
    "asked for its size": (LINEAR, "assert self.first.weight.size() == self.other.weight.size()", ""),
    "initialized": (LINEAR, "self.other.apply(print)", ""),
    "counted": (LINEAR, "self.many = sum(p.numel() for p in self.other.parameters())", ""),
    "in a method beside": (LINEAR, "pass", "\n    def decode(self, x):\n        return self.other(x)\n"),
    "in a method of a method beside": (
        LINEAR,
        "pass",
        "\n    def decode(self, x):\n        return self.part(x)\n\n    def part(self, x):\n        return self.other(x)\n",
    ),
    "without gradients": (
        LINEAR,
        "pass",
        "\n    def part(self, x):\n        with torch.no_grad():\n            return self.other(x)\n",
        "self.first(x + self.part(x))",
    ),
    "in a function without gradients": (
        LINEAR,
        "pass",
        "\n    @torch.no_grad()\n    def part(self, x):\n        return self.other(x)\n",
        "self.first(x + self.part(x))",
    ),
    "under the name of its class": ("nn.Linear(4, 4)", "self.Linear = nn.Linear(4, 4)", ""),
    "initialized in a method": (
        LINEAR,
        "self.begin()",
        "\n    def begin(self):\n        for p in self.other.parameters():\n            nn.init.zeros_(p)\n",
    ),
}
LISTS = {
    "written out": "nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)])",
    "of a range": "nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])",
    "of a generator": "nn.ModuleList(nn.Linear(4, 4) for _ in range(3))",
}
APART |= {
    f"some of a list {name}, {read}": (made, "pass", "", read)
    for name, made in LISTS.items()
    for read in ("self.first(self.other[0](x))", "self.other[-1](self.other[0](x))", "self.other[2](self.other[-1](x))")
}
OF_LISTS = [
    (made, read)
    for made in LISTS.values()
    for read in (
        "self.first(self.other[2](self.other[1](self.other[0](x))))",
        "self.first(self.other[-1](self.other[1](self.other[0](x))))",
        "self.first(sum(each(x) for each in self.other))",
        "self.first(self.other[int(x.sum()) % 3](x))",
    )
]
WITHIN: dict[str, tuple[str, ...]] = {
    "called": ("self.other(x)", "pass", ""),
    "handed on": ("self.run(self.other, x)", "pass", "\n    def run(self, layer, x):\n        return layer(x)\n"),
    "in a method": ("self.part(x)", "pass", "\n    def part(self, x):\n        return self.other(x)\n"),
    "called, and copied": ("self.other(x)", "self.first.weight.data.copy_(self.other.weight.data)", ""),
    "in a list": ("self.both[1](x)", "self.both = [self.first, self.other]", ""),
}


def becomes(made: str, begin: str, method: str, result: str = "self.first(x)") -> str:
    """The program that a program becomes."""
    text = PROGRAM.format(made=made, begin=f"        {begin}", method=method, result=result)
    found = outcome(text, "ddp")
    assert not found.plan.refusals
    (file,) = found.files.values()
    assert "DistributedDataParallel" in file.source
    return file.source


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """What both processes print with each model."""
    apart = {name: becomes(*each) for name, each in APART.items()}
    within = {name: becomes(LINEAR, *rest, f"self.first(x) + {call}") for name, (call, *rest) in WITHIN.items()}
    folder: Path = tmp_path_factory.mktemp("layers")
    return said_by_two(apart | within, folder)


@pytest.mark.parametrize("name", [*APART, *WITHIN])
def test_it_trains(name: str, told: dict[str, tuple[str, str]]) -> None:
    assert told[name][0].split()[-1] == "end"


@pytest.mark.parametrize("name", APART)
def test_what_takes_no_part_is_not_waited_for(name: str) -> None:
    assert "find_unused_parameters=True" in becomes(*APART[name])


@pytest.mark.parametrize("name", WITHIN)
def test_nothing_is_looked_for_where_all_take_part(name: str) -> None:
    call, *rest = WITHIN[name]
    assert "find_unused_parameters" not in becomes(LINEAR, *rest, f"self.first(x) + {call}")


@pytest.mark.parametrize(("made", "read"), OF_LISTS)
def test_nothing_is_looked_for_where_all_of_a_list_may_take_part(made: str, read: str) -> None:
    assert "find_unused_parameters" not in becomes(made, "pass", "", read)
