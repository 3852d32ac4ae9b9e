"""The packages that are installed beside a program: where they lie, and which of them are followed.

A package is followed if its metadata says that it needs a deep-learning framework, or its `__init__` imports one; others would
cost time and know no tensors. All of it is read as text, nothing is run.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import NamedTuple

from distml.source.libraries import FRAMEWORKS, UNDERSTOOD

LARGEST = 1024 * 1024  # bytes of a .pth file, of metadata, or of a module that maps names to folders
MOST_LINES = 1000
MOST_FILES = 4000
_REQUIRES = re.compile(r"(?i)^Requires-Dist:\s*([a-z0-9._-]+)")
_TOP = re.compile(r"^([A-Za-z_]\w*)(?:/|\.py,)")


class Environment(NamedTuple):
    """Where installed packages lie: `folders` in the order in which Python looks into them, and packages that are installed
    from another place as pairs of a name and the folder (or file) that it is."""

    folders: tuple[str, ...] = ()
    mapped: tuple[tuple[str, str], ...] = ()


class Installed:
    """The installed packages of an environment."""

    def __init__(self, environment: Environment) -> None:
        self._folders = environment.folders
        self._mapped = dict(environment.mapped)
        self._followed: dict[str, bool] = {}

    def follows(self, top: str) -> bool:
        """Whether modules of a top-level package are followed."""
        if not self._folders and not self._mapped:
            return False
        if top not in self._followed:
            self._followed[top] = top not in UNDERSTOOD and self._needs_framework(top)
        return self._followed[top]

    def roots(self, top: str) -> tuple[str, ...]:
        """The folders in which a top-level package is looked for."""
        path = self._mapped.get(top)
        if path is not None and os.path.basename(path).removesuffix(".py") == top:
            return (os.path.dirname(path), *self._folders)
        return self._folders

    def _needs_framework(self, top: str) -> bool:
        if any(self._imports_framework(root, top) for root in self.roots(top)):
            return True
        found = self._by_name.get(_plain(top))
        if found is None:
            found = self._by_content.get(top)
        return found is not None and any(_plain(each) in FRAMEWORKS for each in _required(found))

    @staticmethod
    def _imports_framework(root: str, top: str) -> bool:
        """Whether a package does what its metadata may keep silent about."""
        from distml.source.imports import imports

        text = read_text(os.path.join(root, top, "__init__.py")) or ""
        return any(each.level == 0 and each.module.partition(".")[0] in FRAMEWORKS for each in imports(text))

    @cached_property
    def _distributions(self) -> list[str]:
        found: list[str] = []
        for folder in self._folders:
            try:
                names = sorted(os.listdir(folder))[: 10 * MOST_FILES]
            except OSError:
                continue
            found += [os.path.join(folder, name) for name in names if name.endswith(".dist-info")]
        return found[:MOST_FILES]

    @cached_property
    def _by_name(self) -> dict[str, str]:
        """The metadata's folder by the name of the distribution; the first of one name counts, as for Python."""
        found: dict[str, str] = {}
        for path in self._distributions:
            found.setdefault(_plain(os.path.basename(path).split("-")[0]), path)
        return found

    @cached_property
    def _by_content(self) -> dict[str, str]:
        """The metadata's folder by the names of what a distribution installed: asked for where the names differ."""
        found: dict[str, str] = {}
        for path in self._distributions:
            for line in (read_text(os.path.join(path, "RECORD")) or "").splitlines():
                name = _TOP.match(line)
                if name is not None:
                    found.setdefault(name[1], path)
        return found


def read_text(path: str) -> str | None:
    """A small text file; None where there is none, or it is too large."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > LARGEST:
            return None
        with open(path, "rb") as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def environment_in(folders: tuple[str, ...]) -> Environment:
    """The environment of some site-packages folders: with what their `.pth` files add.

    Only lines of such files that are paths count. Lines of code are not run; a finder of setuptools that such a line
    imports has its table of names read as a literal.
    """
    found, mapped = list(folders), dict[str, str]()
    for folder in folders:
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith((".pth", "_finder.py")))
        except OSError:
            continue
        for name in names[:MOST_LINES]:
            text = read_text(os.path.join(folder, name)) or ""
            if name.endswith(".pth"):
                found += _paths(folder, text)
            elif name.startswith("__editable__"):
                mapped.update(_mapping(text))
    return Environment(tuple(dict.fromkeys(found)), tuple(sorted(mapped.items())))


def _paths(folder: str, text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines()[:MOST_LINES])
    given = [line for line in lines if line and "\0" not in line and not line.startswith(("#", "import ", "import\t"))]
    paths = [os.path.realpath(os.path.join(folder, line)) for line in given]
    return [path for path in paths if os.path.isdir(path)]


def _mapping(text: str) -> dict[str, str]:
    """The `MAPPING` of a finder that setuptools writes for an editable install."""
    from ast import literal_eval

    for line in text.splitlines()[:MOST_LINES]:
        if line.startswith("MAPPING"):
            try:
                table = literal_eval(line.partition("= ")[2])
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                return {}
            if isinstance(table, dict):
                return {str(name): str(path) for name, path in table.items() if os.path.isabs(str(path))}
    return {}


def _required(folder: str) -> list[str]:
    """What a distribution says that it needs, optional parts included."""
    lines = (read_text(os.path.join(folder, "METADATA")) or "").splitlines()
    return [found[1] for line in lines if (found := _REQUIRES.match(line)) is not None]


def _plain(name: str) -> str:
    """A distribution's name as names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()
