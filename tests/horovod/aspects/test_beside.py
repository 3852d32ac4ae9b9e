"""What a file beside the script does counts: it changes with the script, or the rewrite is refused and says what to give."""

from __future__ import annotations

import pytest
from horovod.torch.programs import printed_as

from distml.rewrites.horovod.options import Backend, Options
from distml.rewrites.horovod.rewrite import Outcome, rewrite
from distml.source.project import Project
from distml.training.program import followed

FIT = """\
from tensorflow import keras

import helpers

{given}
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, epochs=2)
"""
SPLIT = """\
import numpy as np
from sklearn.model_selection import train_test_split
from tensorflow import keras


def load():
    x, y = np.load("x.npy"), np.load("y.npy")
    {split}
    return x, y


class Data:
    def __init__(self):
        self.train = None

    def load(self):
        self.train = load()
"""
GIVEN = {
    "by a function": "x, y = helpers.load()",
    "by an attribute": "data = helpers.Data()\ndata.load()\nx, y = data.train",
}
SPLITS = {
    "a split": "x, rest, y, other = train_test_split(x, y)",
    "a permutation": "order = np.random.permutation(len(x))\n    x, y = x[order], y[order]",
}
STEPS = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

import helpers

data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{made}
for epoch in range(3):
    for i, (a, b) in enumerate(loader):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(a), b).backward()
        {told}
        optimizer.step()
"""
RATES = """\
import torch


def set_rate(optimizer, step):
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * min(1.0, step / 100)


class Warmup:
    def __init__(self, optimizer):
        self.optimizer, self.steps = optimizer, 0

    def tell(self):
        self.steps += 1
        for group in self.optimizer.param_groups:
            group["lr"] = 0.1 * min(1.0, self.steps / 100)
"""
TOLD = {
    "by a function": ("", "helpers.set_rate(optimizer, epoch * len(loader) + i)"),
    "by an object": ("warmup = helpers.Warmup(optimizer)", "warmup.tell()"),
}

SHOWN = {
    "a function": "def tell(i):\n    print(i)\n",
    "a method": "class Log:\n    def write(self, text):\n        print(text)\n\nlog = Log()\n\ndef tell(i):\n    log.write(i)\n",
    "a stream": "import sys\n\ndef tell(i):\n    sys.stdout.write(str(i))\n",
    "a bar": "from tqdm import tqdm\n\ndef tell(i):\n    for _ in tqdm([1]):\n        pass\n",
    "what it is made with": "class Log:\n    def __init__(self, i):\n        print(i)\n\ndef tell(i):\n    Log(i)\n",
}


def outcome(script: str, helpers: str, backend: Backend = "horovod", both: bool = False) -> Outcome:
    """What becomes of a script with a file beside it, which may change too or not."""
    texts = {"/nowhere/script.py": script, "/nowhere/helpers.py": helpers}
    project = Project("/nowhere", overlay={name: text.encode() for name, text in texts.items()})
    program = followed([project.open("/nowhere/script.py")], project)
    editable = [*texts][: 2 if both else 1]
    return rewrite(program, Options(backend=backend), editable, {each: texts[each] for each in editable})


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("given", GIVEN)
def test_a_split_that_each_rank_makes_in_its_own_way_is_seeded_or_refused(given: str, split: str) -> None:
    script, helpers = FIT.format(given=GIVEN[given]), SPLIT.format(split=SPLITS[split])
    refused = ["HVD207"] if "train_test_split" in SPLITS[split] else []  # the script seeds the generator of all
    assert [each.code for each in outcome(script, helpers).plan.refusals] == refused
    found = outcome(script, helpers, both=True)
    assert not found.plan.refusals
    assert any("(x, y, random_state=0)" in file.source or "seed(0)" in file.source for file in found.files.values())


@pytest.mark.parametrize("backend", ["horovod", "ddp"])
@pytest.mark.parametrize("told", TOLD)
def test_rates_that_are_set_beside_the_script_are_scaled_or_refused(told: str, backend: Backend) -> None:
    made, tells = TOLD[told]
    script = STEPS.format(made=made, told=tells)
    assert [each.code for each in outcome(script, RATES, backend).plan.refusals] == ["HVD207"]
    found = outcome(script, RATES, backend, both=True)
    (helpers,) = (file.source for location, file in found.files.items() if location.endswith("helpers.py"))
    assert helpers.count('group["lr"] = 0.1 * min') == 1 and ")) * " in helpers  # what the script does not use stays
    assert "HVD311" in [each.code for each in found.plan.warnings]


@pytest.mark.parametrize("shown", SHOWN)
def test_what_a_file_of_no_framework_shows_is_shown_once(shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = outcome(STEPS.format(made="", told="helpers.tell(i)"), SHOWN[shown], both=True)
    (helpers,) = (file.source for location, file in found.files.items() if location.endswith("helpers.py"))
    assert printed_as(2, helpers + "\ntell(1)\n", monkeypatch) == printed_as(
        1, SHOWN[shown] + "\ntell(1)\n", monkeypatch
    )
    assert not printed_as(2, helpers + "\ntell(1)\n", monkeypatch, rank=1)


ADDED = {
    "sys.path.append('lib')": "lib",
    "sys.path.insert(0, './lib/more')": "lib/more",
    "sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))": "lib",
    "HERE = os.path.dirname(__file__)\nsys.path.append(os.path.join(HERE, 'lib', 'more'))": "lib/more",
}


@pytest.mark.parametrize("added", ADDED)
def test_a_module_in_a_folder_that_the_script_adds_is_of_the_program(added: str) -> None:
    script = STEPS.format(made="", told="helpers.tell(i)").replace(
        "import helpers", f"import os, sys\n{added}\nimport helpers"
    )
    texts = {"/nowhere/script.py": script, f"/nowhere/{ADDED[added]}/helpers.py": SHOWN["a function"]}
    project = Project("/nowhere", overlay={name: text.encode() for name, text in texts.items()})
    program = followed([project.open("/nowhere/script.py")], project)
    found = rewrite(program, Options(), [*texts], texts)
    assert [location for location in found.files if location.endswith("helpers.py")]
