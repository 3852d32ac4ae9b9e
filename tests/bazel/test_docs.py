"""docs/bazel.md does what it says: its files are used, its commands are run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bazel.conftest import CHECKOUT, Workspace, blocks
from bazel.test_aspect import PROGRAM

pytestmark = pytest.mark.requires("bazel")


def run(commands: str, folder: Path, outputs: Path) -> subprocess.CompletedProcess[str]:
    """Run commands in a shell in which `bazel` keeps to itself."""
    programs = outputs / "programs"
    programs.mkdir(exist_ok=True)
    start = f"--output_user_root={outputs} --max_idle_secs=120 --host_jvm_args=-Xmx1g"
    (programs / "bazel").write_text(f'#!/bin/sh\nexec "$REAL" {start} $RC "$@"\n')
    (programs / "bazel").chmod(0o755)
    rc = f"--bazelrc={CHECKOUT}/bazel/debian/bazelrc" if (folder / "bazel" / "debian").exists() else ""
    real = subprocess.run(["which", "bazel"], capture_output=True, text=True, check=True).stdout.strip()
    env = {
        **os.environ,
        "DISTML_PYTHON": sys.executable,
        "REAL": real,
        "RC": rc,
        "PATH": f"{programs}:{os.environ['PATH']}",
    }
    return subprocess.run(["bash", "-euc", commands], cwd=folder, env=env, capture_output=True, text=True, timeout=400)


@pytest.fixture
def consumer(workspace: Workspace) -> Path:
    """The project of the page, without what other tests left in it."""
    folder = workspace.folder
    (folder / "pyproject.toml").write_text('[tool.distml]\nignore = ["SHP503"]\n')
    (folder / "BUILD").write_text('exports_files(["pyproject.toml"])\n')
    workspace.write(**PROGRAM)
    build = folder / "app" / "BUILD"
    load, rest = blocks("python test")[0].split("\n", 1)
    build.write_text(f"{load}\n{build.read_text()}{rest}")
    return folder


@pytest.mark.parametrize("commands", blocks("sh"))
def test_commands(consumer: Path, outputs: Path, commands: str) -> None:
    done = run(commands, consumer, outputs)
    assert done.returncode == 0, done.stderr[-3000:]


def test_nothing_but_the_wheels(consumer: Path, outputs: Path) -> None:
    """An interpreter that has neither of the packages installed, or ignores that it has."""
    assert run(blocks("sh wheels")[0].replace("python3", sys.executable), consumer, outputs).returncode == 0
    wheels = sorted(path.name for path in (consumer / "wheels").glob("*.whl"))
    (consumer / "wheels" / "BUILD").write_text('exports_files(glob(["*.whl"]))\n')
    given = blocks("python wheels")[0].replace("glob_of_wheels", repr([f"//wheels:{name}" for name in wheels]))
    workspace = consumer / "WORKSPACE"
    before = workspace.read_text()
    workspace.write_text(before.replace('distml_python(name = "distml_python")\n', given))
    try:
        done = run("bazel build --config=shapes -s //app", consumer, outputs)
        base = run("bazel info output_base", consumer, outputs).stdout.strip()
    finally:
        workspace.write_text(before)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Checking //app:app" in done.stderr
    assert " -S " in Path(base, "external", "distml_python", "python").read_text()


def test_here(distml: Path, outputs: Path) -> None:
    """The command of the last section, in this repository: distml finds nothing in distml."""
    (commands,) = blocks("sh here")
    try:
        done = run(commands, distml, outputs)
    finally:
        run("bazel shutdown", distml, outputs)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Checking //bazel/dev:distml" in done.stderr


@pytest.mark.requires("buildifier")
def test_all_of_it_is_as_buildifier_wants() -> None:
    files = [str(path) for path in (CHECKOUT / "bazel").rglob("*") if path.suffix in (".bzl", ".bazel")]
    files += [str(CHECKOUT / name) for name in ("BUILD.bazel", "MODULE.bazel", "WORKSPACE")]
    done = subprocess.run(["buildifier", "--mode=check", "--lint=warn", *files], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
