"""Reading a file that is to be rewritten, showing what changes in it, and writing it.

What is shown and what is written come from the same `Rewritten`. A file is replaced in one step, so that it is never
half written, and only if it is still what was read.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
import tempfile
from pathlib import Path

from distml.diagnostics.printable import is_seen
from distml.rewrites.model import BOM, Rewritten
from distml.source.reading import DEFAULT_MAX_FILE_SIZE, declared_encoding, decode, read_bytes


class WriteError(Exception):
    """A file cannot be written; the message says why, in one line. Nothing was changed."""


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


def write_file(path: str, rewritten: Rewritten, inside: str | None = None) -> None:
    """Put the new text in the place of the old, with the same encoding and permissions.

    A symbolic link stays, and what it points to is written; not outside of the folder `inside`, if one is given. Raises
    `WriteError` where the file cannot be written or is no longer what was rewritten, `UnreadableError` where it cannot
    be read.
    """
    if rewritten.source == rewritten.before:
        return
    target = os.path.realpath(path)
    if inside is not None and not Path(target).is_relative_to(os.path.realpath(inside)):
        raise WriteError(f"{path}: it is a link to {target}, outside of {inside}")
    data = read_bytes(target, path, max(DEFAULT_MAX_FILE_SIZE, 4 * len(rewritten.before)))
    if text_of(data, path) != rewritten.before:
        raise WriteError(f"{path}: it was changed by something else in the meantime")
    try:
        _replace(target, _encoded(rewritten.source, declared_encoding(data), path))
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from error


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


def _replace(target: str, data: bytes) -> None:
    """Write a new file beside `target` and move it there."""
    status = os.stat(target)
    handle, made = tempfile.mkstemp(prefix=".distml-", dir=os.path.dirname(target))
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(made, stat.S_IMODE(status.st_mode))
        with contextlib.suppress(OSError, AttributeError):  # only root may give files away
            os.chown(made, status.st_uid, status.st_gid)
        os.replace(made, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(made)
        raise
