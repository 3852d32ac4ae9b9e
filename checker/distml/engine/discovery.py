"""From the paths given to the files to check, in a fixed order.

Folders are walked; links to folders are not followed, so that a walk ends and stays where it was sent. Files given by
name are taken whatever they are called. What the configuration excludes is never taken.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from distml.diagnostics.model import Diagnostic
from distml.engine.config import DEFAULT_EXCLUDES, Config
from distml.engine.patterns import matches
from distml.source.reading import unreadable

SUFFIXES = (".py", ".pyi", ".ipynb")


class Found:
    """Files as they will be shown, the same by real path, and what could not be looked into."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.shown: dict[str, str] = {}
        self.problems: list[Diagnostic] = []


def discover(paths: Iterable[str], config: Config, suffixes: tuple[str, ...] = SUFFIXES) -> Found:
    """The files to check under `paths`, each once, sorted within each folder; in folders, those with these suffixes."""
    found = Found()
    for path in paths:
        for file in _walk(path, config, found, suffixes) if os.path.isdir(path) else _single(path, config):
            real = os.path.realpath(file)
            if real not in found.shown:
                found.shown[real] = file
                found.files.append(file)
    if config.respect_gitignore:
        from distml.engine.ignored import ignored

        left_out = ignored(found.files, os.curdir)
        found.files = [file for file in found.files if file not in left_out]
    return found


def _single(path: str, config: Config) -> list[str]:
    return [] if _excluded(path, config) else [os.path.normpath(path)]


def _walk(top: str, config: Config, found: Found, suffixes: tuple[str, ...]) -> Iterator[str]:
    waiting = [os.path.normpath(top)]
    while waiting:
        folder = waiting.pop()
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            found.problems.append(_problem(folder, error))
            continue
        inner = []
        for name in names:
            path = name if folder == os.curdir else os.path.join(folder, name)
            if _skipped(name) or _excluded(path, config):
                continue
            if os.path.isdir(path):
                inner.append(path)
            elif name.endswith(suffixes):
                yield path
        waiting += [path for path in reversed(inner) if not os.path.islink(path)]


def _problem(folder: str, error: OSError) -> Diagnostic:
    return unreadable("SRC107", folder, f"the folder cannot be read: {error.strerror or error}").diagnostic


def _skipped(name: str) -> bool:
    """Whether a name is one of those that are left out of every walk."""
    return name.startswith(".") or name in DEFAULT_EXCLUDES or name.endswith(".egg-info")


def _excluded(path: str, config: Config) -> bool:
    return any(matches(path, pattern, config.folder) for pattern in config.exclude)
