"""What an editor shows at a place that has no finding: hover, hints in the text, and where numbers come from."""

from __future__ import annotations

import os
import re
from typing import Any

from lsprotocol import types

from distml.diagnostics.printable import safe
from distml.server.messages import range_of
from distml.server.serve import Server

OFF, ASSIGNMENTS, ALL = "off", "assignments", "all"
_ASSIGNED = ("assignment", "parameter")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#!|~])")


async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """The shape of what stands at a place, and where its numbers come from."""
    entry = await _at(ls, params.text_document.uri, params.position)
    if entry is None:
        return None
    asked = ls.client_capabilities.text_document
    formats = asked.hover.content_format if asked is not None and asked.hover is not None else None
    marked = not formats or types.MarkupKind.Markdown in formats
    shown = f"{safe(entry['name'])}: {safe(' | '.join(entry['values']))}"
    births = [_birth(ls, each, marked) for each in entry["births"]]
    if marked:
        text = "\n".join([f"```python\n{shown}\n```", *(f"- {each}" for each in births)])
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), range_of(entry["place"]["range"]))
    return types.Hover(
        types.MarkupContent(types.MarkupKind.PlainText, "\n".join([shown, *births])), range_of(entry["place"]["range"])
    )


async def origins(ls: Server, params: types.TypeDefinitionParams) -> list[types.Location] | None:
    """The places that the numbers in a shape come from."""
    entry = await _at(ls, params.text_document.uri, params.position)
    return [types.Location(*ls.placed(each["place"])) for each in entry["births"]] if entry is not None else None


async def hints(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    """Shapes behind names and expressions, as many as the settings ask for."""
    uri = params.text_document.uri
    document = ls.showing(uri)
    wanted = ls.settings.get("inlayHints", OFF)
    if document is None or wanted not in (ASSIGNMENTS, ALL):
        return None
    found: dict[tuple[int, int], types.InlayHint] = {}
    for entry in await ls.shapes(document):
        if (wanted == ALL or entry["kind"] in _ASSIGNED) and ls.placed(entry["place"])[0] == uri:
            end = range_of(entry["place"]["range"]).end
            if params.range.start.line <= end.line <= params.range.end.line:
                label = f": {safe(' | '.join(entry['values']))}"
                hint = types.InlayHint(end, label, kind=types.InlayHintKind.Type)
                found.setdefault((end.line, end.character), hint)
    return list(found.values())


async def _at(ls: Server, uri: str, position: types.Position) -> dict[str, Any] | None:
    """What is known of the innermost expression at a place."""
    document = ls.showing(uri)
    if document is None:
        return None
    holding = [
        entry
        for entry in await ls.shapes(document)
        if ls.placed(entry["place"])[0] == uri and _holds(range_of(entry["place"]["range"]), position)
    ]
    return min(holding, key=_extent, default=None)


def _holds(where: types.Range, position: types.Position) -> bool:
    return bool(where.start <= position <= where.end)


def _extent(entry: dict[str, Any]) -> tuple[int, int]:
    line, character, end_line, end_character = entry["place"]["range"]
    return end_line - line, end_character - character


def _birth(ls: Server, birth: dict[str, Any], marked: bool) -> str:
    """A sentence that says where a size comes from."""
    uri, where = ls.placed(birth["place"])
    place = f"{os.path.basename(birth['place']['path'])}:{where.start.line + 1}"
    if not marked:
        return f"{safe(birth['size'])} comes from {safe(birth['text'])} ({safe(place)})"
    size, text, name = (_SPECIAL.sub(r"\\\1", safe(each)) for each in (birth["size"], birth["text"], place))
    return f"{size} comes from {text} ([{name}]({uri}#L{where.start.line + 1}))"
