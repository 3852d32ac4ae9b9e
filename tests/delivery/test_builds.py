"""Wheel and editable install hold both source roots, types included, whether or not `transforms/` exists."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
BACKEND = "from hatchling.build import build_{kind} as build; print(build({to!r}))"

pytestmark = pytest.mark.requires("hatchling", "editables")


@pytest.fixture(params=[True, False], ids=["both-roots", "checker-alone"])
def checkout(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "checker", folder / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / name)
    if request.param:
        shutil.copytree(ROOT / "transforms", folder / "transforms", ignore=shutil.ignore_patterns("__pycache__"))
        room = folder / "transforms" / "distml" / "placed_by_test"
        room.mkdir(parents=True)
        (room / "__init__.py").write_text("WHERE = 'transforms'\n")
        (room / "py.typed").touch()
    return folder


def build(checkout: Path, kind: str) -> ZipFile:
    to = checkout.parent / kind
    to.mkdir()
    program = BACKEND.format(kind=kind, to=str(to))
    done = subprocess.run([sys.executable, "-c", program], cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = to.iterdir()
    return ZipFile(wheel)


def test_the_wheel(checkout: Path) -> None:
    names = set(build(checkout, "wheel").namelist())
    assert {"distml/cli/main.py", "distml/cli/py.typed", "distml/diagnostics/rules/shp100.py"} <= names
    assert ("distml/placed_by_test/__init__.py" in names) is (checkout / "transforms").exists()
    assert ({"distml/rewrites/annotate.py", "distml/rewrites/py.typed"} <= names) is (checkout / "transforms").exists()
    assert "distml/__init__.py" not in names
    assert not [name for name in names if name.split("/")[0] != "distml" and ".dist-info/" not in name]


def test_the_editable_install(checkout: Path) -> None:
    wheel = build(checkout, "editable")
    (listed,) = [wheel.read(name).decode().split() for name in wheel.namelist() if name.endswith(".pth")]
    assert str(checkout / "checker") in listed
    if (checkout / "transforms").exists():
        program = (
            f"import sys; sys.path[:0] = {listed}; import distml.cli.main, distml.placed_by_test as p; print(p.WHERE)"
        )
        done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "transforms"


def test_the_source_distribution(checkout: Path) -> None:
    to = checkout.parent / "sdist"
    to.mkdir()
    program = f"from hatchling.build import build_sdist; print(build_sdist({str(to)!r}))"
    subprocess.run([sys.executable, "-c", program], cwd=checkout, capture_output=True, check=True)
    (made,) = to.iterdir()
    assert made.name.startswith("distml-")
