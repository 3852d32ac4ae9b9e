"""Builds wheels with the engine compiled by mypyc, where this is asked for; else the wheel is plain Python.

    HATCH_BUILD_HOOK_ENABLE_CUSTOM=1 pip wheel --no-deps .

The sources stay in the wheel beside what was compiled, which Python prefers. What is built is `COMPILED`, from a copy.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILED = ("shapes", "values", "solver", "interp", "spmd")
"""The packages in which a check spends its time."""
INTERPRETED = {
    "interp/language.py": "functions as attributes of a class",
    "interp/lessons.py": "classes that derive from a tuple",
    "interp/too_deep.py": "a class that derives from RecursionError",
    "interp/witnesses.py": "classes that derive from a dict",
    "shapes/quotient.py": "weak references",
    "spmd/files.py": "properties that are computed once: mypyc computes them each time",
}
"""Modules of them that mypyc cannot compile as they are meant, and what of them."""
GROUP = "distml_compiled"
_SLOTS = re.compile(r"(?<=@dataclass\()slots=True(?:, )?|, slots=True(?=[,)])")


class CustomBuildHook(BuildHookInterface[Any]):
    """Adds extension modules to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name each extension module and its place in the wheel."""
        if version == "editable":
            return
        self.folder = Path(tempfile.mkdtemp(prefix="distml-"))
        try:
            made = compiled(Path(self.root), self.folder)
        except BaseException:
            shutil.rmtree(self.folder)
            raise
        build_data["force_include"].update({str(path): name for name, path in made.items()})
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was built from."""
        if version != "editable":
            shutil.rmtree(self.folder)


def compiled(root: Path, folder: Path) -> dict[str, Path]:
    """The extension modules by their place in the wheel, built in an empty folder."""
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    extensions = translated(root, folder)
    with chdir(folder):
        command = build_ext(Distribution({"name": "distml", "ext_modules": extensions, "script_name": "build"}))
        command.build_lib, command.build_temp = "lib", "objects"
        command.ensure_finalized()
        command.run()
    built = folder / "lib"
    return {path.relative_to(built).as_posix(): path for path in built.rglob("*") if path.is_file()}


def translated(root: Path, folder: Path) -> list[Any]:
    """The extensions, written in C to a folder that holds nothing else. Raises SystemExit where mypyc cannot write one."""
    from mypyc.build import mypycify

    shutil.copytree(root / "checker", folder / "checker", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(root / "pyproject.toml", folder)
    with chdir(folder):
        paths = [path for path in _paths() if path.relative_to("checker/distml").as_posix() not in INTERPRETED]
        for path in paths:
            path.write_text(
                _SLOTS.sub("", path.read_text())
            )  # a compiled class has no others, and cannot be made twice
        options = ["--config-file", "pyproject.toml", "--follow-imports", "silent", "--no-warn-unreachable"]
        return list(mypycify([*options, *map(str, paths)], opt_level="2", debug_level="0", group_name=GROUP))


def _paths() -> list[Path]:
    return sorted(path for name in COMPILED for path in Path("checker/distml", name).rglob("*.py"))
