"""What stands in the nodes and boxes of a graph, whatever its form."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.gradual.drawing import Box, Drawing, Node


def lines_of(node: Node, boxes: Sequence[Box]) -> list[str]:
    """The name, what is called, and where: two lines, or three where something is to be said of it."""
    if node.kind in ("input", "output"):
        return [node.name, node.shape]
    if node.kind in ("parameter", "tensor"):
        return [node.name, node.kind]
    if node.kind == "value":
        return ["not followed", f"line {node.line}"]
    name = below(node.name, node.group, boxes)
    first = f"{name}: {node.type}" if name else node.type
    made = f", made at {node.made}" if node.made not in (0, node.line) else ""
    return [first, *remarks(node), f"line {node.line}{made}"]


def remarks(node: Node) -> list[str]:
    """What is special about a call: shared, repeated, perhaps not made, or unknown."""
    found = [f"call {node.call} of {node.calls}"] if node.calls > 1 else []
    found += ["in a loop"] if node.repeats else [] if node.certain else ["on some paths"]
    found += [] if node.known else ["unknown"]
    return [", ".join(found)] if found else []


def box_title(box: Box, boxes: Sequence[Box]) -> str:
    """The name of a module below the one around it, its class, and which call it is."""
    name = below(box.name, box.parent, boxes)
    count = f", call {box.call} of {box.calls}" if box.calls > 1 else ""
    return f"{name}: {box.type}{count}" if name else f"{box.type}{count}"


def below(name: str, group: int | None, boxes: Sequence[Box]) -> str:
    """A module's name as it is called in the one around it."""
    around = next((each.name for each in boxes if each.id == group), "")
    return name.removeprefix(f"{around}.") if around else name


def fails_at(drawing: Drawing) -> frozenset[int]:
    """The nodes on lines that must fail."""
    lines = {each.line for each in drawing.failures}
    return frozenset(node.id for node in drawing.nodes if node.line in lines and node.path == drawing.path)
