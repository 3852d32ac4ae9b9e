"""A split into training and evaluation data is one split on all ranks, however and wherever it is drawn."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest
from horovod.torch.programs import outcome, said_by_two

from distml.rewrites.horovod.options import Backend

pytestmark = pytest.mark.requires("torch")

HEAD = """\
import json
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, SubsetRandomSampler, TensorDataset

{above}

x = torch.arange(32.0).reshape(32, 1)
y = torch.zeros(32, 1)
data = TensorDataset(x, y)

{split}
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
seen, judged = [], []
for epoch in range(2):
    for a, b in train_loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
        seen += a[:, 0].int().tolist()
    with torch.no_grad():
        for a, b in test_loader:
            model(a)
            judged += a[:, 0].int().tolist()
"""
SUBSETS = """
train_loader = DataLoader(Subset(data, order[:24]), batch_size=4, shuffle=True)
test_loader = DataLoader(Subset(data, order[24:]), batch_size=4)
"""
SAMPLERS = """
train_loader = DataLoader(data, batch_size=4, sampler=SubsetRandomSampler(order[:24]))
test_loader = DataLoader(data, batch_size=4, sampler=SubsetRandomSampler(order[24:]))
"""
PARTS = """
train_loader = DataLoader(train_set, batch_size=4, shuffle=True)
test_loader = DataLoader(test_set, batch_size=4)
"""
ARRAYS = """
train_loader = DataLoader(TensorDataset(torch.as_tensor(a), torch.as_tensor(b)), batch_size=4, shuffle=True)
test_loader = DataLoader(TensorDataset(torch.as_tensor(c), torch.as_tensor(d)), batch_size=4)
"""
MASK = """
mask = np.random.rand(32) < 0.75
train_loader = DataLoader(Subset(data, np.flatnonzero(mask)), batch_size=4)
test_loader = DataLoader(Subset(data, np.flatnonzero(~mask)), batch_size=4)
"""
IMPORTED = """
def load():
    from random import shuffle

    found = list(range(32))
    shuffle(found)
    return found


order = load()
"""
MODULE = """
class Module:
    def __init__(self):
        self.data = data
        {first}

    def setup(self):
        {drawn}
        self.train_set, self.test_set = Subset(self.data, list(order[:24])), Subset(self.data, list(order[24:]))


module = Module()
{then}
train_set, test_set = module.train_set, module.test_set
"""
SKLEARN = "from sklearn.model_selection import {0}"
WAYS = {
    "random_split": ("", "train_set, test_set = torch.utils.data.random_split(data, [24, 8])" + PARTS),
    "NumPy, in place": ("", "order = np.arange(32)\nnp.random.shuffle(order)" + SUBSETS),
    "Python, in place": ("", "order = list(range(32))\nrandom.shuffle(order)" + SUBSETS),
    "a permutation of NumPy": ("", "order = np.random.permutation(32)" + SAMPLERS),
    "a permutation of PyTorch": ("", "order = torch.randperm(32).tolist()" + SAMPLERS),
    "a sample": (
        "",
        "order = random.sample(range(32), 24)\norder += [i for i in range(32) if i not in order]" + SUBSETS,
    ),
    "a choice": (
        "",
        "order = np.random.choice(32, 24, replace=False)\norder = np.concatenate([order, np.setdiff1d(np.arange(32), order)])"
        + SUBSETS,
    ),
    "a mask": ("", MASK),
    "a generator without a seed": ("", "order = np.random.default_rng().permutation(32)" + SUBSETS),
    "a generator of Python": ("", "order = list(range(32))\nrandom.Random().shuffle(order)" + SUBSETS),
    "an old generator of NumPy": ("", "order = np.random.RandomState().permutation(32)" + SUBSETS),
    "the time as a seed": (
        "import time",
        "np.random.seed(int(time.time() * 1000) % 1000)\norder = np.random.permutation(32)" + SUBSETS,
    ),
    "the time as a seed of PyTorch": (
        "import time",
        "torch.manual_seed(time.time_ns() % 10000)\norder = torch.randperm(32).tolist()" + SUBSETS,
    ),
    "train_test_split": (
        SKLEARN.format("train_test_split"),
        "a, c, b, d = train_test_split(x.numpy(), y.numpy(), test_size=8)" + ARRAYS,
    ),
    "train_test_split of indices": (
        SKLEARN.format("train_test_split"),
        "one, other = train_test_split(list(range(32)), test_size=8)\norder = [*one, *other]" + SUBSETS,
    ),
    "train_test_split with None": (
        SKLEARN.format("train_test_split"),
        "a, c, b, d = train_test_split(x.numpy(), y.numpy(), test_size=8, random_state=None)" + ARRAYS,
    ),
    "folds": (
        SKLEARN.format("KFold"),
        "one, other = next(KFold(4, shuffle=True).split(x))\norder = [*one, *other]" + SUBSETS,
    ),
    "stratified": (
        SKLEARN.format("StratifiedShuffleSplit"),
        "one, other = next(StratifiedShuffleSplit(1, test_size=8).split(x, np.arange(32) % 2))\norder = [*one, *other]"
        + SUBSETS,
    ),
    "shuffled by scikit-learn": ("from sklearn.utils import shuffle", "order = shuffle(np.arange(32))" + SUBSETS),
    "a table": ("import pandas as pd", "order = pd.DataFrame({'n': range(32)}).sample(frac=1).n.tolist()" + SUBSETS),
    "part of a table": (
        "import pandas as pd",
        "table = pd.DataFrame({'n': range(32)})\none = table.sample(frac=0.75)\n"
        "order = [*one.n, *table.drop(one.index).n]" + SUBSETS,
    ),
    "in a function": (
        "def split(n):\n    order = np.arange(n)\n    np.random.shuffle(order)\n    return order",
        "order = split(32)" + SUBSETS,
    ),
    "in a class": ("", MODULE.format(first="self.setup()", drawn="order = np.random.permutation(32)", then="") + PARTS),
    "in a method that is called": (
        "",
        MODULE.format(first="pass", drawn="order = torch.randperm(32).tolist()", then="module.setup()") + PARTS,
    ),
    "in a class, by a sampler of its own": (
        "",
        MODULE.format(
            first="self.drawn = np.random.default_rng()",
            drawn="order = self.drawn.permutation(32)",
            then="module.setup()",
        )
        + PARTS,
    ),
    "where it is imported": ("", IMPORTED + SUBSETS),
    "by another name": ("from numpy.random import permutation as mixed", "order = mixed(32)" + SUBSETS),
    "sorted by drawn keys": ("", "order = sorted(range(32), key=lambda i: random.random())" + SUBSETS),
    "argsort": ("", "order = np.random.rand(32).argsort()" + SUBSETS),
    "argsort of PyTorch": ("", "order = torch.rand(32).argsort().tolist()" + SUBSETS),
    "pairs shuffled together": (
        "",
        "pairs = list(zip(x.tolist(), y.tolist()))\nrandom.shuffle(pairs)\na, b = zip(*pairs[:24])\nc, d = zip(*pairs[24:])"
        + ARRAYS,
    ),
    "a set": ("", "names = list({str(i) for i in range(32)})\norder = [int(each) for each in names]" + SUBSETS),
    "seeded": ("", "np.random.seed(3)\norder = np.random.permutation(32)" + SUBSETS),
}
LIBRARIES = ("sklearn", "pandas")
BEGUN = "import random, numpy, torch\nnumpy.random.seed(); random.seed(); torch.seed()\n"
"""What one program draws is not to lead the next one to the same."""
UNKNOWN = {
    "entropy": "drawn = torch.Generator()\ndrawn.seed()\norder = torch.randperm(32, generator=drawn).tolist()",
    "of the system": "order = list(range(32))\nrandom.SystemRandom().shuffle(order)",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """The samples that each of two ranks trains on, and those it evaluates with."""
    texts = {}
    for name, (above, split) in WAYS.items():
        found = outcome(HEAD.format(above=above, split=split), "ddp")
        if any(f"import {each}" in above or f"from {each}" in above for each in LIBRARIES if find_spec(each) is None):
            continue
        assert not found.plan.refusals, name
        (file,) = found.files.values()
        texts[name] = f"{BEGUN}{file.source}\nprint(json.dumps([[int(i) for i in each] for each in (seen, judged)]))\n"
    return said_by_two(texts, tmp_path_factory.mktemp("splits"))


@pytest.mark.parametrize("name", WAYS)
def test_no_rank_trains_on_what_is_evaluated(name: str, said: dict[str, tuple[str, str]]) -> None:
    if name not in said:
        pytest.skip("not run: needs scikit-learn and pandas")
    (one, judged), (other, as_well) = (json.loads(each) for each in said[name])
    assert not {*one, *other} & {*judged, *as_well}
    assert {*one, *other, *judged, *as_well} == set(range(32))


@pytest.mark.parametrize("backend", ["ddp", "horovod"])
@pytest.mark.parametrize("name", WAYS)
def test_the_split_is_agreed_on(name: str, backend: Backend) -> None:
    """Without the libraries too: each way has a seed, of its own or of all."""
    (file,) = outcome(HEAD.format(above=WAYS[name][0], split=WAYS[name][1]), backend).files.values()
    assert any(each in file.source for each in ("seed(", "seed=", "(0)", "Random(0)", "in sorted(", "list(sorted("))


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_no_seed_makes_alike_is_refused(name: str) -> None:
    plan = outcome(HEAD.format(above="", split=UNKNOWN[name] + SUBSETS), "ddp").plan
    assert {each.code for each in plan.refusals} == {"HVD213"}
