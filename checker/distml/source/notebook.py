"""Notebooks: their code cells as one Python program, the place in a cell that a place in the program stands for, and back.

Each code cell follows a string that marks where it begins; `distml.source.magics` makes its text Python. Written back, only
the lines of sources that changed differ: every other byte of the file stays as it was.
https://nbformat.readthedocs.io/en/latest/format_description.html
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from textwrap import indent
from typing import NamedTuple

from distml.diagnostics.model import Span
from distml.source.cells import CodeCell, code_cells
from distml.source.magics import LINES, as_python
from distml.source.reading import decode, split_lines, too_large

SUFFIX = ".ipynb"
LARGEST = 64 * 1024 * 1024
"""Bytes of a notebook, most of which are outputs; its code is held to the limit of any file."""
_TIMED = re.compile(r"([ \t\f]*)if 1:")


class Place(NamedTuple):
    """A place in a notebook: the cell, from 1 among all cells, lines and columns in it, and lines of the file itself."""

    cell: int
    line: int
    column: int
    end_line: int
    end_column: int
    file_line: int
    file_end_line: int

    def __str__(self) -> str:
        return f"cell {self.cell}:{self.line}"


class Notebook:
    """A notebook as it was read. `program` is the text of its code cells, empty where they are in another language.

    `broken` is the first cell that is no Python: how many lines of the program are above it, and its text.
    """

    def __init__(self, text: str, path: str, limit: int | None = None) -> None:
        """Raises `UnreadableError`: SRC108 where it is no notebook, SRC103 where its code has more characters than `limit`."""
        self.text = text
        self.program = ""
        self.broken: tuple[int, str] | None = None
        self._cells = {cell.number: cell for cell in code_cells(text, path)}
        size = sum(len(cell.source) for cell in self._cells.values())
        if limit is not None and size > limit:
            raise too_large(path, size, limit)
        code = "\n".join(cell.source for cell in self._cells.values())
        self._mark, self._note = _unused("distml cell", code), _unused("distml line", code)
        self._aside: list[tuple[str, str]] = []
        self._starts: list[int] = []  # the line of each mark
        self._numbers: list[int] = []
        self._put_together()

    def place(self, span: Span) -> Place | None:
        """The place that a place in `program` stands for; None where the notebook has no code."""
        at = max(bisect_right(self._starts, span.line) - 1, 0)
        if not self._starts:
            return None
        start, cell = self._starts[at], self._cells[self._numbers[at]]
        if span.line <= start:
            span = span._replace(line=start + 1, column=1, end_line=start + 1, end_column=2)
        line, end = span.line - start, max(span.end_line, span.line) - start
        return Place(
            cell.number,
            line,
            span.column,
            end,
            span.end_column,
            self._file_line(cell, line),
            self._file_line(cell, end),
        )

    def place_of_line(self, line: int) -> Place | None:
        """The place of the beginning of a line of `program`."""
        return self.place(Span("", line, 1, line, 2))

    @cached_property
    def lines(self) -> list[str]:
        """The lines of `program` as the cells have them."""
        cells = (self._cells[number] for number in self._numbers)
        return [line for cell in cells for line in ("", *split_lines(cell.source.removesuffix("\n")))]

    def written(self, program: str) -> str:
        """The notebook with the cells of a changed `program`."""
        marks = re.compile(rf'^(?:if )?"{self._mark} (\d+)":?\r?\n', re.MULTILINE)
        above, *pieces = marks.split(program)
        changed = {int(number): source for number, source in zip(pieces[::2], pieces[1::2])}
        if above and changed:  # what was put in front of the first mark
            first = min(changed)
            changed[first] = indent(above, changed[first][: -len(changed[first].lstrip())]) + changed[first]
        made, at = [], 0
        for number, source in sorted(changed.items()):
            cell = self._cells[number]
            source = self._restored(source)
            if not cell.source.endswith("\n"):
                source = source.removesuffix("\n")
            if source != cell.source:
                made += [self.text[at : cell.start], cell.replaced(self.text, source)]
                at = cell.end
        return "".join([*made, self.text[at:]])

    def _put_together(self) -> None:
        parts, line = [], 1
        for number, cell in self._cells.items():
            python = as_python(cell.source, self._put_aside)
            if python is None:
                continue
            if python.broken and self.broken is None:
                self.broken = line, python.text
            mark = f'"{self._mark} {number}"'
            parts.append(f"if {mark}:\n" if python.indented else f"{mark}\n")
            parts.append(python.text if python.text.endswith("\n") or not python.text else f"{python.text}\n")
            self._starts.append(line)
            self._numbers.append(number)
            line += len(split_lines(parts[-1]))
        self.program = "".join(parts)

    def _put_aside(self, line: str, python: str) -> str:
        self._aside.append((line, python))
        return f"{python}  # {self._note} {len(self._aside) - 1}"

    def _restored(self, source: str) -> str:
        """The text of a cell with its own lines where others stand for them; what was changed in these stays changed."""

        def own(found: re.Match[str]) -> str:
            line, python = self._aside[int(found[2])]
            timed = found[1] != python and _TIMED.match(python) and _TIMED.match(found[1])
            return found[1].replace("if 1:", "%time", 1) if timed else line

        return re.sub(rf"([^\r\n]*)  # {self._note} (\d+)", own, source)

    def _file_line(self, cell: CodeCell, line: int) -> int:
        """The line of the file that a line of a cell stands on."""
        starts = [0, *accumulate(map(len, LINES.findall(cell.source)))]
        ends = list(accumulate(len(piece.value) for piece in cell.pieces))
        at = min(bisect_right(ends, starts[min(line, len(starts)) - 1]), len(ends) - 1)
        return bisect_right(self._line_ends, cell.pieces[at].start if ends else cell.start) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]


def is_notebook(path: str) -> bool:
    """Whether a file is one by its name."""
    return path.endswith(SUFFIX)


def limit_of(path: str, limit: int) -> int:
    """How many bytes of a file are read, where source may have `limit`."""
    return max(limit, LARGEST) if is_notebook(path) else limit


def code_of(data: bytes, path: str) -> str:
    """The Python of a file: its text, or the program of a notebook. Raises `UnreadableError`."""
    return Notebook(decode(data, path), path).program if is_notebook(path) else decode(data, path)


def _unused(word: str, text: str) -> str:
    """A word that a text does not hold."""
    while word in text:
        word += "'"
    return word
