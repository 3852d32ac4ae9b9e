"""Where the code cells of a notebook stand in the text of its file, which is JSON.

Positions matter twice: a finding names the line of the file, and a change leaves every other byte alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from distml.source.reading import unreadable

BOM = "\ufeff"
FORMAT = 4
_SPACE = re.compile(r"[ \t\n\r]*")
_CLOSING = {"{": "}", "[": "]"}
_DECODER = json.JSONDecoder(parse_int=float)  # Python refuses to read very long numbers


class Piece(NamedTuple):
    """A string in the file: its value, and the offsets between which it is written."""

    value: str
    start: int
    end: int


class CodeCell(NamedTuple):
    """A code cell: its number among all cells, the strings its source is written as, and the offsets of the source."""

    number: int
    pieces: tuple[Piece, ...]
    start: int
    end: int

    @property
    def source(self) -> str:
        """The code."""
        return "".join(piece.value for piece in self.pieces)

    def replaced(self, text: str, source: str) -> str:
        """How another `source` is written in the file with this `text`: in the same form, equal lines as they are."""
        if text[self.start] == '"':
            return _dumped(source, text)
        old, new = [piece.value for piece in self.pieces], source.splitlines(keepends=True)
        most = min(len(old), len(new))
        above = next((at for at in range(most) if old[at] != new[at]), most)
        below = next((at for at in range(most - above) if old[-1 - at] != new[-1 - at]), most - above)
        kept = [text[piece.start : piece.end] for piece in self.pieces]
        lines = [
            *kept[:above],
            *(_dumped(each, text) for each in new[above : len(new) - below]),
            *kept[len(old) - below :],
        ]
        if not old or not lines:
            return f"[{', '.join(lines)}]"
        first, last = text[self.start : self.pieces[0].start], text[self.pieces[-1].end : self.end]
        between = [text[one.end : two.start] for one, two in zip(self.pieces, self.pieces[1:])] or [f",{first[1:]}"]
        count = len(lines) - 1
        after = between[len(between) - max(below - 1, 0) :]
        before = between[: min(above, count - len(after))]
        gaps = [*before, *[between[0]] * (count - len(before) - len(after)), *after]
        return first + "".join(line + gap for line, gap in zip(lines, [*gaps, ""])) + last


def code_cells(text: str, path: str) -> list[CodeCell]:
    """The code cells of a notebook in Python; none where its language is another.

    Raises `UnreadableError` (SRC108) where the text is no notebook, or one of a format that is not read.
    """
    try:
        return list(_code_cells(text))
    except json.JSONDecodeError as error:
        raise unreadable("SRC108", path, f"not JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise unreadable("SRC108", path, "nested too deeply to be read") from None
    except _FormError as error:
        raise unreadable("SRC108", path, str(error)) from None


class _FormError(ValueError):
    """The file is JSON and no notebook; the message says why."""


def _code_cells(text: str) -> Iterator[CodeCell]:
    start = _after_space(text, int(text.startswith(BOM)))
    data, end = _DECODER.raw_decode(text, start)
    if (rest := _after_space(text, end)) != len(text):
        raise json.JSONDecodeError("Extra data", text, rest)
    if not isinstance(data, dict):
        raise _FormError("not an object")
    if data.get("nbformat", FORMAT) != FORMAT:
        raise _FormError(f"not in format {FORMAT}, the only one that is read")
    if not isinstance(data.get("cells"), list):
        raise _FormError("there is no array `cells`")
    if not _is_python(data):
        return
    places = {name: begin for name, _, begin, _ in _inside(text, start)}
    for number, (_, cell, begin, _) in enumerate(_inside(text, places["cells"]), 1):
        if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
            raise _FormError(f"cell {number} is no object with a `cell_type`")
        if cell["cell_type"] == "code" and _known(cell, "metadata", "vscode", "languageId") in (None, "python"):
            yield _source(text, number, begin)


def _source(text: str, number: int, begin: int) -> CodeCell:
    members = {name: (value, start, end) for name, value, start, end in _inside(text, begin)}
    value, start, end = members.get("source", (None, 0, 0))
    if isinstance(value, str):
        return CodeCell(number, (Piece(value, start, end),), start, end)
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise _FormError(f"the `source` of cell {number} is neither a string nor an array of strings")
    return CodeCell(number, tuple(Piece(*each[1:]) for each in _inside(text, start)), start, end)


def _is_python(data: dict[str, Any]) -> bool:
    said = _known(data, "metadata", "language_info", "name") or _known(data, "metadata", "kernelspec", "language")
    return said is None or said.lower().startswith(("python", "ipython"))


def _known(data: Any, *names: str) -> str | None:
    """A string inside objects inside objects; None where it is not there."""
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, str) and data else None


def _inside(text: str, start: int) -> Iterator[tuple[str, Any, int, int]]:
    """Name (empty in an array), value and offsets of each entry of the object or array that begins at `start`."""
    closing = _CLOSING[text[start]]
    at = _after_space(text, start + 1)
    while text[at] != closing:
        name = ""
        if closing == "}":
            name, at = _DECODER.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        yield name, value, at, end
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _dumped(value: str, text: str) -> str:
    return json.dumps(value, ensure_ascii=text.isascii())
