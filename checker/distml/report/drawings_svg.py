"""A graph as SVG, laid out by Graphviz (pygraphviz, in the extra `draw`, brings it along)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.diagnostics.printable import safe
from distml.report.drawn_text import box_title, fails_at, lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.gradual.drawing import Drawing, Node

_COLORS = {
    "input": ("#ddf4ff", "#0969da"),
    "output": ("#dafbe1", "#1a7f37"),
    "parameter": ("#fff8c5", "#9a6700"),
    "tensor": ("#fff8c5", "#9a6700"),
    "fails": ("#ffebe9", "#cf222e"),
}
_SHAPE = {"shape": "plain", "style": "", "fontsize": "9", "fontcolor": "#116329", "margin": "0.03"}
_FONT = "Helvetica,Arial,sans-serif"


class NotInstalled(Exception):
    """The library that lays out pictures is absent: one line that says how to get it."""


def as_svg(drawings: Sequence[Drawing]) -> str:
    """One picture; several graphs stand beside each other. Raises `NotInstalled` without pygraphviz."""
    try:
        from pygraphviz import AGraph
    except ImportError:
        raise NotInstalled("--format svg needs pygraphviz: pip install 'distml[draw]'") from None
    graph = AGraph(directed=True, strict=False)
    graph.graph_attr.update(
        rankdir="TB", fontname=_FONT, fontsize="11", bgcolor="white", nodesep="0.25", ranksep="0.18"
    )
    graph.node_attr.update(shape="box", style="rounded,filled", fontname=_FONT, fontsize="11", margin="0.12,0.05")
    graph.edge_attr.update(color="#57606a", arrowsize="0.7")
    for number, drawing in enumerate(drawings):
        _draw(graph, drawing, f"g{number}")
    text: bytes = graph.draw(format="svg", prog="dot")
    return text.decode()


def _draw(graph: Any, drawing: Drawing, prefix: str) -> None:
    root = graph.add_subgraph([], name=f"cluster_{prefix}", label=_label([drawing.name]), color="#d0d7de")
    made: dict[int | None, Any] = {None: root}
    for box in drawing.boxes:
        # Boxes come in the order in which they were entered, so that the one around is there.
        title = _label([box_title(box, drawing.boxes)])
        name = f"cluster_{prefix}_{box.id}"
        made[box.id] = made[box.parent].add_subgraph([], name=name, label=title, color="#8c959f", style="rounded")
    wrong = fails_at(drawing)
    parents = {box.id: box.parent for box in drawing.boxes}
    groups = {node.id: node.group for node in drawing.nodes}
    for node in drawing.nodes:
        made[node.group].add_node(
            f"{prefix}n{node.id}", label=_label(lines_of(node, drawing.boxes)), **_look(node, node.id in wrong)
        )
    for number, edge in enumerate(drawing.edges):
        label = f"{edge.shape} (next iteration)" if edge.back else edge.shape
        style = "dashed" if edge.back else "solid"
        # Labels of edges have no room in boxes, and drive edges out of them; nodes without a frame have.
        inner = made[_common(parents, groups[edge.source], groups[edge.target])]
        middle = f"{prefix}e{number}"
        inner.add_node(middle, label=_label([label]), **_SHAPE)
        inner.add_edge(f"{prefix}n{edge.source}", middle, style=style, arrowhead="none")
        inner.add_edge(middle, f"{prefix}n{edge.target}", style=style)


def _common(parents: dict[int, int | None], one: int | None, other: int | None) -> int | None:
    """The innermost box around two nodes, by the boxes that they lie in."""
    around = set()
    while one is not None:
        around.add(one)
        one = parents[one]
    while other is not None and other not in around:
        other = parents[other]
    return other


def _look(node: Node, fails: bool) -> dict[str, str]:
    kind = "fails" if fails else node.kind
    fill, line = _COLORS.get(kind, ("#ffffff", "#57606a"))
    unknown = not node.known or node.kind == "value"
    style = "rounded,filled,dashed" if unknown else "rounded,filled"
    where = f"{safe(node.path)}:{node.line}"
    return {"fillcolor": fill, "color": line, "style": style, "tooltip": _escaped(where)}


def _label(lines: Sequence[str]) -> str:
    """Lines as Graphviz reads a label: a backslash begins an escape, and text that looks like HTML is none."""
    return "\\n".join(_escaped(safe(line)) for line in lines) or " "


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
