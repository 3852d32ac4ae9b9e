"""The Action with the slowest of its steps, installing, done once for all tests."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Any

import pytest
import yaml

from delivery.composite import run
from delivery.sharing import made_once

ROOT = Path(__file__).parents[2]


def prepared(factory: pytest.TempPathFactory) -> Path:
    """The folder of an Action whose step `install` names an environment that is there already."""
    return made_once(factory, "an action", _installed) / "installed"


def _installed(folder: Path) -> None:
    whole = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    (install,) = [step for step in whole["runs"]["steps"] if step.get("id") == "install"]
    first = {
        **whole,
        "runs": {"steps": [install]},
        "outputs": {"python": {"value": "${{ steps.install.outputs.python }}"}},
    }
    _described(folder / "installing", first)
    (folder / "workspace").mkdir()
    ran = run(folder / "installing", folder / "workspace", {})
    assert ran.code == 0, ran.log
    lines = install["run"].splitlines()
    at = next(number for number, line in enumerate(lines) if ".ci/install" in line)
    environment = f"environment={quote(str(Path(ran.outputs['python']).parents[1]))}"
    install["run"] = "\n".join([environment, *lines[at + 1 :]])
    _described(folder / "installed", whole)


def _described(folder: Path, action: dict[str, Any]) -> None:
    """What would be checked out, with another action.yml."""
    folder.mkdir()
    for name in (".ci", "checker", "transforms", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "action.yml").write_text(yaml.safe_dump(action))
