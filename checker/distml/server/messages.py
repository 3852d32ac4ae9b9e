"""From answers of the engine to messages of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from distml.server.buffers import Range
from distml.server.pages import link

if TYPE_CHECKING:
    from collections.abc import Callable

    Placed = Callable[[dict[str, Any]], tuple[str, "types.Range"]]

SOURCE = "distml"
_SEVERITY = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}
_HIDES_NOTHING = "SRC301"


def range_of(plain: list[int]) -> types.Range:
    """A range that was sent as four numbers."""
    line, character, end_line, end_character = plain
    return types.Range(types.Position(line, character), types.Position(end_line, end_character))


def plain_range(change: types.TextDocumentContentChangeEvent) -> Range | None:
    """The part of a text that a change replaces; None for all of it."""
    where = change.range if isinstance(change, types.TextDocumentContentChangePartial) else None
    if where is None:
        return None
    return Range(where.start.line, where.start.character, where.end.line, where.end.character)


def diagnostic(entry: dict[str, Any], placed: Placed) -> types.Diagnostic:
    """A finding as an editor shows it; `placed` says in which document a place is."""
    _, where = placed(entry["place"])
    related = [
        types.DiagnosticRelatedInformation(types.Location(*placed(each["place"])), each["message"])
        for each in entry["related"]
    ]
    page = link(entry["code"])
    return types.Diagnostic(
        where,
        entry["message"],
        severity=_SEVERITY[entry["severity"]],
        code=entry["code"],
        code_description=None if page is None else types.CodeDescription(page),
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if entry["code"] == _HIDES_NOTHING else None,
        related_information=related,
    )
