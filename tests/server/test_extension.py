"""The extension for Visual Studio Code: its own tests, against this server, and the file that is installed."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from distml.diagnostics.version import VERSION

from delivery.pages import ROOT, blocks, shell

SOURCE = ROOT / "editors" / "vscode"
LEFT_OUT = shutil.ignore_patterns("node_modules", "*.vsix")


@pytest.mark.requires("node", "npm", "pygls")
def test_the_extension(tmp_path: Path) -> None:
    """Its packages are those of the lock file; npm's scripts are not run."""
    folder = tmp_path / "editors" / "vscode"
    shutil.copytree(SOURCE, folder, ignore=LEFT_OUT)
    install, package = blocks("editors.md", "sh vscode")[0].splitlines()
    done = shell(install, tmp_path)
    if "ENOTFOUND" in done.stderr or "ECONNREFUSED" in done.stderr:
        pytest.skip("not run: needs a package index")
    assert done.returncode == 0, done.stdout + done.stderr
    tested = shell("npm test --prefix editors/vscode", tmp_path, DISTML=str(Path(sys.executable).parent / "distml"))
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "\n# fail 0\n" in tested.stdout and "\n# skipped 0\n" in tested.stdout
    assert "\n# pass 8\n" in tested.stdout
    made = shell(package, tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    held = set(ZipFile(folder / "distml.vsix").namelist())
    assert {"extension/extension.js", "extension/server.js", "extension/package.json"} <= held
    assert any(name.startswith("extension/node_modules/vscode-languageclient/") for name in held)
    assert not any(name.startswith(("extension/test/", "extension/node_modules/@vscode/")) for name in held)


def test_the_extension_has_the_version_of_distml() -> None:
    for name in ("package.json", "package-lock.json"):
        assert json.loads((SOURCE / name).read_text("utf-8"))["version"] == VERSION


def test_the_page_and_the_manifest_name_the_same_settings() -> None:
    declared = json.loads((SOURCE / "package.json").read_text("utf-8"))["contributes"]["configuration"]["properties"]
    (shown,) = blocks("editors.md", "json")
    assert set(json.loads(shown)) == set(declared)
    assert all(f"`{name}`" in (SOURCE / "README.md").read_text("utf-8") for name in declared)


def test_the_lock_file_names_no_host_that_packages_come_from() -> None:
    """Whoever builds it takes them from the registry that npm is set up for; the lock holds their hashes."""
    packages = json.loads((SOURCE / "package-lock.json").read_text("utf-8"))["packages"]
    assert [name for name, each in packages.items() if "resolved" in each] == []
    assert [name for name, each in packages.items() if name and "integrity" not in each] == []
