"""Modules that only a launcher leads to, or Python 2, are of the program: it changes with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.tree import survey
from distml.source.project import Project

SCRIPT = """\
import torch
from {module} import step
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.ones(64, 4)), batch_size=8, shuffle=True)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    step(model, optimizer, loader)
"""
STEP = """\
{imported}
def step(model, optimizer, loader):
    for (x,) in loader:
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())
"""
LAUNCHERS = {
    "a path": ("run.sh", "export PYTHONPATH=src/lib\npython src/bin/train.py\n"),
    "a path among others": ("run.sh", "export PYTHONPATH=$PWD/src/bin/:$PWD/src/lib/:$PYTHONPATH\npython train.py\n"),
    "a path by a variable": ("egs/path.sh", "MAIN=$PWD/../..\nexport PYTHONPATH=$MAIN/src/lib\n"),
    "a path of one command": ("run.sh", "PYTHONPATH=./src/lib python src/bin/train.py --epochs 3\n"),
    "a folder": ("run.sh", "cd src/lib && python -m train\n"),
    "a folder from there": ("src/run.sh", "set -e\ncd ./lib\npython ../bin/train.py\n"),
}


def changed(texts: dict[str, str], folder: Path) -> set[str]:
    """The names of the files that change."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    paths = [str(folder / name) for name in texts if name.endswith(".py")]
    found = survey(paths, Options(backend="ddp"), Project(str(folder), unmarked=[str(folder)]))
    assert not found.problems
    return {Path(each).name for outcome in found.outcomes for each in outcome.files}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_folder_that_a_launcher_names_is_searched(launcher: str, tmp_path: Path) -> None:
    script, text = LAUNCHERS[launcher]
    texts = {"src/bin/train.py": SCRIPT.format(module="taken"), "src/lib/taken.py": STEP.format(imported="")}
    assert not changed(texts, tmp_path)
    assert changed(texts | {script: text}, tmp_path) == {"train.py", "taken.py"}


@pytest.mark.parametrize(("own", "found"), [("", True), ("import taken\n", False)])
def test_what_python_2_took_from_the_same_package_is_found(own: str, found: bool, tmp_path: Path) -> None:
    """A module that takes its own name from a library stands beside it, and does not stand for it."""
    texts = {
        "train.py": SCRIPT.format(module="parts"),
        "parts/__init__.py": "from taken import step\n",
        "parts/taken.py": STEP.format(imported=own),
    }
    assert (changed(texts, tmp_path) == {"train.py", "taken.py"}) is found
