"""Folding a graph: modules deeper than asked become one node each, and the edges between them those of what is inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.gradual.drawing import Node

if TYPE_CHECKING:
    from distml.gradual.drawing import Box, Drawing


def folded(drawing: Drawing, depth: int) -> Drawing:
    """The graph with `depth` levels of boxes open; every box below is a node."""
    boxes = {box.id: box for box in drawing.boxes}
    lowest = max((node.id for node in drawing.nodes), default=0) + 1
    home: dict[int, int] = {}
    inside: dict[int, list[Node]] = {}
    for node in drawing.nodes:
        chain = _around(boxes, node.group)
        if len(chain) > depth:
            home[node.id] = lowest + chain[depth].id
            inside.setdefault(chain[depth].id, []).append(node)
    nodes: dict[int, Node] = {}
    for node in drawing.nodes:
        number = home.get(node.id)
        if number is None:
            nodes[node.id] = node
        elif number not in nodes:
            box = boxes[number - lowest]
            nodes[number] = _closed(number, box, inside[box.id], drawing)
    edges = dict.fromkeys(
        edge._replace(source=home.get(edge.source, edge.source), target=home.get(edge.target, edge.target))
        for edge in drawing.edges
        if home.get(edge.source) is None or home.get(edge.source) != home.get(edge.target)
    )
    left = tuple(box for box in drawing.boxes if len(_around(boxes, box.id)) <= depth)
    return drawing._replace(nodes=tuple(nodes.values()), edges=tuple(edges), boxes=left)


def _around(boxes: dict[int, Box], group: int | None) -> list[Box]:
    """The boxes around something, outer ones first."""
    found: list[Box] = []
    while group is not None:
        found.insert(0, boxes[group])
        group = boxes[group].parent
    return found


def _closed(number: int, box: Box, nodes: list[Node], drawing: Drawing) -> Node:
    """A folded box: what comes out of it is what goes from its nodes to others."""
    own = {node.id for node in nodes}
    shapes = dict.fromkeys(edge.shape for edge in drawing.edges if edge.source in own and edge.target not in own)
    return Node(
        number,
        "module",
        box.name,
        box.type,
        ", ".join(shapes),
        box.path,
        box.line,
        box.column,
        box.source,
        box.parent,
        box.call,
        box.calls,
        all(node.repeats for node in nodes),
        any(node.certain for node in nodes),
        all(node.known for node in nodes),
        box.made,
    )
