"""The hooks, through pre-commit itself on a repository made here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from delivery.pages import blocks, shell
from delivery.repositories import git
from delivery.sharing import made_once

ROOT = Path(__file__).parents[2]
SHIPPED = ("checker", "transforms", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
PRE_COMMIT = [sys.executable, "-m", "pre_commit"]
BROKEN = "import torch\n\nx = torch.zeros(2, 3\n"

HOOKS = ("distml-shapes", "distml-choreography", "distml-ranks", "distml-horovod", "distml-horovod-fix")
CHOREOGRAPHY = """\
from distml.choreo import At, Channel, Role

class Ann(Role): ...
class Bob(Role): ...

def talk(ch: Channel[object, Ann, Bob], n: At[int, Ann]) -> None:
    if n > 0:
        ch.com(n)
"""
RANKS = """\
import torch
import torch.distributed as dist

def save(model):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "model.pt")
        dist.barrier()
"""
SHAPES = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"
TRAINING = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
loader = DataLoader(data, batch_size=16, shuffle=True)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for inputs, targets in loader:
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(inputs), targets).backward()
    optimizer.step()
"""

pytestmark = pytest.mark.requires("git", "pre_commit")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of the hooks, and where pre-commit keeps what it installs, once for all tests."""
    return made_once(tmp_path_factory, "hooks", shipped)


def shipped(folder: Path) -> None:
    """What is shipped, as a repository with one commit, also where this checkout has no history."""
    repository = folder / "distml"
    repository.mkdir()
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, repository / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, repository / name)
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "all")


def test_the_manifest_is_valid() -> None:
    manifest = str(ROOT / ".pre-commit-hooks.yaml")
    done = subprocess.run([*PRE_COMMIT, "validate-manifest", manifest], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def project(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that uses the hooks."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(shared / "home"))
    git(tmp_path, "init", "-q")
    checks, _ = blocks("pre-commit.md", "yaml")
    configure(tmp_path, shared, checks)
    return tmp_path


def configure(project: Path, shared: Path, page: str) -> None:
    """Take the hooks that the page shows."""
    revision = git(shared / "distml", "rev-parse", "HEAD")
    settings = page.replace("ADDRESS", str(shared / "distml")).replace("REVISION", revision)
    (project / ".pre-commit-config.yaml").write_text(settings)


def test_a_commit_is_stopped_by_a_finding(project: Path) -> None:
    (project / "bad.py").write_text(BROKEN)
    (project / "good.py").write_text("import json\n")
    (project / "notes.txt").write_text(BROKEN)
    done = pre_commit(project)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "distml-shapes" in done.stdout
    assert "bad.py:3:" in done.stdout
    assert "SRC101" in done.stdout
    assert "2 files checked" in done.stdout, "one process for all files, and Python files only"


def test_the_command_of_the_page(project: Path) -> None:
    (project / "good.py").write_text("import json\n")
    git(project, "add", ".")
    (command,) = blocks("pre-commit.md", "sh")
    done = shell(command, project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "distml (tensor shapes)" in done.stdout


def test_the_page_has_every_hook() -> None:
    listed = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    assert re.findall(r"- id: (\S+)", listed) == list(HOOKS)
    checks, rewriting = blocks("pre-commit.md", "yaml")
    assert re.findall(r"- id: (\S+)", checks + rewriting) == list(HOOKS)
    assert "distml-horovod-fix" not in checks, "what changes scripts is not among the checks to copy"


def test_a_commit_without_findings_passes(project: Path) -> None:
    (project / "good.py").write_text("import json\n")
    done = pre_commit(project)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.requires("distml.interp.check")
def test_a_shape_error_across_two_files(project: Path) -> None:
    (project / "net.py").write_text("import torch\n\nWEIGHTS = torch.zeros(64, 10)\n")
    (project / "train.py").write_text(
        "import torch\nfrom net import WEIGHTS\n\nscores = torch.zeros(32, 128) @ WEIGHTS\n"
    )
    done = pre_commit(project)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "train.py:4:10: error[SHP101]" in done.stdout


@pytest.mark.requires("distml.interp.check")
def test_each_hook_has_its_family(project: Path) -> None:
    (project / "shapes.py").write_text(SHAPES)
    (project / "talk.py").write_text(CHOREOGRAPHY)
    (project / "save.py").write_text(RANKS)
    (project / "train.py").write_text(TRAINING)
    found = {hook: pre_commit(project, hook) for hook in HOOKS[:4]}
    assert {hook: done.returncode for hook, done in found.items()} == dict.fromkeys(HOOKS[:4], 1)
    codes = ("SHP101", "CHO201", "SPM101", "HVD106")
    families = {hook: {code for code in codes if code in done.stdout} for hook, done in found.items()}
    assert families == {hook: {code} for hook, code in zip(HOOKS, codes)}


@pytest.mark.requires("distml.interp.check")
def test_fixes_by_an_argument(project: Path) -> None:
    settings = project / ".pre-commit-config.yaml"
    settings.write_text(
        settings.read_text().replace("- id: distml-shapes\n", "- id: distml-shapes\n        args: [--fix, --]\n")
    )
    (project / "a.py").write_text("import torch\n\nx = torch.zeros(8 / 2)\n")
    done = pre_commit(project)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "files were modified by this hook" in done.stdout
    assert (project / "a.py").read_text() == "import torch\n\nx = torch.zeros(8 // 2)\n"
    assert pre_commit(project).returncode == 0


def test_training_loops_are_rewritten(project: Path, shared: Path) -> None:
    _, rewriting = blocks("pre-commit.md", "yaml")
    configure(project, shared, rewriting)
    (project / "training").mkdir()
    for script in ("training/train.py", "other.py"):
        (project / script).write_text(TRAINING)
    done = pre_commit(project, "distml-horovod-fix")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "files were modified by this hook" in done.stdout
    assert "init_process_group" in (project / "training/train.py").read_text()
    assert (project / "other.py").read_text() == TRAINING
    again = pre_commit(project, "distml-horovod-fix")
    assert again.returncode == 0, again.stdout + again.stderr


def test_the_choreography_hook_keeps_to_the_configuration(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.distml]\nselect = ["CHO1"]\n')
    (project / "talk.py").write_text(CHOREOGRAPHY)
    done = pre_commit(project, "distml-choreography")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("hook", ["distml-shapes", "distml-horovod"])
def test_no_name_is_an_option(project: Path, hook: str) -> None:
    """Neither a file whose name begins with a dash, nor a program that is called like an option."""
    names = ["-dash.py", "--exit-zero", "--config=x.py"]
    text = SHAPES if hook == "distml-shapes" else TRAINING
    for name in names:
        (project / name).write_text(f"#!/usr/bin/env python3\n{text}")
        (project / name).chmod(0o755)
    done = pre_commit(project, hook)
    assert done.returncode == 1, done.stdout + done.stderr
    assert all(f"\n{name}:" in done.stdout for name in names), done.stdout


def test_a_commit_of_excluded_files_passes(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.distml]\nexclude = ["old"]\n')
    (project / "old").mkdir()
    (project / "old" / "bad.py").write_text(BROKEN)
    done = pre_commit(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "distml: warning: nothing was checked in old/bad.py" in done.stdout


def pre_commit(project: Path, hook: str = "distml-shapes") -> subprocess.CompletedProcess[str]:
    git(project, "add", ".")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = [*PRE_COMMIT, "run", hook, "--verbose"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, env=environment)
