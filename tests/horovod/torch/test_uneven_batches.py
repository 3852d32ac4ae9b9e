"""Where batches are dealt out, the short one at the end is that of one rank: what its size decides, all ranks decide together."""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.torch.programs import HEAD, outcome, said_by_two

PROGRAM = (
    HEAD
    + """
from torch.utils.data import Sampler


class Rows(Sampler):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        return iter(range(len(self.data)))

    def __len__(self):
        return len(self.data)


def made():
    for i in range(0, len(x), 10):
        yield x[i : i + 10], y[i : i + 10]


data = TensorDataset(x, y)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for batch in LOADER:
        a, b = batch
        if CONDITION:
            continue
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
print("done")
"""
)
LOADERS = {
    "a sampler": "DataLoader(data, batch_size=10, sampler=Rows(data))",
    "batches": "DataLoader(data, batch_sampler=torch.utils.data.BatchSampler(Rows(data), 10, False))",
    "a generator": "made()",
}
CONDITIONS = [
    "a.size(0) != 10",
    "a.size()[0] is not 10",
    "len(a) < 10",
    "b.shape[0] != 10",
    "len(batch[0]) != 10",
    "a.dim() < 2 or len(b) < 10",
]
EVEN = {
    "a part of each rank": "DataLoader(data, batch_size=10)",
    "whole batches": "DataLoader(data, batch_size=10, sampler=Rows(data), drop_last=True)",
}


def text(loader: str, condition: str) -> str:
    (file,) = outcome(PROGRAM.replace("LOADER", loader).replace("CONDITION", condition), "ddp").files.values()
    return file.source


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("loader", LOADERS)
def test_all_ranks_skip_together(loader: str, condition: str) -> None:
    assert f"if any_rank({condition}):" in text(LOADERS[loader], condition)


@pytest.mark.parametrize("condition", CONDITIONS[:4])
@pytest.mark.parametrize("loader", EVEN)
def test_where_batches_are_of_one_size_nobody_asks(loader: str, condition: str) -> None:
    assert "any_rank(" not in text(EVEN[loader], condition)


def test_two_processes_come_to_their_end(tmp_path: Path) -> None:
    texts = {f"{name} {i}": text(loader, CONDITIONS[i]) for name, loader in LOADERS.items() for i in range(3)}
    assert all(first == "done\n" for first, _ in said_by_two(texts, tmp_path).values())
