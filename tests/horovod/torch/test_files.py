"""Training over several files, each of which may be the first to be imported: started once, run on two processes."""

from __future__ import annotations

import contextlib
import textwrap
from pathlib import Path

import pytest
from horovod.torch.programs import rewritten

from distml.cli.main import main

from spmd.running import together

TRAINER = """\
import torch


class Trainer:
    def __init__(self, model, data):
        self.model, self.data = model, data
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def run(self):
        loader = torch.utils.data.DataLoader(self.data, batch_size=8, shuffle=True)
        for epoch in range(2):
            for x, y in loader:
                self.optimizer.zero_grad()
                ((self.model(x) - y) ** 2).mean().backward()
                self.optimizer.step()
            print("epoch", epoch)
"""
ENTRY = """\
import torch

{imported}

data = torch.utils.data.TensorDataset(torch.ones(64, 4), torch.ones(64, 1))
trainer = Trainer(torch.nn.Linear(4, 1), data)
trainer.run()
torch.save(trainer.model.state_dict(), "model.pt")
print("done")
"""
JOB = """\
import torch
from helper import Trainer


def train():
    data = torch.utils.data.TensorDataset(torch.ones(64, 4), torch.ones(64, 1))
    Trainer(torch.nn.Linear(4, 1), data).run()
"""


def chain(links: int) -> dict[str, str]:
    """An entry that reaches what trains through files that name no framework."""
    names = ["train", *(f"link{number}" for number in range(links))]
    found = {"job.py": JOB, "helper.py": TRAINER}
    for name, next_name in zip(names, [*names[1:], "job"]):
        found[f"{name}.py"] = f"import {next_name}\n\n\ndef train():\n    {next_name}.train()\n"
    found["train.py"] += '\n\nif __name__ == "__main__":\n    train()\n    print("done")\n'
    return found


LAYOUTS = {
    "an entry and a helper": {"train.py": ENTRY.format(imported="from helper import Trainer"), "helper.py": TRAINER},
    "an entry and a package": {
        "train.py": ENTRY.format(imported="from lib.trainer import Trainer"),
        "lib/__init__.py": "",
        "lib/trainer.py": TRAINER,
    },
    "an entry far from what trains": chain(2),
}


THREADS = """
import pathlib
for each in pathlib.Path("/proc/self/task").iterdir():
    print("thread", (each / "comm").read_text().strip())
"""

TOP = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.zeros(16, 4), torch.zeros(16, 1))
loader = DataLoader(data, batch_size=2, shuffle=True)
{}
optimizer = torch.optim.SGD({}.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss({}(x), y).backward()
    optimizer.step()
"""


MAKING = {
    "variable": ("net = nn.Linear(4, 1)", "net"),
    "attribute": ("class Kept:\n    pass\n\nkept = Kept()\nkept.net = nn.Linear(4, 1)", "kept.net"),
}
BLOCKS = ("open", "guarded", "in a block")


def wrapped(making: str, block: str) -> str:
    """A script that still has its model when it ends."""
    statement, model = MAKING[making]
    text = TOP.format(statement, model, model)
    if block == "in a block":
        head, loop = text.split("for x,")
        return head + "with torch.autograd.set_detect_anomaly(False):\n" + textwrap.indent("for x," + loop, "    ")
    if block == "guarded":
        head, body = text.split("data =")
        return head + 'if __name__ == "__main__":\n' + textwrap.indent("data =" + body, "    ")
    return text


HELD = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.zeros(16, 4), torch.zeros(16, 1))


class Trainer:
    def __init__(self):
        self.net = nn.Linear(4, 1)

    def fit(self):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        for epoch in range(2):
            for x, y in DataLoader(data, batch_size=2, shuffle=True):
                optimizer.zero_grad()
                nn.functional.mse_loss(self.net(x), y).backward()
                optimizer.step()
        return self


"""
APP = """
class App:
    def __init__(self):
        self.trainer = Trainer()

    def run(self):
        self.trainer.fit()

"""
MADE = """
def made():
    found = Trainer()
    found.fit()
    return found

"""
HOLDERS = {
    "an object": ("", "held = Trainer()\nheld.fit()"),
    "what a method gives": ("", "held = Trainer().fit()"),
    "what a function gives": (MADE, "held = made()"),
    "an object that is handed on": ("\ndef fitted(given):\n    given.fit()\n\n", "held = Trainer()\nfitted(held)"),
    "two names": ("", "held = Trainer()\nsame = held\nheld.fit()"),
    "an object in an object": (APP, "app = App()\napp.run()"),
    "an item": ("", "held = {'first': Trainer()}\nheld['first'].fit()"),
    "an item of a list": ("", "held = [Trainer()]\nheld[0].fit()"),
    "under a condition": ("", "held = Trainer()\nif len(data) > 2:\n    held.fit()"),
    "under one that does not hold": ("", "held = Trainer()\nif len(data) > 200:\n    held.fit()"),
    "nothing": (MADE, "made()"),
}


def held(number: int) -> str:
    """A script with one of the holders, every second one behind a guard."""
    parts, script = list(HOLDERS.values())[number]
    script = 'if __name__ == "__main__":\n' + textwrap.indent(script, "    ") if number % 2 else script
    return HELD + parts + "\n" + script + "\n"


HOLDING = {
    **{f"{making}, {block}": wrapped(making, block) for making in MAKING for block in BLOCKS},
    **{holder: held(number) for number, holder in enumerate(HOLDERS)},
}
PROGRAMS = {**LAYOUTS, **{name: {"train.py": text} for name, text in HOLDING.items()}}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What two processes print in each program as it is rewritten, and at its end the names of the threads that are left."""
    folders = {name: tmp_path_factory.mktemp("program") for name in PROGRAMS}
    for name, folder in folders.items():
        for path, text in PROGRAMS[name].items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        with contextlib.chdir(folder):
            assert main(["horovod", "--backend", "ddp", "--write", "."]) == 0
        with (folder / "train.py").open("a") as script:
            script.write(THREADS)
    return {name: "".join(together(["train.py"], folder)) for name, folder in folders.items()}


@pytest.mark.requires("torch")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_process_group_is_started_once(layout: str, printed: dict[str, str]) -> None:
    told = [line for line in printed[layout].splitlines() if not line.startswith("thread")]
    assert told == ["epoch 0", "epoch 1", "done"]


@pytest.mark.requires("torch")
@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_of_the_process_group_is_left_at_the_end(program: str, printed: dict[str, str]) -> None:
    """What runs on while the interpreter ends can abort it: no thread of the group may, whatever holds a wrapped model."""
    threads = [line for line in printed[program].splitlines() if line.startswith("thread")]
    assert threads and not [each for each in threads if "gloo" in each]


@pytest.mark.parametrize("program", HOLDING)
def test_the_model_is_wrapped(program: str) -> None:
    assert "DistributedDataParallel" in rewritten(HOLDING[program], "ddp")


@pytest.mark.parametrize("links", list(range(5)))
def test_an_entry_is_rewritten_however_far_from_what_trains(links: int, folder: Path) -> None:
    for name, text in chain(links).items():
        (folder / name).write_text(text)
    assert main(["horovod", "--backend", "ddp", "--write", "."]) == 0
    changed = {name for name, text in chain(links).items() if (folder / name).read_text() != text}
    assert changed == {"train.py", "helper.py"}
    assert "if dist.get_rank() == 0:\n        print" in (folder / "train.py").read_text()
