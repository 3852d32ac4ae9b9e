"""Graphs as one HTML page that needs nothing else: modules fold, nodes link to the lines of the source beside them.

Without its script the page still says everything: each node lists what goes into it. The script draws these edges, and draws
them anew where a module is folded. Everything of the source is escaped, and a browser may run this script and load nothing.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from distml.report.drawn_text import below, box_title, fails_at, remarks
from distml.report.page import END, as_text, head, notes
from distml.report.shapes import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from distml.gradual.drawing import Box, Drawing, Edge, Node

_STYLE = """\
:root { color-scheme: light dark; --quiet: #57606a; --shape: #116329; --line: #8884; --wrong: #b3261e }
:root { --card: #f6f8fa; --in: #0969da }
@media (prefers-color-scheme: dark) {
  :root { --quiet: #9198a1; --shape: #7ee787; --wrong: #ff8a80; --card: #161b22; --in: #4493f8 }
}
body { font: 14px/1.45 system-ui, sans-serif; margin: 1rem auto; max-width: 110rem; padding: 0 1rem }
main { display: grid; grid-template-columns: minmax(22rem, 1fr) minmax(20rem, 1fr); gap: 2rem; align-items: start }
.graph { position: relative; padding-left: 7rem }
.graph > svg { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; overflow: visible }
.graph path { fill: none; stroke: var(--quiet); stroke-width: 1.2; opacity: .65 }
.graph path.back { stroke-dasharray: 4 3 }
.graph path.on { stroke: var(--in); stroke-width: 2.2; opacity: 1 }
.node, summary { background: var(--card); border: 1px solid var(--line); border-radius: 6px }
.node, summary { margin: .35rem 0; padding: .25rem .6rem }
details { border-left: 2px solid var(--line); margin: .35rem 0; padding-left: .7rem }
details > summary { cursor: pointer; font-weight: 600; margin-left: -.7rem }
.node:target, tr:target { outline: 2px solid var(--in) }
.input, .output { border-color: var(--in) }
.unknown { border-style: dashed }
.wrong { border-color: var(--wrong) }
.shape { color: var(--shape); font-family: ui-monospace, monospace; font-size: 12px }
.where, .from { color: var(--quiet); font-size: 12px }
.from { list-style: none; margin: 0; padding: 0 }
a { color: inherit }
.source { font: 12px/1.5 ui-monospace, monospace; max-height: 95vh; overflow: auto; position: sticky; top: .5rem }
.source table { border-collapse: collapse }
.source td { padding: 0 .6rem; white-space: pre }
.source td:first-child { color: var(--quiet); text-align: right; user-select: none }
.fails { color: var(--wrong); font-weight: 600 }
.notes { color: var(--quiet) }
@media (max-width: 52rem) {
  main { grid-template-columns: minmax(0, 1fr) }
  .graph { padding-left: 3.5rem; overflow-wrap: anywhere }
  .source { position: static; max-height: none }
}
"""
_SCRIPT = """\
"use strict";
const graphs = [...document.querySelectorAll(".graph")];
function shown(element) {
  let found = element;
  for (let up = element.parentElement; up; up = up.parentElement)
    if (up.tagName === "DETAILS" && !up.open) found = up.querySelector("summary");
  return found;
}
function draw(graph) {
  const svg = graph.querySelector("svg"), top = graph.getBoundingClientRect(), seen = new Set();
  svg.replaceChildren();
  for (const link of graph.querySelectorAll("a[data-from]")) {
    const from = shown(document.getElementById(link.dataset.from)), to = shown(link.closest(".node"));
    if (from === to) continue;
    const a = from.getBoundingClientRect(), b = to.getBoundingClientRect(), back = link.dataset.back === "1";
    const y1 = a.top + a.height * .6 - top.top, y2 = b.top + b.height * .4 - top.top;
    const x1 = a.left - top.left, x2 = b.left - top.left;
    const key = [y1, y2, back].join();
    if (seen.has(key)) continue;
    seen.add(key);
    const wide = Math.min(Math.min(x1, x2) - 4, 10 + Math.abs(y2 - y1) * .18), left = Math.min(x1, x2) - wide;
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${x1},${y1} C${left},${y1} ${left},${y2} ${x2 - 5},${y2} l-4,-3 m4,3 l-4,3`);
    path.classList.toggle("back", back);
    path.ends = [from, to];
    svg.append(path);
  }
}
function light(event) {
  const near = event.target.closest ? event.target.closest(".node, summary") : null;
  for (const path of document.querySelectorAll(".graph path")) path.classList.toggle("on", path.ends.includes(near));
}
const every = () => graphs.forEach(draw);
document.addEventListener("toggle", every, true);
for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, light);
addEventListener("resize", every);
for (const button of document.querySelectorAll("button[data-open]"))
  button.addEventListener("click", () => {
    for (const box of document.querySelectorAll("details")) box.open = button.dataset.open === "1";
  });
every();
"""
_BUTTONS = """\
<p><button data-open="1">Unfold all modules</button> <button data-open="0">Fold all</button></p>
<main>
<div>
"""


def as_html(drawings: Sequence[Drawing]) -> str:
    """The whole page."""
    key = b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    parts = [head(", ".join(each.name for each in drawings), _STYLE, key), _BUTTONS]
    for number, drawing in enumerate(drawings):
        parts += _graph(drawing, f"g{number}", len(drawings) > 1)
    first = drawings[0]
    parts += [f'<p class="fails">line {each.line}: {as_text(each.message)}</p>\n' for each in first.failures]
    parts += notes(dict.fromkeys(note for each in drawings for note in each.notes))
    parts += ["</div>\n", *_source(first), "</main>\n"]
    return "".join([*parts, f"<script>{_SCRIPT}</script>\n", END])


def _graph(drawing: Drawing, prefix: str, titled: bool) -> Iterator[str]:
    if titled:
        yield f"<h2>{as_text(drawing.name)}</h2>\n"
    yield '<div class="graph"><svg aria-hidden="true"></svg>\n'
    incoming: dict[int, list[Edge]] = {}
    for edge in drawing.edges:
        incoming.setdefault(edge.target, []).append(edge)
    nodes = {node.id: node for node in drawing.nodes}
    boxes = {box.id: box for box in drawing.boxes}
    wrong = fails_at(drawing)
    opened: list[int] = []
    for node in drawing.nodes:
        around = _around(boxes, node.group)
        while opened != around[: len(opened)]:
            opened.pop()
            yield "</details>\n"
        for box in around[len(opened) :]:
            opened.append(box)
            title = as_text(box_title(boxes[box], drawing.boxes))
            yield f"<details open><summary>{title}</summary>\n"
        yield _node(drawing, node, prefix, incoming.get(node.id, []), nodes, node.id in wrong)
    yield "</details>\n" * len(opened)
    yield "</div>\n"


def _around(boxes: dict[int, Box], group: int | None) -> list[int]:
    """The boxes around a node, outer ones first."""
    found: list[int] = []
    while group is not None:
        found.insert(0, group)
        group = boxes[group].parent
    return found


def _node(drawing: Drawing, node: Node, prefix: str, edges: Sequence[Edge], nodes: dict[int, Node], wrong: bool) -> str:
    kind = " unknown" if not node.known or node.kind == "value" else ""
    title = as_text(_title(drawing, node))
    remark = "".join(f' <span class="where">{as_text(each)}</span>' for each in remarks(node))
    found = [
        f'<div class="node {node.kind}{kind}{" wrong" * wrong}" id="{prefix}n{node.id}">',
        f'<b>{title}</b> <span class="shape">{as_text(node.shape)}</span>{remark} {_where(drawing, node)}',
    ]
    if edges:
        found += ['<ul class="from">', *(_from(drawing, edge, nodes, prefix) for edge in edges), "</ul>"]
    return "".join([*found, "</div>\n"])


def _from(drawing: Drawing, edge: Edge, nodes: dict[int, Node], prefix: str) -> str:
    source = f"{prefix}n{edge.source}"
    again = " of the iteration before" if edge.back else ""
    title = as_text(_title(drawing, nodes[edge.source]))
    link = f'<a href="#{source}" data-from="{source}" data-back="{int(edge.back)}">{title}</a>'
    return f'<li>from {link}{again} <span class="shape">{as_text(edge.shape)}</span></li>'


def _title(drawing: Drawing, node: Node) -> str:
    if node.kind in ("input", "parameter", "tensor", "output"):
        return node.name if node.kind == "output" else f"{node.kind} {node.name}"
    if node.kind == "value":
        return "not followed"
    name = below(node.name, node.group, drawing.boxes)
    return f"{name}: {node.type}" if name else node.type


def _where(drawing: Drawing, node: Node) -> str:
    if node.kind in ("output", "parameter", "tensor", "value"):
        return ""
    lines = [("line", node.line), *([("made at", node.made)] if node.made not in (0, node.line) else [])]
    if node.path != drawing.path:
        return f'<span class="where">{as_text(node.path)}:{node.line}</span>'
    links = " ".join(f'{word} <a href="#L{line}">{line}</a>' for word, line in lines)
    return f'<span class="where">{links}</span>'


def _source(drawing: Drawing) -> Iterator[str]:
    yield '<div class="source"><table>\n'
    lines = drawing.lines[:-1] if drawing.lines[-1:] == ("",) else drawing.lines  # behind the last line feed
    for number, line in enumerate(lines, 1):
        yield f'<tr id="L{number}"><td>{number}</td><td>{escape(show(line))}</td></tr>\n'
    yield "</table></div>\n"
