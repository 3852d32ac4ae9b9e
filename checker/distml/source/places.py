"""The lines of files as they are now, and what places in them stand for: in a notebook, cells and lines of its JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from distml.diagnostics.model import Span
from distml.source.reading import UnreadableError, decode, read_bytes, split_lines

if TYPE_CHECKING:
    from distml.source.notebook import Notebook, Place


class Places:
    """Reads each file that is asked for once; `overlay` replaces contents on disk, by real path."""

    def __init__(self, overlay: Mapping[str, bytes] | None = None) -> None:
        self._overlay = overlay or {}
        self._files: dict[str, tuple[list[str], Notebook | None]] = {}

    def line(self, path: str, number: int) -> str | None:
        """A line of a file as it is now, of the program of a notebook as its cell has it; `None` where there is none."""
        lines, _ = self._file(path)
        return lines[number - 1] if 1 <= number <= len(lines) else None

    def cell(self, span: Span) -> Place | None:
        """The place in a cell that a span stands for; `None` where the file is no notebook."""
        from distml.source.notebook import is_notebook

        if not is_notebook(span.path):
            return None
        _, notebook = self._file(span.path)
        return None if notebook is None else notebook.place(span)

    def in_file(self, span: Span) -> tuple[Span, str]:
        """The lines of the file itself, and what begins a message that is shown there: in a notebook, the cell."""
        cell = self.cell(span)
        if cell is None:
            return span, ""
        return Span(span.path, cell.file_line, 1, cell.file_end_line, 1), f"cell {cell.cell}, line {cell.line}: "

    def _file(self, path: str) -> tuple[list[str], Notebook | None]:
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> tuple[list[str], Notebook | None]:
        from distml.source.notebook import LARGEST, Notebook, is_notebook

        try:
            data = self._overlay.get(os.path.realpath(path))
            text = decode(read_bytes(path, path, LARGEST) if data is None else data, path)
            notebook = Notebook(text, path) if is_notebook(path) else None
        except (UnreadableError, ValueError):
            return [], None
        return (split_lines(text) if notebook is None else notebook.lines), notebook
