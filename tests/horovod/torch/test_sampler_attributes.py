"""What a program asks of the sampler of a loader is what it was, also where a distributed one without it replaces it.

Two processes tell what one process does.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import told_alone, told_by_first

pytestmark = pytest.mark.requires("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.sampler import RandomSampler, SequentialSampler, SubsetRandomSampler

torch.manual_seed(3)
x = torch.randn(64, 4)
data = TensorDataset(x, torch.arange(64.0).reshape(64, 1) / 16 - 2)
kept, left = list(range(48)), list(range(48, 64))
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)


def train(loader):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()


{made}
train(loader)
{asked}
"""
OBJECT = """
class Trainer:
    def __init__(self, loaders):
        self.first, self.second = loaders[0], loaders[1]
        self.size, self.rest = len(self.first.sampler.indices), len(self.second.sampler.indices)


def loaders():
    first = DataLoader(data, batch_size=8, sampler=SubsetRandomSampler(kept))
    return first, DataLoader(data, batch_size=8, sampler=SubsetRandomSampler(left))


trainer = Trainer(loaders())
loader = trainer.first
"""
SUBSET = "loader = DataLoader(data, batch_size=8, sampler=SubsetRandomSampler(kept))"
CASES = {
    "indices": (SUBSET, "print(len(loader.sampler.indices), max(loader.sampler.indices))"),
    "indices of a sampler that has a name": (
        "order = SubsetRandomSampler(kept)\nloader = DataLoader(data, batch_size=8, sampler=order)",
        "print(len(loader.sampler.indices), len(order.indices))",
    ),
    "of an object with two loaders": (OBJECT, "print(trainer.size, trainer.rest)"),
    "of either loader": (
        f"{SUBSET}\nother = DataLoader(data, batch_size=8, sampler=SubsetRandomSampler(left))",
        "for each in (loader, other):\n    print(len(each.sampler.indices))",
    ),
    "the data of a loader that shuffles": (
        "loader = DataLoader(data, batch_size=8, shuffle=True)",
        "print(len(loader.sampler.data_source))",
    ),
    "the data of a sampler": (
        "loader = DataLoader(data, batch_size=8, sampler=RandomSampler(data))",
        "print(len(loader.sampler.data_source))",
    ),
    "the data in order": ("loader = DataLoader(data, batch_size=8)", "print(len(loader.sampler.data_source))"),
    "whether it draws with replacement": (
        "loader = DataLoader(data, batch_size=8, shuffle=True)",
        "print(int(loader.sampler.replacement))",
    ),
    "its number of samples": (
        "loader = DataLoader(data, batch_size=8, sampler=SubsetRandomSampler(kept))",
        "print(loader.sampler.num_samples if hasattr(loader.sampler, 'num_samples') else 48)",
    ),
    "indices that are set": (
        SUBSET,
        "loader.sampler.indices = left\nprint(len(loader.sampler.indices), len(loader.sampler))",
    ),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """What rank 0 of two prints in each program."""
    programs = ((name, PROGRAM.format(made=made, asked=asked)) for name, (made, asked) in CASES.items())
    return told_by_first(programs, tmp_path_factory.mktemp("attributes"))


@pytest.mark.parametrize("name", CASES)
def test_what_is_asked_of_a_sampler_is_what_it_was(
    name: str, told: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    made, asked = CASES[name]
    assert told[name] == told_alone(PROGRAM.format(made=made, asked=asked), capsys)
