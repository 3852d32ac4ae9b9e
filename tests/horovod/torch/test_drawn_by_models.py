"""What models draw where they are made is the same on all ranks: weights are broadcast, and what else they keep has one seed."""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.torch.programs import outcome, said_by_two

pytestmark = pytest.mark.requires("torch")

PROGRAM = """
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def projection(n):
    return torch.randn(4, n)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1.0
        {made}
        self.linear = nn.Linear(4, 1)

    def forward(self, x):
        return self.linear({drop})


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(2):
    for (x,) in DataLoader(TensorDataset(torch.ones(64, 4)), batch_size=8):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
print({told})
"""
KEPT = {
    "a tensor": "self.kept = torch.randn(4, 8)",
    "an order": "self.kept = torch.randperm(64)",
    "a mask": "self.kept = torch.rand(64) < 0.5",
    "an array": "self.kept = np.random.rand(8)",
    "a list": "self.kept = [random.random() for _ in range(8)]",
    "a shuffled list": "self.kept = list(range(64))\n        random.shuffle(self.kept)",
    "through a variable": "drawn = torch.randn(8)\n        self.kept = drawn / drawn.norm()",
    "by a function": "self.kept = projection(8)",
    "a tensor that is filled": "self.kept = torch.empty(4, 8).normal_()",
    "a tensor that is filled later": "self.kept = torch.FloatTensor(8).fill_(1).uniform_(-1, 1)",
    "a buffer that is not saved": 'self.register_buffer("kept", torch.randn(8), persistent=False)',
}
WEIGHTS = {
    "a parameter": "self.kept = nn.Parameter(torch.randn(4, 8))",
    "a parameter that is not trained": "self.kept = nn.Parameter(torch.randn(8), requires_grad=False)",
    "a buffer": 'self.register_buffer("kept", torch.randn(8))',
    "through a variable": "drawn = torch.randn(8)\n        self.kept = nn.Parameter(drawn)",
    "of an embedding": "self.kept = nn.Embedding.from_pretrained(torch.randn(8, 4))",
    "its data": "self.kept = nn.Linear(4, 8)\n        self.kept.weight.data = torch.randn(8, 4)",
    "weights that are filled": "self.kept = nn.Linear(4, 8)\n        self.kept.weight.data.normal_(0, 0.02)",
    "weights that are filled by a function": "self.kept = nn.Linear(4, 8)\n        nn.init.normal_(self.kept.weight)",
    "nothing": "self.kept = torch.zeros(8)",
}
APART = """
import random, numpy, torch
torch.seed(), random.seed(None), numpy.random.seed(None)
"""


def rewritten(made: str, backend: str, drop: str = "x") -> str:
    """What a program with such a model becomes."""
    kept = "list(net.kept)" if "[" in made or "list" in made else "net.kept.tolist()"
    found = outcome(PROGRAM.format(made=made, told=kept, drop=drop), backend)  # type: ignore[arg-type]
    assert not found.plan.refusals
    (file,) = found.files.values()
    return file.source


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """What each of two ranks keeps, which begin with other seeds."""
    texts = {
        name: APART + rewritten(made, "ddp").replace("if dist.get_rank() == 0:", "if True:")
        for name, made in KEPT.items()
    }
    return said_by_two(texts, Path(tmp_path_factory.mktemp("ranks")))


@pytest.mark.parametrize("name", KEPT)
def test_what_a_model_keeps_is_the_same_on_all_ranks(name: str, told: dict[str, tuple[str, str]]) -> None:
    assert told[name][0] == told[name][1] != ""


@pytest.mark.parametrize("backend", ["ddp", "horovod", "accelerate"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_need_no_seed(name: str, backend: str) -> None:
    assert "seed(" not in rewritten(WEIGHTS[name], backend)


DROPS = {
    "a layer": "nn.Dropout(0.5)(x)",
    "a function": "nn.functional.dropout(x, 0.5, self.training)",
    "noise": "x + torch.randn_like(x)",
    "noise that fills": "x + torch.empty(8, 4).normal_()",
    "noise that fills what is like it": "x + x.new(x.size()).normal_()",
    "noise that fills an old tensor": "x * torch.FloatTensor(8, 4).uniform_(0, 1)",
    "noise behind a layer": "x * nn.Linear(4, 4)(x).data.new(8, 4).bernoulli_(0.5)",
}


@pytest.mark.parametrize("drop", DROPS.values(), ids=DROPS)
def test_where_one_seed_is_set_each_rank_leaves_out_what_it_draws_itself(drop: str) -> None:
    assert "torch.manual_seed(torch.initial_seed() + dist.get_rank())" in rewritten(KEPT["a tensor"], "ddp", drop)
    assert "initial_seed() +" not in rewritten(KEPT["a tensor"], "ddp")
