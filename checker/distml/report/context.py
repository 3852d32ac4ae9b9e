"""What the forms of a report share: the source lines, whether to color, and places as they are shown."""

from __future__ import annotations

import os
from collections.abc import Mapping

from distml.diagnostics.printable import safe
from distml.source.reading import UnreadableError, decode, read_bytes, split_lines


class Context:
    """How to render: `color` turns on escape sequences, `verbose` adds where tracking was lost."""

    def __init__(self, color: bool = False, verbose: bool = False, overlay: Mapping[str, bytes] | None = None) -> None:
        self.color = color
        self.verbose = verbose
        self._overlay = overlay or {}
        self._lines: dict[str, list[str]] = {}

    def line(self, path: str, number: int) -> str | None:
        """A line of a file as it is now, `None` where there is none."""
        if path not in self._lines:
            self._lines[path] = self._read(path)
        lines = self._lines[path]
        return lines[number - 1] if 1 <= number <= len(lines) else None

    def _read(self, path: str) -> list[str]:
        try:
            data = self._overlay.get(os.path.realpath(path))
            return split_lines(decode(read_bytes(path, path, 1 << 26) if data is None else data, path))
        except (UnreadableError, ValueError):
            return []


def place(path: str, line: int, column: int) -> str:
    """`path:line:column`, safe to print."""
    return f"{safe(path)}:{line}:{column}".replace("\t", "\\t")
