"""The documents that are open in the editor, and which file each of them stands for."""

from __future__ import annotations

import asyncio
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from distml.engine.discovery import SUFFIXES


@dataclass
class Cell:
    """A cell of a notebook, which the client knows as a document. `kind` is its `cell_type` in the file."""

    uri: str
    kind: str
    text: str
    version: int


@dataclass
class Document:
    """An open document. `path` is how the client reaches the file, `real` what the file is however it is reached.

    `changed`: when its text changed last, in seconds of `time.monotonic`. `edited`: whoever checks does not have the text yet;
    `news`: what reads the file would read another text than before.
    `entries` are the findings of the last check, which was of the text of `checked`; `reads` the files that it read.
    `shapes` are those of the text as it is, once somebody has asked for them. `cells` are those of a notebook.
    """

    uri: str
    path: str
    real: str
    text: str
    version: int
    changed: float = -math.inf
    edited: bool = False
    news: bool = False
    task: asyncio.Task[None] | None = None
    checked: int | None = None
    entries: list[dict[str, Any]] = field(default_factory=list)
    reads: frozenset[str] = frozenset()
    shapes: asyncio.Task[list[dict[str, Any]]] | None = None
    cells: list[Cell] | None = None

    @property
    def shown(self) -> dict[str, int]:
        """The documents that show it, with their versions: the cells of a notebook, else itself."""
        return {self.uri: self.version} if self.cells is None else {each.uri: each.version for each in self.cells}

    def differs(self) -> bool:
        """Whether the file on disk holds another text, or none that can be read."""
        try:
            return Path(self.real).read_bytes() != self.text.encode()
        except (OSError, UnicodeError):
            return True

    async def settled(self) -> None:
        """Wait until the text as it is was checked."""
        while self.task is not None and not self.task.done():
            await asyncio.wait([self.task])

    def stop(self) -> None:
        """Give up what is being found out: the text is another one, or of no interest any more."""
        for task in (self.task, self.shapes):
            if task is not None:
                task.cancel()
        self.shapes = None


def document(uri: str, language: str, version: int, text: str) -> Document | None:
    """An open document that can be checked: a file with Python in it. None for others."""
    path = path_of(uri)
    if path is None or not (language == "python" or path.endswith(SUFFIXES)):
        return None
    return Document(uri, path, os.path.realpath(path), text, version)


def path_of(uri: str) -> str | None:
    """The absolute path of a file on this machine; None for any other URI."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path, errors="surrogateescape")
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in path or not os.path.isabs(path):
        return None
    return os.path.normpath(path)


def uri_of(path: str) -> str:
    """The URI of a file."""
    return Path(path).as_uri()


def root_of(path: str, folders: list[str]) -> str:
    """The innermost of these folders that holds a file, else the folder that it lies in."""
    holding = [each for each in folders if path.startswith(os.path.join(each, ""))]
    return max(holding, key=len, default=os.path.dirname(path))
