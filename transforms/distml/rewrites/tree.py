"""Source as LibCST sees it, and places in it.

LibCST keeps every byte, so that what is not changed is written as it was read. Files that it cannot
read, or would not write back as they were, are refused before anything is changed.
"""

from __future__ import annotations

import ast
from contextlib import suppress

import libcst as cst
from libcst.metadata import MetadataWrapper

from distml.rewrites.model import Refusal
from distml.rewrites.positions import Place, written
from distml.source.apart import apart, can_fork
from distml.source.parsing import NestedError
from distml.source.parsing import parse as parsed
from distml.source.reading import split_lines

TOO_DEEP = "depth"
_DEEP = 20  # levels of the syntax tree
_SECONDS = 5  # of processor time


class Unreadable(Exception):
    """The source cannot be rewritten; `refusal` says why."""

    def __init__(self, code: str, line: int, reason: str) -> None:
        super().__init__(reason)
        self.refusal = Refusal(code, line, 0, "the file", reason)


def parse(source: str) -> MetadataWrapper:
    """The tree of `source`, ready for positions. Raises `Unreadable`."""
    return MetadataWrapper(placed(source)[0], unsafe_skip_copy=True)


def placed(source: str) -> tuple[cst.Module, dict[cst.CSTNode, tuple[Place, Place]]]:
    """The tree of `source`, and where its nodes begin and end. Raises `Unreadable`."""
    if not _is_read(source):
        raise Unreadable(TOO_DEEP, 1, "nested too deeply")
    try:
        module = cst.parse_module(source)
        text, places = written(module)
    except cst.ParserSyntaxError as error:
        raise Unreadable("syntax", error.raw_line, f"does not parse: {error.message}") from None
    except RecursionError:
        raise Unreadable(TOO_DEEP, 1, "nested too deeply") from None
    if text != source:
        raise Unreadable("layout", 1, "its layout would not be kept")
    return module, places


def _is_read(source: str) -> bool:
    """Whether LibCST comes to an end with the source. Deep nesting is tried in another process: LibCST overflows its stack
    on some, and needs time that doubles with each level for others.
    """
    if not can_fork() or not _is_deep(source):
        return True
    return apart(lambda: _tried(source), _SECONDS) is not None


def _tried(source: str) -> int:
    with suppress(Exception):  # told of when it happens again
        cst.parse_module(source)
    return 0


def _is_deep(source: str) -> bool:
    """Whether the syntax tree is deeper than people write; what is no Python counts as deep."""
    try:
        level: list[ast.AST] = [parsed(source)]
    except (SyntaxError, ValueError, NestedError):
        return True
    for _ in range(_DEEP):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return bool(level)


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
