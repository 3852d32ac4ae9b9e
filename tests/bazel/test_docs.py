"""docs/bazel.md does what it says: its files are used, its commands are run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from bazel.conftest import CHECKOUT, Workspace
from bazel.test_aspect import PROGRAM

from delivery.pages import blocks

pytestmark = pytest.mark.requires("bazel")


@pytest.fixture
def consumer(workspace: Workspace) -> Workspace:
    """The project of the page, without what other tests left in it."""
    folder = workspace.folder
    (folder / ".bazelrc").write_text("".join(blocks("bazel.md", "text bazelrc")))
    (folder / "pyproject.toml").write_text('[tool.distml]\nignore = ["SHP503"]\n')
    (folder / "BUILD").write_text('exports_files(["pyproject.toml"])\n')
    workspace.write(**PROGRAM)
    build = folder / "app" / "BUILD"
    load, rest = blocks("bazel.md", "python test")[0].split("\n", 1)
    build.write_text(f"{load}\n{build.read_text()}{rest}")
    return workspace


@pytest.mark.parametrize("commands", blocks("bazel.md", "sh"))
def test_commands(consumer: Workspace, commands: str) -> None:
    done = consumer.shell(commands)
    assert done.returncode == 0, done.stderr[-3000:]


def test_nothing_but_the_wheels(consumer: Workspace) -> None:
    """An interpreter that has neither of the packages installed, or ignores that it has."""
    folder = consumer.folder
    assert consumer.shell(blocks("bazel.md", "sh wheels")[0].replace("python3", sys.executable)).returncode == 0
    wheels = sorted(path.name for path in (folder / "wheels").glob("*.whl"))
    (folder / "wheels" / "BUILD").write_text('exports_files(glob(["*.whl"]))\n')
    given = blocks("bazel.md", "python wheels")[0].replace(
        "glob_of_wheels", repr([f"//wheels:{name}" for name in wheels])
    )
    workspace = folder / "WORKSPACE"
    before = workspace.read_text()
    workspace.write_text(before.replace('distml_python(name = "distml_python")\n', given))
    try:
        done = consumer.shell("bazel build --config=shapes -s //app")
        base = consumer.shell("bazel info output_base").stdout.strip()
    finally:
        workspace.write_text(before)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Checking //app:app" in done.stderr
    assert " -S " in Path(base, "external", "distml_python", "python").read_text()


@pytest.mark.requires("buildifier")
def test_all_of_it_is_as_buildifier_wants() -> None:
    files = [str(path) for path in (CHECKOUT / "bazel").rglob("*") if path.suffix in (".bzl", ".bazel")]
    files += [str(CHECKOUT / name) for name in ("BUILD.bazel", "MODULE.bazel", "WORKSPACE")]
    done = subprocess.run(["buildifier", "--mode=check", "--lint=warn", *files], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
