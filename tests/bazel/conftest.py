"""Real Bazel, offline: a workspace of another project that uses the aspect from this checkout."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from delivery.pages import blocks

CHECKOUT = Path(__file__).parents[2]
ASPECT = "--aspects=@distml//bazel:shape.bzl%check"
PARTS = ("bazel", "checker", "transforms", "BUILD.bazel", "MODULE.bazel", "WORKSPACE", "WORKSPACE.bzlmod")
PARTS += ("pyproject.toml", "examples", ".bazelignore", ".bazelrc")
DEBIAN = """
workspace(name = "consumer")
local_repository(name = "rules_cc", path = "{distml}/bazel/debian/rules_cc")
local_repository(name = "rules_python", path = "{distml}/bazel/debian/rules_python")
local_repository(name = "remote_coverage_tools", path = "{distml}/bazel/debian/remote_coverage_tools")
local_repository(name = "other", path = "../other")
local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
local_repository(name = "rules_proto", path = "/usr/share/bazel/rules/proto")
"""
RULES = 'load("@rules_python//python:defs.bzl", "py_library")\n'
START = "--max_idle_secs=120 --host_jvm_args=-Xmx1g --nohome_rc"
"""How Bazel is started: nothing that changes what it builds, and nothing of whoever runs the tests."""


def modern() -> bool:
    """Whether this Bazel reads MODULE.bazel; Debian's 4.2.3 does not say its version."""
    said = subprocess.run(["bazel", "--version"], capture_output=True, text=True, timeout=900).stdout
    return bool(found := re.search(r"bazel (\d+)\.", said)) and int(found[1]) >= 7


class Workspace:
    """A folder in which Bazel is called."""

    def __init__(self, folder: Path, outputs: Path) -> None:
        self.folder = folder
        self._outputs = outputs

    def shell(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Run commands as they are printed, in a shell in which `bazel` keeps what it builds to itself."""
        programs = self._outputs / "programs"
        programs.mkdir(exist_ok=True)
        start = f"--output_user_root={self._outputs} {START}"
        (programs / "bazel").write_text(f'#!/bin/sh\nexec "{shutil.which("bazel")}" {start} "$@"\n')
        (programs / "bazel").chmod(0o755)
        env = {**os.environ, "DISTML_PYTHON": sys.executable, "PATH": f"{programs}:{os.environ['PATH']}"}
        env.pop("PYTHONPATH", None)
        return subprocess.run(
            ["bash", "-euc", commands], cwd=self.folder, env=env, capture_output=True, text=True, timeout=900
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.shell(shlex.join(["bazel", *arguments]))

    def build(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Build with the aspect, every action that runs named in the output."""
        return self.run("build", ASPECT, "-s", "--color=no", *arguments)

    def write(self, **files: str) -> None:
        """Files by name: `lib__net` is `lib/net.py`, `lib__BUILD` has no suffix."""
        for name, text in files.items():
            path = self.folder / name.replace("__", "/")
            path = path if path.name == "BUILD" else path.with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(RULES + text if path.name == "BUILD" else text)

    def output(self, name: str) -> str:
        return (self.folder / "bazel-bin" / name).read_text()

    def findings(self, target: str) -> list[dict[str, Any]]:
        return json.loads(self.output(f"{target}.distml.json"))


def ran(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The targets of which anything of distml's ran."""
    return {match[1] for match in re.finditer(r"SUBCOMMAND: # (//\S+) \[action '(?:Checking|Reading) ", done.stderr)}


@pytest.fixture(scope="session")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What Bazel keeps, for all workspaces of this run; removed at the end, since it is large and read-only."""
    folder = tmp_path_factory.mktemp("bazel")
    yield folder
    subprocess.run(["chmod", "-R", "u+w", str(folder)], check=False)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def distml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository as another one fetches it, and as it stays while the tests run."""
    folder = tmp_path_factory.mktemp("distml")
    for name in PARTS:
        if (CHECKOUT / name).is_dir():
            shutil.copytree(CHECKOUT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(CHECKOUT / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, outputs: Path, distml: Path) -> Iterator[Workspace]:
    """One workspace, and so one server of Bazel, for all tests: set up as the page says, beside a folder `distml`."""
    folder = tmp_path_factory.mktemp("project") / "consumer"
    folder.mkdir()
    (folder.parent / "distml").symlink_to(distml)
    other = folder.parent / "other"  # another repository, which tests may fill
    other.mkdir()
    (other / "MODULE.bazel").write_text('module(name = "other")\nbazel_dep(name = "rules_python", version = "1.6.0")\n')
    (other / "WORKSPACE").touch()
    if modern():
        rules = 'bazel_dep(name = "rules_python", version = "1.6.0")\nbazel_dep(name = "other")\n'
        rules += 'local_path_override(module_name = "other", path = "../other")\n'
        (folder / "MODULE.bazel").write_text(rules + blocks("bazel.md", "python module")[0])
    else:
        (folder / "WORKSPACE").write_text(DEBIAN.format(distml=distml) + blocks("bazel.md", "python workspace")[0])
    workspace = Workspace(folder, outputs)
    yield workspace
    workspace.run("shutdown")


@pytest.fixture
def workspace(server: Workspace) -> Workspace:
    """The workspace with nothing in it but what the page says of setting up."""
    for path in server.folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif not path.is_symlink() and not path.name.startswith(("WORKSPACE", "MODULE")):
            path.unlink()
    return server
