"""What the forms of a report share: the source lines, whether to color, and places as they are shown."""

from __future__ import annotations

from collections.abc import Mapping

from distml.diagnostics.model import Span
from distml.diagnostics.printable import safe
from distml.source.places import Places


class Context(Places):
    """How to render: `color` turns on escape sequences, `verbose` adds where tracking was lost."""

    def __init__(self, color: bool = False, verbose: bool = False, overlay: Mapping[str, bytes] | None = None) -> None:
        super().__init__(overlay)
        self.color = color
        self.verbose = verbose

    def place(self, span: Span) -> str:
        """`path:line:column`, in a notebook `path:cell 3:line:column`, safe to print."""
        return f"{safe(span.path)}:{self.spot(span)}".replace("\t", "\\t")

    def spot(self, span: Span) -> str:
        """A place without its file."""
        cell = self.cell(span)
        return f"{span.line}:{span.column}" if cell is None else f"{cell}:{cell.column}"

    def start(self, span: Span) -> str:
        """`path:line`, in a notebook `path:cell 3:line`, as it is."""
        return f"{span.path}:{self.spot(span).rpartition(':')[0]}"
