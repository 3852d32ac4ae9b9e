"""Data sets that can only be gone through: how many items and batches they give, against real runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from interp.differential import compare_runs
from interp.programs import revealed

BODIES = {
    "a loop": "        for i in range(self.n):\n            yield torch.zeros(4), i\n",
    "another iterator": "        yield from ((torch.zeros(4), i) for i in range(self.n))\n",
    "an iterator": "        return iter([(torch.zeros(4), i) for i in range(self.n)])\n",
}
ASKED = """
loader = DataLoader(Stream({n}), batch_size={size}, drop_last={drop})
reveal_shape(len(loader))
reveal_shape(torch.stack([x.sum(0) for x, _ in loader]))
reveal_shape(len(list(loader)))
"""


def _program(body: str, said: str = "self.n") -> str:
    return f"""
import torch
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
{BODIES[body]}
    def __len__(self):
        return {said}

"""


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("n", "size", "drop"), [(12, 4, False), (11, 4, False), (11, 4, True), (3, 8, False)])
@pytest.mark.parametrize("said", ["self.n", "self.n + 9"])
@pytest.mark.filterwarnings("ignore")
def test_batches_of_a_stream(
    body: str, n: int, size: int, drop: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _program(body, said) + ASKED.format(n=n, size=size, drop=drop)
    assert compare_runs(program, tmp_path, monkeypatch)[1] == []


def test_each_worker_goes_through_all_of_it() -> None:
    program = _program("a loop") + "reveal_shape(len(list(DataLoader(Stream(12), batch_size=4, num_workers=2))))\n"
    assert revealed(program) == ["int length"]
