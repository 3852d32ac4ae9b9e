"""Wheels with a compiled engine: that mypyc can translate it, and what their build adds to a wheel.

`.ci/compiled` builds one and runs the engine's tests on it; the C compiler alone takes minutes.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.requires("mypyc", "setuptools", "hatchling")


@pytest.fixture
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TRANSLATE = """
import json, pathlib, sys
import hatch_build

root, folder = map(pathlib.Path, sys.argv[1:])
print(json.dumps([extension.name for extension in hatch_build.translated(root, folder)]))
"""
"""In a process of its own: setuptools cannot be imported where another test has imported Python's distutils."""


def test_the_engine_can_be_compiled(hook: ModuleType, tmp_path: Path) -> None:
    """mypyc ends the build where it cannot translate a module; each that it takes is an extension, the others are none."""
    command = [sys.executable, "-c", TRANSLATE, str(ROOT), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    names = set(json.loads(done.stdout.splitlines()[-1]))
    engine = ROOT / "checker" / "distml"
    modules = {path.relative_to(engine).as_posix() for name in hook.COMPILED for path in (engine / name).rglob("*.py")}
    assert hook.INTERPRETED.keys() <= modules
    left = {"distml." + name.removesuffix(".py").replace("/", ".") for name in hook.INTERPRETED}
    every = {"distml." + name.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".") for name in modules}
    assert {name.removesuffix(".__init__") for name in names} - {f"{hook.GROUP}__mypyc"} == every - left


def test_what_a_build_adds(hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel is one of a platform, extension modules have their places in it, and no folder is left behind."""
    monkeypatch.setattr(hook, "compiled", lambda root, folder: {"distml/shapes/dim.so": root / folder / "dim.so"})
    build = hook.CustomBuildHook(str(ROOT), {}, None, None, str(tmp_path), "wheel")
    data: dict[str, Any] = {"force_include": {}, "pure_python": True, "infer_tag": False}
    build.initialize("standard", data)
    assert data == {
        "force_include": {f"{build.folder}/dim.so": "distml/shapes/dim.so"},
        "pure_python": False,
        "infer_tag": True,
    }
    assert build.folder.is_dir()
    build.finalize("standard", data, "")
    assert not build.folder.exists()


def test_an_editable_install_is_interpreted(hook: ModuleType, tmp_path: Path) -> None:
    build = hook.CustomBuildHook(str(ROOT), {}, None, None, str(tmp_path), "wheel")
    data: dict[str, Any] = {"force_include": {}}
    build.initialize("editable", data)
    build.finalize("editable", data, "")
    assert data == {"force_include": {}}
