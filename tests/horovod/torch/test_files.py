"""Training over several files, each of which may be the first to be imported: started once, run on two processes."""

from __future__ import annotations

import os
import subprocess
import sys
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
LAYOUTS = {
    "an entry and a helper": {"train.py": ENTRY.format(imported="from helper import Trainer"), "helper.py": TRAINER},
    "an entry and a package": {
        "train.py": ENTRY.format(imported="from lib.trainer import Trainer"),
        "lib/__init__.py": "",
        "lib/trainer.py": TRAINER,
    },
}


@pytest.mark.requires("torch")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_process_group_is_started_once(layout: str, folder: Path) -> None:
    for name, text in LAYOUTS[layout].items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    assert main(["horovod", "--backend", "ddp", "--write", "."]) == 0
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "train.py"]
    environ = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == ["epoch 0", "epoch 1", "done"]
