"""Where a project's files come from: the disk, or a set of files that was declared.

A build system lists what a step may read. `Declared` holds just that, so that nothing else can change a result: not a
file beside the declared ones, not what a link to them points to, not a folder further up.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol

from distml.source.reading import read_bytes, too_large, unreadable


class Files(Protocol):
    """What a project asks about paths; all of them absolute."""

    def real(self, path: str) -> str:
        """The one path that stands for a file, however it is reached."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder."""

    def is_file(self, path: str) -> bool:
        """Whether there is a file."""

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder."""

    def holds_modules(self, folder: str) -> bool:
        """Whether a folder holds a module or a package, not only data."""

    def read(self, path: str, shown: str, limit: int) -> bytes:
        """The content of a file. Raises `UnreadableError`: SRC107 if it cannot be read, SRC103 above `limit` bytes."""


class Disk:
    """The files on disk; `overlay` holds contents that replace them, by real path."""

    def __init__(self, overlay: Mapping[str, bytes]) -> None:
        self._overlay = dict(overlay)

    def replace(self, path: str, data: bytes) -> None:
        """Another content stands for a file from now on."""
        self._overlay[path] = data

    def real(self, path: str) -> str:
        return os.path.realpath(path)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_file(self, path: str) -> bool:
        return path in self._overlay or os.path.isfile(path)

    def is_folder(self, path: str) -> bool:
        return path not in self._overlay and os.path.isdir(path)

    def holds_modules(self, folder: str) -> bool:
        try:
            with os.scandir(folder) as entries:
                return any(
                    entry.name.endswith(".py") or os.path.isfile(os.path.join(entry.path, "__init__.py"))
                    for entry in entries
                )
        except OSError:
            return False

    def read(self, path: str, shown: str, limit: int) -> bytes:
        data = self._overlay.get(path)
        if data is None:
            return read_bytes(path, shown, limit)
        return _within(data, shown, limit)


class Replaced:
    """Other files, some of them with other contents: `contents`, by real path."""

    def __init__(self, files: Files, contents: Mapping[str, bytes]) -> None:
        self._contents = dict(contents)
        self.real, self.is_folder, self.holds_modules = files.real, files.is_folder, files.holds_modules
        self._files = files

    def exists(self, path: str) -> bool:
        return path in self._contents or self._files.exists(path)

    def is_file(self, path: str) -> bool:
        return path in self._contents or self._files.is_file(path)

    def read(self, path: str, shown: str, limit: int) -> bytes:
        data = self._contents.get(path)
        return self._files.read(path, shown, limit) if data is None else _within(data, shown, limit)


class Declared:
    """The files given, by absolute path, and the folders that these names imply. There are no links among them."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = dict(contents)
        self._folders: set[str] = set()
        self._packages: set[str] = set()
        for path in self._contents:
            self._imply(path)

    def real(self, path: str) -> str:
        return os.path.normpath(path)

    def exists(self, path: str) -> bool:
        return self.is_file(path) or self.is_folder(path)

    def is_file(self, path: str) -> bool:
        return path in self._contents

    def is_folder(self, path: str) -> bool:
        return path in self._folders

    def holds_modules(self, folder: str) -> bool:
        return folder in self._packages

    def read(self, path: str, shown: str, limit: int) -> bytes:
        data = self._contents.get(path)
        if data is None:
            raise unreadable("SRC107", shown, "cannot be read: not among the declared files")
        return _within(data, shown, limit)

    def _imply(self, path: str) -> None:
        folder, name = os.path.split(path)
        if name.endswith(".py"):
            self._packages.add(folder)
        if name == "__init__.py":
            self._packages.add(os.path.dirname(folder))
        while folder not in self._folders:
            self._folders.add(folder)
            folder = os.path.dirname(folder)


def _within(data: bytes, shown: str, limit: int) -> bytes:
    """What is in memory already, held to the limit of a file on disk."""
    if len(data) > limit:
        raise too_large(shown, len(data), limit)
    return data
