"""Training over several files, each of which may be the first to be imported: started once, run on two processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from distml.cli.main import main

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


def run(folder: Path) -> str:
    """What two processes print."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "train.py"]
    environ = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.requires("torch")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_process_group_is_started_once(layout: str, folder: Path) -> None:
    for name, text in LAYOUTS[layout].items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    assert main(["horovod", "--backend", "ddp", "--write", "."]) == 0
    assert run(folder).splitlines() == ["epoch 0", "epoch 1", "done"]


@pytest.mark.requires("torch")
def test_nothing_of_the_process_group_is_left_at_the_end(folder: Path) -> None:
    """What runs on while the interpreter ends can abort it: no thread of the group may, whatever the program imported."""
    for name, text in LAYOUTS["an entry and a helper"].items():
        (folder / name).write_text(text)
    assert main(["horovod", "--backend", "ddp", "--write", "."]) == 0
    with (folder / "train.py").open("a") as script:
        script.write("import pathlib\nfor each in pathlib.Path('/proc/self/task').iterdir():\n")
        script.write("    print('thread', (each / 'comm').read_text().strip())\n")
    threads = [line for line in run(folder).splitlines() if line.startswith("thread")]
    assert threads and not [each for each in threads if "gloo" in each]


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


@pytest.mark.requires("torch")
@pytest.mark.parametrize(
    "making",
    [
        ("net = nn.Linear(4, 1)", "net"),
        ("class Kept:\n    pass\n\nkept = Kept()\nkept.net = nn.Linear(4, 1)", "kept.net"),
    ],
    ids=["variable", "attribute"],
)
@pytest.mark.parametrize(("guarded", "block"), [(False, False), (True, False), (False, True)])
def test_a_wrapped_model_that_the_script_still_has_keeps_no_group(
    making: tuple[str, str], guarded: bool, block: bool, folder: Path
) -> None:
    text = TOP.format(making[0], making[1], making[1])
    if block:
        head, loop = text.split("for x,")
        text = head + "with torch.autograd.set_detect_anomaly(False):\n" + textwrap.indent("for x," + loop, "    ")
    if guarded:
        head, body = text.split("data =")
        text = head + 'if __name__ == "__main__":\n' + textwrap.indent("data =" + body, "    ")
    (folder / "train.py").write_text(text)
    assert main(["horovod", "--backend", "ddp", "--write", "."]) == 0
    assert "DistributedDataParallel" in (folder / "train.py").read_text()
    with (folder / "train.py").open("a") as script:
        script.write("import pathlib\nfor each in pathlib.Path('/proc/self/task').iterdir():\n")
        script.write("    print('thread', (each / 'comm').read_text().strip())\n")
    threads = [line for line in run(folder).splitlines() if line.startswith("thread")]
    assert threads and not [each for each in threads if "gloo" in each]


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
LEFT = """
import pathlib
for each in pathlib.Path("/proc/self/task").iterdir():
    if "gloo" in (each / "comm").read_text():
        print("left", flush=True)
"""


@pytest.mark.requires("torch")
@pytest.mark.parametrize("number", range(len(HOLDERS)), ids=list(HOLDERS))
def test_whatever_holds_a_wrapped_model_lets_go_of_it(number: int, folder: Path) -> None:
    parts, script = list(HOLDERS.values())[number]
    script = 'if __name__ == "__main__":\n' + textwrap.indent(script, "    ") if number % 2 else script
    (folder / "train.py").write_text(HELD + parts + "\n" + script + "\n")
    assert main(["horovod", "--backend", "ddp", "--write", "."]) == 0
    assert "DistributedDataParallel" in (folder / "train.py").read_text()
    with (folder / "train.py").open("a") as script_file:
        script_file.write(LEFT)
    assert "left" not in run(folder)


@pytest.mark.parametrize("links", list(range(5)))
def test_an_entry_is_rewritten_however_far_from_what_trains(links: int, folder: Path) -> None:
    for name, text in chain(links).items():
        (folder / name).write_text(text)
    assert main(["horovod", "--backend", "ddp", "--write", "."]) == 0
    changed = {name for name, text in chain(links).items() if (folder / name).read_text() != text}
    assert changed == {"train.py", "helper.py"}
    assert "if dist.get_rank() == 0:\n        print" in (folder / "train.py").read_text()
