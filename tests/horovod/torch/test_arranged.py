"""Data sets that are arranged anew between epochs: two ranks go through all samples, each through its own half."""

from __future__ import annotations

import json

import pytest
from horovod.torch.programs import outcome, said_by_two

pytestmark = pytest.mark.requires("torch")

HEAD = """\
import json
import os
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

{above}

class Data(Dataset):
    def __init__(self):
        self.order = list(range(32))
        {first}

    def __len__(self):
        return len(self.order)

    def __getitem__(self, i):
        number = self.order[i]
        {looked}
        return torch.full((4,), float(number)), torch.zeros(1)

{again}

data = Data()
loader = DataLoader({given}, batch_size=4{kind})
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
seen = []
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        seen += x[:, 0].int().tolist()
    data.renew()
"""
UNEVEN = "while random.random() < number / 40 or np.random.rand() < number / 40 or torch.rand(1) < number / 40:\n            pass"
WAYS = {
    "NumPy, in place": {"again": "np.random.shuffle(self.order)"},
    "NumPy, given anew": {"again": "self.order = np.random.permutation(32)"},
    "NumPy, an order of the order": {"again": "self.order = np.array(self.order)[np.random.permutation(32)]"},
    "Python, in place": {"again": "random.shuffle(self.order)"},
    "Python, given anew": {"again": "self.order = random.sample(self.order, len(self.order))"},
    "PyTorch": {"again": "self.order = torch.randperm(32).tolist()"},
    "two of them": {"again": "random.shuffle(self.order)\n        np.random.shuffle(self.order)"},
    "at once and again": {"first": "self.renew()", "again": "random.shuffle(self.order)"},
    "drawn in looking up": {"looked": UNEVEN, "again": "np.random.shuffle(self.order)"},
    "with a seed": {"above": "np.random.seed(3)", "looked": UNEVEN, "again": "np.random.shuffle(self.order)"},
    "by a function": {
        "above": "def mixed(given):\n    return random.sample(given, len(given))\n",
        "again": "self.order = mixed(self.order)",
    },
    "by another method": {
        "again": "self._mix()\n\n    def _mix(self):\n        np.random.shuffle(self.order)",
    },
    "a generator of its own": {
        "first": "self.numbers = np.random.default_rng()",
        "again": "self.numbers.shuffle(self.order)",
    },
    "another of its own": {"first": "self.numbers = random.Random()", "again": "self.numbers.shuffle(self.order)"},
    "made for each epoch": {"again": "np.random.default_rng().shuffle(self.order)"},
    "and shuffled": {"again": "np.random.shuffle(self.order)", "kind": ", shuffle=True"},
    "drawn where batches are put together": {
        "above": "from torch.utils.data import default_collate",
        "again": "np.random.shuffle(self.order)\n\n"
        "    def together(self, found):\n        random.shuffle(found)\n        return default_collate(found)",
        "given": "data, collate_fn=data.together, num_workers=1",
    },
    "drawn where a worker begins": {
        "again": "np.random.shuffle(self.order)\n\n    def begin(self, number):\n        np.random.seed(random.randint(0, 99))",
        "given": "data, worker_init_fn=data.begin, num_workers=1",
    },
    "a part of it": {"again": "np.random.shuffle(self.order)", "given": "Subset(data, range(32))"},
}
PLAIN = {"above": "", "first": "pass", "looked": "pass", "given": "data", "kind": ""}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """The samples that each of two ranks goes through."""
    texts = {}
    for name, way in WAYS.items():
        again = f"    def renew(self):\n        {way['again']}\n"
        found = outcome(HEAD.format(**{**PLAIN, **way, "again": again}), "ddp")
        assert not (found.plan.refusals or found.plan.warnings), name
        (file,) = found.files.values()
        texts[name] = f"{file.source}\nprint(json.dumps(seen))\n"
    return said_by_two(texts, tmp_path_factory.mktemp("arranged"))


@pytest.mark.parametrize("name", WAYS)
def test_every_sample_is_seen_once_an_epoch(name: str, said: dict[str, tuple[str, str]]) -> None:
    one, other = (json.loads(each) for each in said[name])
    assert [len(one), len(other)] == [48, 48]
    for epoch in range(3):
        assert sorted([*one[16 * epoch : 16 * epoch + 16], *other[16 * epoch : 16 * epoch + 16]]) == list(range(32))
