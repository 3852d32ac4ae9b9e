"""Source as LibCST sees it, and places in it.

LibCST keeps every byte, so that what is not changed is written as it was read. Files that it cannot
read, or would not write back as they were, are refused before anything is changed.
"""

from __future__ import annotations

import libcst as cst
from libcst.metadata import MetadataWrapper

from distml.rewrites.model import Refusal
from distml.source.reading import split_lines


class Unreadable(Exception):
    """The source cannot be rewritten; `refusal` says why."""

    def __init__(self, code: str, line: int, reason: str) -> None:
        super().__init__(reason)
        self.refusal = Refusal(code, line, 0, "the file", reason)


def parse(source: str) -> MetadataWrapper:
    """The tree of `source`, ready for positions. Raises `Unreadable`."""
    try:
        module = cst.parse_module(source)
        same = module.code == source
    except cst.ParserSyntaxError as error:
        raise Unreadable("syntax", error.raw_line, f"does not parse: {error.message}") from None
    except RecursionError:
        raise Unreadable("depth", 1, "nested too deeply") from None
    if not same:
        raise Unreadable("layout", 1, "its layout would not be kept")
    return MetadataWrapper(module, unsafe_skip_copy=True)


class Places:
    """Lines of a source, and columns in characters for those that `ast` counts in bytes of UTF-8."""

    def __init__(self, source: str) -> None:
        self.lines = split_lines(source)

    def column(self, line: int, offset: int) -> int:
        """The column from 0, in characters."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return (
            offset if text.isascii() else len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace"))
        )

    def at(self, line: int, column: int) -> str:
        """The character at a place, empty at the ends of the line."""
        return self.lines[line - 1][column : column + 1] if column >= 0 else ""
