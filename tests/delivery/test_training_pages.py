"""docs/horovod.md and smoke.md do what they say: each command is run, each option is in the table."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from distml.diagnostics.registry import all_rules

from delivery.pages import ROOT, blocks, shell
from smoke.environments import horovod_python

SCRIPT = """\
import argparse

import torch
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
epochs = parser.parse_args().epochs
torch.manual_seed(0)
data = TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
loader = DataLoader(data, batch_size=4, shuffle=True)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(epochs):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
print("trained", epochs)
"""
PROGRAMS, (LAUNCHED,) = blocks("horovod.md", "sh"), blocks("horovod.md", "sh launch")


@pytest.fixture
def project(folder: Path) -> Path:
    (folder / "train.py").write_text(SCRIPT)
    (folder / "src").mkdir()
    (folder / "src" / "other.py").write_text(SCRIPT)
    (folder / "notebooks").mkdir()
    return folder


def test_commands_that_rewrite(project: Path) -> None:
    """In the order of the page: only --write changes a file, and what is left to do is the exit code."""
    (commands,) = PROGRAMS
    codes = {}
    for command in commands.splitlines():
        before = (project / "train.py").read_text()
        done = shell(command, project)
        asked = shlex.split(command, comments=True)
        codes[" ".join(asked[2:])] = done.returncode
        assert (before != (project / "train.py").read_text()) == ("--write" in asked), command
    assert codes == {"train.py": 1, "train.py --diff": 1, "train.py --write": 0, "src notebooks": 1, "--check": 1}


@pytest.mark.parametrize("command", LAUNCHED.splitlines())
def test_what_was_rewritten_is_started_so(command: str, project: Path) -> None:
    backend = {"horovodrun": "horovod", "accelerate": "accelerate"}.get(command.split(maxsplit=1)[0], "ddp")
    python = horovod_python("torch") if backend == "horovod" else ""
    for needed in {"ddp": ["torch"], "accelerate": ["torch", "accelerate"]}.get(backend, []):
        pytest.importorskip(needed, reason=f"not run: needs {needed}")
    assert shell(f"distml horovod train.py --write --backend {backend}", project).returncode == 0
    path = f"{Path(python).parent}:{os.environ['PATH']}" if python else ""
    done = shell(
        f'PATH="{path}:$PATH"; {command}' if path else command, project, OMP_NUM_THREADS="1", ACCELERATE_USE_CPU="true"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("trained 1") == 1, "rank 0 alone says so"


def test_commands_that_smoke(project: Path) -> None:
    python = horovod_python("torch")
    made = project / ".ci" / "horovod"
    made.parent.mkdir()
    made.write_text(f"#!/bin/sh\n[ \"$*\" = torch ] && echo '{python}'\n")
    made.chmod(0o755)
    first, second = blocks("smoke.md", "sh")
    for command in (first.replace("~/envs/torch/bin/python", python), second):
        done = shell(command, project)
        assert done.returncode == 0, done.stdout + done.stderr
        (shown,) = (each for each in blocks("smoke.md", "") if each.startswith("distml smoke runs"))
        told = [
            line.split()[:2] for line in shown.splitlines()[2:] if not line.strip().startswith(("speed", "scaling"))
        ]
        assert [line.split()[:2] for line in done.stdout.splitlines()[1 : len(told) + 1]] == told


def test_smoke_from_python(project: Path) -> None:
    python = horovod_python("torch")
    (text,) = blocks("smoke.md", "python")
    assert shell("distml horovod train.py --write && cp train.py rewritten.py", project).returncode == 0
    (project / "train.py").write_text(SCRIPT)
    (project / "here.py").write_text(text.replace("env/bin/python", python))
    done = shell("python here.py", project)
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_horovod_one_line_says_how_to_get_it(project: Path) -> None:
    """The Python of these tests has none."""
    done = shell("distml smoke train.py", project)
    assert done.returncode == 2
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("distml: error: ")]
    assert "Horovod is not installed" in said
    assert ".ci/horovod" in said and "pip install" in said


@pytest.mark.parametrize("name", ["horovod", "smoke"])
def test_the_table_of_options_is_that_of_the_command(name: str) -> None:
    shown = shell(f"distml {name} --help", ROOT).stdout
    listed = set(re.findall(r"--[a-z][a-z-]*", shown)) - {"--help"}
    assert listed <= set(re.findall(r"--[a-z][a-z-]*", page(f"{name}.md")))
    rows = re.findall(r"^\| `(--[a-z-]+)", page(f"{name}.md"), re.MULTILINE)
    assert set(rows) <= listed


def test_every_flow_has_its_code() -> None:
    flows = {each.code for each in all_rules() if re.fullmatch(r"HVD1\d\d", each.code)}
    assert set(re.findall(r"\[(HVD1\d\d)\]\(rules/\1\.md\)", page("horovod.md"))) == flows


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")
