"""A variable that holds the data of training and then that of an evaluation divides the first alone."""

from __future__ import annotations

import pytest
from horovod.torch.programs import told_alone, told_by_first

pytestmark = pytest.mark.requires("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.randn(64, 4)
data = TensorDataset(x, x[:, :1])
train_loader = DataLoader(data, batch_size=8, shuffle=True)
valid_loader = DataLoader(data, batch_size=8)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)


def train(a, b):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(a), b).backward()
    optimizer.step()


def judge(a, b):
    return nn.functional.mse_loss(model(a), b).item() * len(a)


{loops}
"""
NAMES = {
    "the loaders": ("train_loader", "valid_loader"),
    "numbered": ("enumerate(train_loader)", "enumerate(valid_loader)"),
    "iterators": ("iter(train_loader)", "iter(valid_loader)"),
    "rows": ("zip(range(64), train_loader)", "zip(range(64), valid_loader)"),
}
PLACES = {
    "one after the other": """
for epoch in range(2):
    turns = {first}
    for each in turns:
        train(*each[-1] if isinstance(each[0], int) else each)
    seen, total = 0, 0.0
    turns = {second}
    for each in turns:
        a, b = each[-1] if isinstance(each[0], int) else each
        total, seen = total + judge(a, b), seen + len(a)
    print(total / 64, seen)
""",
    "in a block": """
def epoch():
    turns = {first}
    for each in turns:
        train(*each[-1] if isinstance(each[0], int) else each)
    with torch.no_grad():
        model.eval()
        turns = {second}
        seen, total = 0, 0.0
        for each in turns:
            a, b = each[-1] if isinstance(each[0], int) else each
            total += judge(a, b)
            seen += len(a)
    return total / 64, seen


print(*epoch())
""",
}
CASES = [(names, place) for names in NAMES for place in PLACES]


def written(names: str, place: str) -> str:
    first, second = NAMES[names]
    return PROGRAM.format(loops=PLACES[place].format(first=first, second=second))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """What rank 0 of two prints in each program."""
    programs = ((f"{names}, {place}", written(names, place)) for names, place in CASES)
    return told_by_first(programs, tmp_path_factory.mktemp("names"))


@pytest.mark.parametrize(("names", "place"), CASES)
def test_what_is_evaluated_is_not_divided(
    names: str, place: str, told: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert told[f"{names}, {place}"] == pytest.approx(told_alone(written(names, place), capsys))
    assert told[f"{names}, {place}"][1] == 64
