"""Reading a file that is to be rewritten, showing what changes in it, and writing it.

What is shown and what is written come from the same `Rewritten`. A file is written only if it is still what was read.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence

from distml.diagnostics.printable import is_seen
from distml.rewrites.model import BOM, Rewritten
from distml.source.reading import DEFAULT_MAX_FILE_SIZE, declared_encoding, decode, read_bytes
from distml.writing.files import File, WriteError, write_files


def read_file(path: str, limit: int = DEFAULT_MAX_FILE_SIZE) -> str:
    """The text of a file, with its byte order mark and its line ends.

    Raises `UnreadableError` where it is not text, or has more than `limit` bytes.
    """
    return text_of(read_bytes(path, path, limit), path)


def unified(path: str, rewritten: Rewritten) -> str:
    """The change as a unified difference that `patch` and `git apply` read; empty where there is none."""
    lines = difflib.unified_diff(
        _lines(rewritten.before), _lines(rewritten.source), _header(f"a/{path}"), _header(f"b/{path}")
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _header(path: str) -> str:
    """A path as the header of a patch names it: in quotes, as git does, where it holds what could end the line."""
    if all(is_seen(char) and char not in '"\\' for char in path):
        return path
    return '"' + "".join(map(_quoted, path)) + '"'


def _quoted(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if is_seen(char) else "".join(f"\\{byte:03o}" for byte in os.fsencode(char))


def write_file(path: str, rewritten: Rewritten, roots: Sequence[str]) -> None:
    """Put the new text in the place of the old, below one of `roots`: `write_rewritten` for one file."""
    write_rewritten({path: rewritten}, roots)


def write_rewritten(changes: Mapping[str, Rewritten], roots: Sequence[str]) -> None:
    """Put new texts in the place of the old, with the same encodings and permissions: all, or none.

    Raises `WriteError` where a file cannot be written below one of `roots` or is no longer what was rewritten,
    `UnreadableError` where it cannot be read.
    """
    changed = [_file(path, each) for path, each in changes.items() if each.source != each.before]
    if files := [each for each in changed if each is not None]:
        write_files(files, roots)


def _file(path: str, rewritten: Rewritten) -> File | None:
    """What to write; None where the new text is there already, under another name of the same file."""
    data = read_bytes(path, path, max(DEFAULT_MAX_FILE_SIZE, 4 * len(rewritten.before)))
    text = text_of(data, path)
    if text == rewritten.source:
        return None
    if text != rewritten.before:
        raise WriteError(f"{path}: it was changed by something else in the meantime")
    return File(path, _encoded(rewritten.source, declared_encoding(data), path), data)


def _encoded(text: str, encoding: str, path: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        letters = error.object[error.start : error.end]
        raise WriteError(f"{path}: {letters!r} cannot be written in {encoding}") from error


def text_of(data: bytes, shown: str) -> str:
    """The text of a file's bytes, with its byte order mark. Raises `UnreadableError` where they are no text."""
    return (BOM if data.startswith(BOM.encode()) else "") + decode(data, shown)


def _lines(text: str) -> list[str]:
    """Lines with their ends, cut at LF only, as `patch` counts them."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
