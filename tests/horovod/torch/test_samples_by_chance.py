"""What chance does to the samples that a loader takes is drawn by each rank for itself, whatever seeds the program sets alike.

Where the order of what is dealt out comes from the same generator, HVD305 says that all ranks draw the same.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import outcome, rewritten_files

HEAD = """
import random
import numpy as np
import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.transforms import v2

{seed}


class Rows(Dataset):
    def __init__(self):
        self.x = list(range(64))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        {item}


data = {data}
loader = DataLoader(data, batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(a), b).backward()
    optimizer.step()
"""
SEEDS = {"torch": "torch.manual_seed(0)", "numpy": "np.random.seed(0)", "random": "random.seed(0)"}
OWN = {
    "torch": "torch.manual_seed(torch.initial_seed() + hvd.rank())",
    "numpy": "np.random.seed(np.random.randint(2**31 - 1) + hvd.rank())",
    "random": "random.seed(random.randrange(2**31) + hvd.rank())",
}
PICTURES = [
    "transforms.RandomCrop(32)",
    "transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])",
    "transforms.ColorJitter(0.4)",
    "transforms.RandomResizedCrop(32)",
    "v2.RandomRotation(10)",
    "transforms.RandAugment()",
]
ITEMS = {
    "torch": ["return self.x[i] + torch.randn(4), 0", "return self.x[int(torch.randint(64, (1,)))], 0"],
    "numpy": ["return self.x[i] + np.random.randn(4), 0", "return self.x[np.random.randint(64)], 0"],
    "random": ["return self.x[random.randrange(64)], 0", "return self.x[i] * random.random(), 0"],
}
PLAIN = "return self.x[i], 0"


def program(kind: str, item: str = PLAIN, data: str = "Rows()") -> str:
    return HEAD.format(seed=SEEDS[kind], item=item, data=data)


def text(program: str) -> str:
    (file,) = outcome(program).files.values()
    return file.source


@pytest.mark.parametrize("change", PICTURES)
def test_pictures_are_changed_by_numbers_of_each_rank(change: str) -> None:
    data = f"torchvision.datasets.CIFAR10('.', transform={change})"
    assert OWN["torch"] in text(program("torch", data=data))


@pytest.mark.parametrize(("kind", "item"), [(kind, item) for kind, items in ITEMS.items() for item in items])
def test_samples_are_made_by_numbers_of_each_rank(kind: str, item: str) -> None:
    assert OWN[kind] in text(program(kind, item))


@pytest.mark.parametrize("kind", SEEDS)
@pytest.mark.parametrize("data", ["Rows()", "torchvision.datasets.CIFAR10('.', transform=transforms.ToTensor())"])
def test_where_nothing_is_drawn_seeds_stay(kind: str, data: str) -> None:
    assert OWN[kind] not in text(program(kind, data=data))


DEALT = """
import torch
from torch import nn
from elsewhere import iterator

model = nn.Sequential(nn.Linear(4, 1){dropout})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for a, b in iterator:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("dropout", "said"), [("", False), (", nn.Dropout(0.1)", True)])
def test_one_generator_for_an_order_and_for_dropout_is_named(dropout: str, said: bool) -> None:
    codes = {each.code for each in outcome(DEALT.format(dropout=dropout), "ddp").plan.warnings}
    assert "HVD302" in codes and ("HVD305" in codes) is said


ROWS = """
import random
import numpy
import torch
from torch.utils.data import DataLoader, Dataset


def loader(data):
    return DataLoader(data, batch_size=8, shuffle=True)


class Rows(Dataset):
    def __init__(self):
        self.x = torch.ones(64, 4)

    def __len__(self):
        return 64

    def __getitem__(self, i):
        return self.x[i] * {drawn}, torch.zeros(1)
"""
SCRIPT = """
import torch
from torch import nn
from rows import Rows, loader

data = Rows()
first = data.__getitem__(3)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in loader(data):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(a), b).backward()
    optimizer.step()
"""


@pytest.mark.parametrize("drawn", ["random.random()", "numpy.random.rand()", "torch.rand(1)"])
@pytest.mark.parametrize("scripts", [("train.py",), ("train.py", "again.py")])
def test_each_script_gets_numbers_of_each_rank_whatever_it_imports(drawn: str, scripts: tuple[str, ...]) -> None:
    """What is drawn in front of training has one seed, and samples have one of each rank: in every script that trains."""
    files = rewritten_files({"rows.py": ROWS.format(drawn=drawn), **dict.fromkeys(scripts, SCRIPT)})
    for script in scripts:
        lines = files[script].splitlines()
        own = next(at for at, line in enumerate(lines) if line.endswith("+ dist.get_rank())"))
        assert any("seed(agreed(" in line for line in lines[:own])
        assert lines[own].startswith(("random.seed", "np.random.seed", "numpy.random.seed", "torch.manual_seed"))


FIXED = [
    "x.split(8)",
    "x.chunk(8)",
    "torch.stack(list(x)).split(8)",
    "np.array_split(x.numpy(), 8)",
    "[x[i : i + 8] for i in range(0, 64, 8)]",
]
DRAWN = ["x[torch.randperm(64)].split(8)", "torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(x), 8, True)"]
CUT = """
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
model = nn.Sequential(nn.Linear(4, 1), nn.Dropout(0.1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for a in {cut}:
        optimizer.zero_grad()
        model(torch.as_tensor(a).reshape(8, -1)[:, :4].float()).mean().backward()
        optimizer.step()
"""


@pytest.mark.parametrize("cut", FIXED)
def test_an_order_that_is_not_drawn_leaves_each_rank_its_own_dropout(cut: str) -> None:
    found = outcome(CUT.format(cut=cut))
    assert "HVD305" not in {each.code for each in found.plan.warnings}
    (file,) = found.files.values()
    assert OWN["torch"] in file.source


@pytest.mark.parametrize("cut", DRAWN)
def test_an_order_that_is_drawn_is_that_of_all_ranks(cut: str) -> None:
    (file,) = outcome(CUT.format(cut=cut)).files.values()
    assert OWN["torch"] not in file.source or "Generator()" in file.source


GRAPH = """
import networkx as nx
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

graph = {graph}
data = TensorDataset(torch.tensor(nx.to_numpy_array(graph), dtype=torch.float32))
model = nn.Linear(64, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (a,) in DataLoader(data, batch_size=8, shuffle=True):
    optimizer.zero_grad()
    model(a).mean().backward()
    optimizer.step()
"""
GRAPHS = {
    "nx.erdos_renyi_graph(64, 0.1)": True,
    "nx.generators.random_graphs.barabasi_albert_graph(64, 3)": True,
    "nx.random_regular_graph(3, 64)": True,
    "nx.stochastic_block_model([32, 32], [[0.5, 0.1], [0.1, 0.5]])": True,
    "nx.gnp_random_graph(64, 0.1, seed=3)": False,
    "nx.grid_2d_graph(8, 8)": False,
    "nx.karate_club_graph()": False,
}


@pytest.mark.parametrize("graph", GRAPHS)
def test_graphs_that_are_drawn_are_the_same_on_all_ranks(graph: str) -> None:
    assert ("random.seed(" in text(GRAPH.format(graph=graph))) is GRAPHS[graph]
