"""The hook `distml-shapes`, through pre-commit itself on a repository made here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = ("checker", "transforms", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
PRE_COMMIT = [sys.executable, "-m", "pre_commit"]
BROKEN = "import torch\n\nx = torch.zeros(2, 3\n"

pytestmark = pytest.mark.requires("git", "pre_commit")


def git(folder: Path, *arguments: str) -> str:
    settings = [
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "core.hooksPath=.git/hooks",
    ]
    done = subprocess.run(["git", *settings, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def hook_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is shipped, as a repository with one commit, also where this checkout has no history."""
    folder = tmp_path_factory.mktemp("distml")
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    return folder


def test_the_manifest_is_valid() -> None:
    manifest = str(ROOT / ".pre-commit-hooks.yaml")
    done = subprocess.run([*PRE_COMMIT, "validate-manifest", manifest], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps what it installs, once for all tests."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def project(hook_repository: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that uses the hook."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(home))
    git(tmp_path, "init", "-q")
    revision = git(hook_repository, "rev-parse", "HEAD")
    (tmp_path / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hook_repository}\n  rev: {revision}\n  hooks:\n  - id: distml-shapes\n"
    )
    return tmp_path


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


def pre_commit(project: Path) -> subprocess.CompletedProcess[str]:
    git(project, "add", ".")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        [*PRE_COMMIT, "run", "--verbose"], cwd=project, capture_output=True, text=True, check=False, env=environment
    )
