"""The documentation site of a copy of the repository, as `make site` builds it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from delivery.pages import ROOT, shell
from delivery.sharing import made_once

FOLDERS = ("docs", "benchmarks", "examples", ".ci/site")


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """The site of a copy of the repository, in `build/site` there."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SITE_URL": "https://example.org/distml/"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def built(factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site, made once; the test is not run where packages cannot be had."""
    return made_once(factory, "repository", _built) / "build" / "site"


def _built(folder: Path) -> None:
    for path in [*ROOT.glob("*.md"), ROOT / "LICENSE", ROOT / "mkdocs.yml"]:
        shutil.copy(path, folder)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    installed = shell("npm ci --prefix .ci/site", folder)
    if "ENOTFOUND" in installed.stderr or "ECONNREFUSED" in installed.stderr:
        pytest.skip("not run: needs a package index")
    assert installed.returncode == 0, installed.stderr
    done = build(folder)
    assert done.returncode == 0, done.stderr
