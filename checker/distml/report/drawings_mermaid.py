"""A graph as Mermaid text (https://mermaid.js.org/syntax/flowchart.html): modules are subgraphs, shapes are on the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.diagnostics.printable import safe
from distml.report.drawn_text import box_title, fails_at, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from distml.gradual.drawing import Drawing, Node

_PLAIN = frozenset(" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789[](),.:=+-*/_?@|")
_CLASSES = (
    "classDef input fill:#ddf4ff,stroke:#0969da,color:#0a3069",
    "classDef output fill:#dafbe1,stroke:#1a7f37,color:#0f5323",
    "classDef parameter fill:#fff8c5,stroke:#9a6700,color:#4d2d00",
    "classDef unknown fill:#f6f8fa,stroke:#57606a,color:#24292f,stroke-dasharray:4",
    "classDef fails fill:#ffebe9,stroke:#cf222e,color:#82071e",
)


def as_mermaid(drawings: Sequence[Drawing]) -> str:
    """One flowchart; several graphs are boxes beside each other."""
    several = len(drawings) > 1
    lines = ["flowchart TD"]
    for number, drawing in enumerate(drawings):
        lines += [f"  %% {_comment(drawing.name)} in {_comment(drawing.path)}"]
        inner = list(_graph(drawing, f"g{number}" if several else ""))
        if several:
            inner = [f'subgraph g{number}["{_text(drawing.name)}"]', *(f"  {line}" for line in inner), "end"]
        lines += [f"  {line}" for line in inner]
        lines += [f"  %% fails at line {each.line}: {_comment(each.message)}" for each in drawing.failures]
        lines += [f"  %% {_comment(note)}" for note in drawing.notes]
    lines += [f"  {each}" for each in _CLASSES]
    return "\n".join(lines) + "\n"


def _graph(drawing: Drawing, prefix: str) -> Iterator[str]:
    wrong = fails_at(drawing)
    yield from _level(drawing, None, prefix, wrong)
    for edge in drawing.edges:
        arrow = "-.->" if edge.back else "-->"
        shape = f"{edge.shape} next iteration" if edge.back else edge.shape
        yield f'{prefix}n{edge.source} {arrow}|"{_text(shape)}"| {prefix}n{edge.target}'


def _level(drawing: Drawing, parent: int | None, prefix: str, wrong: frozenset[int]) -> Iterator[str]:
    for node in drawing.nodes:
        if node.group == parent:
            yield _node(drawing, node, prefix, wrong)
    for box in drawing.boxes:
        if box.parent == parent:
            yield f'subgraph {prefix}m{box.id}["{_text(box_title(box, drawing.boxes))}"]'
            yield from (f"  {line}" for line in _level(drawing, box.id, prefix, wrong))
            yield "end"


def _node(drawing: Drawing, node: Node, prefix: str, wrong: frozenset[int]) -> str:
    text = "<br>".join(map(_text, lines_of(node, drawing.boxes)))
    left, right = ('(["', '"])') if node.kind in ("input", "output") else ('["', '"]')
    kind = "parameter" if node.kind == "tensor" else node.kind
    kind = "fails" if node.id in wrong else "unknown" if not node.known or node.kind == "value" else kind
    mark = f":::{kind}" if kind in ("input", "output", "parameter", "unknown", "fails") else ""
    return f"{prefix}n{node.id}{left}{text}{right}{mark}"


def _text(text: str) -> str:
    """Text of others in quotes: whatever could mean something to Mermaid or HTML is written by its number."""
    return "".join(each if each in _PLAIN else f"#{ord(each)};" for each in safe(text))


def _comment(text: str) -> str:
    return safe(text).replace("%%", "% %").replace("{", "(").replace("}", ")")
