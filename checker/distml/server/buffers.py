"""Texts of open documents: edits that a client sends, and positions in its units.

A client counts the characters of a line in code units of an encoding, UTF-16 unless it asks for another one; distml counts code
points. Lines end at LF, CR or CR LF and at nothing else, for the protocol as for Python's parser.
"""

from __future__ import annotations

import re
from typing import NamedTuple

UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"
_END = re.compile(r"\r\n|\r|\n")


class Range(NamedTuple):
    """From a position up to another one, both counted from 0, characters in units of the client."""

    line: int
    character: int
    end_line: int
    end_character: int


def width(text: str, encoding: str) -> int:
    """How many units of an encoding a text takes; a lone surrogate is a character of its own."""
    if encoding == UTF32 or text.isascii():
        return len(text)
    if encoding == UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(char > "\uffff" for char in text)


def column(line: str, units: int, encoding: str) -> int:
    """How many characters of a line stand before a position; within a character, those before it."""
    if encoding == UTF32 or line.isascii():
        return max(0, min(units, len(line)))
    passed = 0
    for index, char in enumerate(line):
        passed += width(char, encoding)
        if passed > units:
            return index
    return len(line)


def edited(text: str, where: Range | None, replacement: str, encoding: str) -> str:
    """A text with a part of it replaced; all of it where no part is named. What lies behind the end stands for the end."""
    if where is None:
        return replacement
    starts = [0, *(end.end() for end in _END.finditer(text))]
    start = _offset(text, starts, where.line, where.character, encoding)
    end = _offset(text, starts, where.end_line, where.end_character, encoding)
    return text[:start] + replacement + text[max(start, end) :]


def _offset(text: str, starts: list[int], line: int, units: int, encoding: str) -> int:
    if line >= len(starts):
        return len(text)
    line = max(line, 0)
    whole = text[starts[line] : starts[line + 1] if line + 1 < len(starts) else len(text)]
    return starts[line] + column(_END.sub("", whole), units, encoding)
