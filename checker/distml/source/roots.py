"""Where imports of a file are looked up: the folders that would be on `sys.path`.

Knows folders only, by a few probes of the file system that its caller supplies (so that they can be recorded).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

MARKERS = ("pyproject.toml", "setup.cfg", "setup.py", ".git")
INSTALLED = frozenset({"site-packages", "dist-packages"})


class Layout(NamedTuple):
    """How the files of one folder are imported.

    `package` is the dotted name of the folder, empty outside packages. `roots` are the folders to search, in order.
    `only` is the one top-level package that may be followed (for installed code, which lies beside strangers).
    """

    package: str
    roots: tuple[str, ...]
    only: str | None = None


def layout(
    folder: str, sources: tuple[str, ...], exists: Callable[[str], bool], unmarked: tuple[str, ...] = ()
) -> Layout:
    """The layout of an absolute folder; `sources` are configured source roots, `unmarked` as in `project_root`."""
    installed = _installed(folder)
    if installed is not None:
        return installed
    top, package = _top(folder, exists)
    root = project_root(top, exists, unmarked)
    roots = list(dict.fromkeys([top, *sources, os.path.join(root, "src"), root]))
    if not package:
        package = _below(folder, [*sources, os.path.join(root, "src")])
    return Layout(package, tuple(roots))


def project_root(folder: str, exists: Callable[[str], bool], unmarked: tuple[str, ...] = ()) -> str:
    """The nearest folder upward with a marker of a project, else the first of `unmarked` that holds `folder`, else that."""
    for candidate in upward(folder):
        if any(exists(os.path.join(candidate, marker)) for marker in MARKERS):
            return candidate
    return next((each for each in unmarked if f"{folder}{os.sep}".startswith(os.path.join(each, ""))), folder)


def upward(folder: str) -> Iterator[str]:
    """`folder` and the folders that contain it, from the inside out."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _installed(folder: str) -> Layout | None:
    parts = folder.split(os.sep)
    at = max((index for index, part in enumerate(parts) if part in INSTALLED), default=None)
    if at is None:
        return None
    inside = parts[at + 1 :]
    return Layout(".".join(inside), (os.sep.join(parts[: at + 1]),), inside[0] if inside else "")


def _top(folder: str, exists: Callable[[str], bool]) -> tuple[str, str]:
    """The folder above the outermost regular package around `folder`, and the dotted name of `folder` below it."""
    names: list[str] = []
    for candidate in upward(folder):
        name = os.path.basename(candidate)
        if not name.isidentifier() or not exists(os.path.join(candidate, "__init__.py")):
            return candidate, ".".join(reversed(names))
        names.append(name)
    return folder, ""


def _below(folder: str, roots: list[str]) -> str:
    for root in roots:
        if folder.startswith(root + os.sep):
            inside = folder[len(root) + 1 :].split(os.sep)
            return ".".join(inside) if all(part.isidentifier() for part in inside) else ""
    return ""
