"""Folders of modules that only the shell knows: what the scripts that launch a program put on its path, or begin in."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from distml.source.reading import UnreadableError, read_bytes

_PLACES = re.compile(
    r"\bPYTHONPATH=[\"']?(?P<path>[^\s;&|\"']+)|(?:^|[;&|(])[ \t]*(?:cd|pushd)[ \t]+[\"']?(?P<folder>[^\s;&|)\"']+)",
    re.MULTILINE,
)
_VARIABLE = re.compile(r"\$(\w+|\{[^}]*\}|\([^)]*\))|`[^`]*`")
_MOST = 2_000
"""Folders that are searched for scripts."""
_LARGEST = 100_000
"""Bytes of a script that is read."""


def launched_in(root: str, folders: Iterable[str]) -> list[str]:
    """Those of some folders of a project that its shell scripts name as `PYTHONPATH`, or where they change to with `cd`."""
    below = os.path.join(root, "")
    inside = {each for folder in folders for each in _up(folder, root) if each.startswith(below)}
    named = (each for script in _scripts(root) for each in _named(script, inside))
    return [*dict.fromkeys(named)]


def _up(folder: str, root: str) -> Iterator[str]:
    while folder != root and folder != os.path.dirname(folder):
        yield folder
        folder = os.path.dirname(folder)


def _scripts(root: str) -> Iterator[str]:
    for folder, inner, files in islice(os.walk(root), _MOST):
        inner[:] = sorted(
            each for each in inner if not each.startswith(".") and each not in ("node_modules", "site-packages")
        )
        yield from (os.path.join(folder, each) for each in sorted(files) if each.endswith((".sh", ".bash")))


def _named(script: str, folders: Collection[str]) -> Iterator[str]:
    """The folders that a script names: from its own on where there is such a one, else the only one that ends as written."""
    try:
        text = read_bytes(script, script, _LARGEST).decode("utf-8", "replace")
    except UnreadableError:
        return
    for found in _PLACES.finditer(text):
        for entry in (found["path"] or found["folder"]).split(":"):
            plain = _VARIABLE.sub("", entry).strip("/")
            tail = os.sep + os.sep.join(part for part in plain.split("/") if part not in ("", ".", ".."))
            beside = os.path.normpath(os.path.join(os.path.dirname(script), plain))
            ending = [each for each in folders if tail != os.sep and each.endswith(tail)]
            yield from [beside] if beside in folders else ending if len(ending) == 1 else []
