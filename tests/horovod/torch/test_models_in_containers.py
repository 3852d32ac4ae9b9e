"""All ranks begin with the weights of rank 0, also of models that no model has: plain dicts and lists hold them."""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.torch.programs import outcome, said_by_two

pytestmark = pytest.mark.requires("torch")

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        {made}
        self.last = nn.Linear(4, 1)
        {given}

    def forward(self, x):
        return self.last({used})


net = Pair()
for epoch in range(1):
    for (x,) in DataLoader(TensorDataset(torch.ones(64, 4)), batch_size=8):
        net.optimizer.zero_grad()
        net(x).pow(2).mean().backward()
        net.optimizer.step()
print(*{first}.weight.flatten().tolist())
"""
DICT = "self.parts = {'a': nn.Linear(4, 4), 'b': nn.Linear(4, 4)}"
LIST = "self.parts = [nn.Linear(4, 4), nn.Linear(4, 4)]"
ADAM = "self.optimizer = torch.optim.SGD(each, lr=1e-9)"
WAYS = {
    "a dict": (
        DICT,
        (
            "each = list(self.parameters())\n        for name in self.parts:\n"
            f"            each += list(self.parts[name].parameters())\n        {ADAM}"
        ),
        "self.parts['a'](x)",
        "net.parts['a']",
    ),
    "a dict by its values": (
        DICT,
        (
            "each = list(self.parameters())\n        for part in self.parts.values():\n"
            f"            each += list(part.parameters())\n        {ADAM}"
        ),
        "self.parts['a'](x)",
        "net.parts['a']",
    ),
    "a list": (
        LIST,
        (
            "each = [*self.parameters()]\n        for part in self.parts:\n"
            f"            each += [*part.parameters()]\n        {ADAM}"
        ),
        "self.parts[1](self.parts[0](x))",
        "net.parts[0]",
    ),
    "a list of modules": (
        "self.parts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])",
        f"each = self.parameters()\n        {ADAM}",
        "self.parts[1](self.parts[0](x))",
        "net.parts[0]",
    ),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """The weights of a part on each of two ranks, which draw other ones."""
    texts = {}
    for name, (made, given, used, first) in WAYS.items():
        found = outcome(PROGRAM.format(made=made, given=given, used=used, first=first), "ddp")
        assert not found.plan.refusals, name
        (file,) = found.files.values()
        texts[name] = "import torch\ntorch.seed()\n" + file.source.replace("if dist.get_rank() == 0:", "if True:")
    return said_by_two(texts, Path(tmp_path_factory.mktemp("ranks")))


@pytest.mark.parametrize("name", WAYS)
def test_all_parts_begin_alike(name: str, told: dict[str, tuple[str, str]]) -> None:
    assert told[name][0] == told[name][1] != ""
