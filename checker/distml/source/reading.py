"""From bytes on disk to text: encodings, NUL bytes, size limit.

What cannot be read becomes `UnreadableError`, which carries the finding to report for the file. Nothing here imports
another room than diagnostics.
"""

from __future__ import annotations

import codecs
import os
import re
import stat

from distml.diagnostics.model import Diagnostic, Span

DEFAULT_MAX_FILE_SIZE = 2 * 1024 * 1024

_BOM = codecs.BOM_UTF8
_DECLARATION = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?\r?$")


class UnreadableError(Exception):
    """A file cannot be read as Python source; `diagnostic` says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def unreadable(code: str, path: str, message: str, line: int = 1, column: int = 1) -> UnreadableError:
    """The error for a file, placed at one character."""
    return UnreadableError(Diagnostic(code, message, Span(path, line, column, line, column + 1)))


def read_bytes(path: str, shown: str, limit: int = DEFAULT_MAX_FILE_SIZE) -> bytes:
    """The content of a regular file. Raises `UnreadableError`: SRC107 if it cannot be read, SRC103 above `limit` bytes."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise unreadable("SRC107", shown, "not a regular file")
        if status.st_size > limit:
            raise too_large(shown, status.st_size, limit)
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise unreadable("SRC107", shown, f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > limit:
        raise too_large(shown, len(data), limit)
    return data


def too_large(shown: str, size: int, limit: int) -> UnreadableError:
    """SRC103 for a file of `size` bytes."""
    return unreadable("SRC103", shown, f"the file has {size} bytes, more than the limit of {limit} (max-file-size)")


def decode(data: bytes, shown: str) -> str:
    """The text of a source file: PEP 263, byte order mark, UTF-8 otherwise. Raises `UnreadableError` (SRC102)."""
    nul = data.find(b"\0")
    if nul >= 0:
        line, column = _place(data, nul)
        raise unreadable("SRC102", shown, "source contains a NUL byte", line, column)
    encoding = declared_encoding(data)
    if data.startswith(_BOM):
        if codecs_name(encoding) != "utf-8":
            raise unreadable("SRC102", shown, f"the byte order mark says UTF-8, the declaration says {encoding}")
        data, encoding = data[len(_BOM) :], "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line, column = _place(data, error.start)
        byte = f"byte 0x{data[error.start]:02x}" if error.start < len(data) else "end of file"
        message = f"{byte} is not {error.encoding}: {error.reason}"
        raise unreadable("SRC102", shown, message, line, column) from error
    except (LookupError, ValueError) as error:
        raise unreadable("SRC102", shown, f"unknown encoding {encoding!r}") from error


def declared_encoding(data: bytes) -> str:
    """The encoding named in the first two lines (PEP 263), `utf-8` where there is none."""
    for line in data[:4096].removeprefix(_BOM).split(b"\n", 2)[:2]:
        found = _DECLARATION.match(line)
        if found:
            return found[1].decode("ascii", "replace")
        if not _BLANK.match(line):
            break
    return "utf-8"


def codecs_name(encoding: str) -> str:
    """The canonical name of an encoding, or the name itself where it is unknown."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return encoding


def split_lines(text: str) -> list[str]:
    """Lines as the parser counts them: a line ends at LF, CR or CR LF and at nothing else."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def _place(data: bytes, offset: int) -> tuple[int, int]:
    before = data[:offset]
    start = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before[start:].decode("utf-8", "replace")) + 1
