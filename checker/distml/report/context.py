"""What the forms of a report share: the source lines, whether to color, and text made safe for a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from distml.source.reading import UnreadableError, decode, read_bytes, split_lines

# Everything a terminal might obey, and the marks that reorder text: shown escaped instead.
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


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


def safe(text: str) -> str:
    """`text` with control characters escaped (`\\x1b`); tabs stay."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def place(path: str, line: int, column: int) -> str:
    """`path:line:column`, safe to print."""
    return f"{safe(path)}:{line}:{column}".replace("\t", "\\t")
