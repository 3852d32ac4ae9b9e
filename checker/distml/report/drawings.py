"""The forms of `distml draw`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from distml.report.drawings_mermaid import as_mermaid
from distml.report.drawings_page import as_html
from distml.report.drawings_svg import NotInstalled, as_svg

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.gradual.drawing import Drawing


def as_json(drawings: Sequence[Drawing]) -> str:
    """An array with an object for each graph; the fields are in docs/draw.md."""
    return json.dumps([_fields(each) for each in drawings], indent=2) + "\n"


def _fields(drawing: Drawing) -> dict[str, Any]:
    return {
        "name": drawing.name,
        "path": drawing.path,
        "nodes": [each._asdict() for each in drawing.nodes],
        "edges": [each._asdict() for each in drawing.edges],
        "modules": [each._asdict() for each in drawing.boxes],
        "unused": drawing.unused,
        "failures": [each._asdict() for each in drawing.failures],
        "notes": list(drawing.notes),
    }


FORMS: dict[str, Callable[[Sequence[Drawing]], str]] = {
    "mermaid": as_mermaid,
    "html": as_html,
    "svg": as_svg,
    "json": as_json,
}

__all__ = ["FORMS", "NotInstalled", "as_json"]
