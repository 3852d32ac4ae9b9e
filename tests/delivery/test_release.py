"""A release, all but its upload: built, looked into, installed without an index, and used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from email.parser import Parser
from importlib.metadata import distributions
from pathlib import Path
from zipfile import ZipFile

import pytest

from distml.diagnostics.version import VERSION

from delivery.environments import environment

ROOT = Path(__file__).parents[2]
BUILD = "from hatchling.build import build_sdist, build_wheel; print(build_sdist('dist')); print(build_wheel('dist'))"
OUTSIDE = {"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}

pytestmark = pytest.mark.requires("hatchling", "libcst", "z3")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source distribution and the wheel made from what is in it."""
    folder = tmp_path_factory.mktemp("release")
    for name in ("checker", "transforms"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / name)
    subprocess.run([sys.executable, "-c", BUILD], cwd=folder, check=True, capture_output=True)
    return folder / "dist"


def test_what_was_built(built: Path) -> None:
    assert sorted(each.name for each in built.iterdir()) == [
        f"distml-{VERSION}-py3-none-any.whl",
        f"distml-{VERSION}.tar.gz",
    ]
    wheel = ZipFile(built / f"distml-{VERSION}-py3-none-any.whl")
    (described,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    said = Parser().parsestr(wheel.read(described).decode())
    assert (said["Name"], said["Version"], said["License-Expression"]) == ("distml", VERSION, "Apache-2.0")
    assert said["Description-Content-Type"] == "text/markdown"
    sources = {name for name in wheel.namelist() if name.endswith(".py")}
    assert {name.split("/")[0] for name in wheel.namelist()} == {"distml", described.split("/")[0]}
    with tarfile.open(built / f"distml-{VERSION}.tar.gz") as source:
        held = {name.split("/", 1)[1] for name in source.getnames() if "/" in name}
    assert all(f"checker/{name}" in held or f"transforms/{name}" in held for name in sources)


def test_the_wheel_works_without_an_index(built: Path, tmp_path: Path) -> None:
    """What distml needs is lent by this environment; the wheel comes from the folder alone."""
    there = tmp_path / "there"
    libraries = environment(there)
    python = there / "bin" / "python"
    wheel = built / f"distml-{VERSION}-py3-none-any.whl"
    subprocess.run([python, "-I", "-m", "pip", "install", "-q", "--no-deps", str(wheel)], check=True, env=OUTSIDE)
    for found in distributions():
        if found.name.lower() in ("libcst", "z3-solver", "pyyaml", "pyyaml-ft"):
            tops = {path.parts[0] for path in found.files or () if ".." not in path.parts}
            for top in tops - {"__pycache__"}:
                (libraries / top).symlink_to(found.locate_file(top))
    command = [
        there / "bin" / "distml",
        "check",
        "--no-cache",
        "--exit-zero",
        "--format",
        "json",
        str(ROOT / "examples"),
    ]
    done = subprocess.run(command, cwd=tmp_path, env=OUTSIDE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    where = [python, "-I", "-c", "import distml.cli.main as m; print(m.__file__)"]
    assert subprocess.run(where, capture_output=True, text=True, check=True).stdout.startswith(str(there))
