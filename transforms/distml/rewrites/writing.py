"""A file, what it is to become, and putting the one in the place of the other.

What is shown as a difference and what is written come from the same object. A file is replaced in one step, so
that it is never half written, and only if it is still what was read.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from distml.rewrites.model import Rewritten
from distml.rewrites.tree import BOM
from distml.source.reading import declared_encoding, decode, read_bytes


class WriteError(Exception):
    """A file cannot be written; the message says why, in one line. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file at `path`, shown as `shown`: its bytes as they were read, and what became of its text."""

    path: str
    shown: str
    before: bytes
    rewritten: Rewritten

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.rewritten.source != _text(self.before, self.shown)

    def diff(self) -> str:
        """The change as a unified difference that `patch` and `git apply` read; empty where there is none."""
        old, new = _lines(_text(self.before, self.shown)), _lines(self.rewritten.source)
        lines = difflib.unified_diff(old, new, f"a/{self.shown}", f"b/{self.shown}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def write(self, inside: str | None = None) -> None:
        """Put the new text in the place of the old, with the same encoding and permissions.

        A symbolic link stays, and what it points to is written; not outside of the folder `inside`, if one is given.
        Raises `WriteError`.
        """
        if not self.changes:
            return
        target = os.path.realpath(self.path)
        if inside is not None and not Path(target).is_relative_to(os.path.realpath(inside)):
            raise WriteError(f"{self.shown}: it is a link to {target}, outside of {inside}")
        data = self._bytes()
        try:
            if Path(target).read_bytes() != self.before:
                raise WriteError(f"{self.shown}: it was changed by something else in the meantime")
            _replace(target, data)
        except OSError as error:
            raise WriteError(f"{self.shown}: cannot be written: {error.strerror or error}") from error

    def _bytes(self) -> bytes:
        encoding = declared_encoding(self.before)
        try:
            return self.rewritten.source.encode(encoding)
        except UnicodeEncodeError as error:
            letters = error.object[error.start : error.end]
            raise WriteError(f"{self.shown}: {letters!r} cannot be written in {encoding}") from error


def change(path: str, rewrite: Callable[[str], Rewritten], shown: str | None = None) -> Change:
    """What `rewrite` makes of the file at `path`. Raises `UnreadableError` where it is not readable text."""
    before = read_bytes(path, shown or path)
    return Change(path, shown or path, before, rewrite(_text(before, shown or path)))


def _text(data: bytes, shown: str) -> str:
    """The text, with the byte order mark if it has one and with its line ends as they are."""
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
