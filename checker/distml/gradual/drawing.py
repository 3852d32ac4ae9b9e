"""A model as a graph: calls and where their data comes from, folded by module, with the shapes on the edges.

An edge joins two nodes if and only if a value that came out of one went into the other, on some path. Drawn is what the result
is made of; a call whose result goes nowhere is only counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.diagnostics.model import Span
from distml.gradual.shape_names import UNKNOWN, SymbolNames, text_of
from distml.interp.operators import BINARY, COMPARE, UNARY
from distml.interp.shape_log import Place
from distml.values import InstanceRecord, Ref, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from distml.gradual.shown import Failure
    from distml.interp.flow_log import Fed, FlowCall, FlowLog, Group
    from distml.interp.machine import Machine
    from distml.shapes import Origin
    from distml.values import Value

OUTPUT = "output"
_SYMBOLS = {name: symbol for symbol, name in (*BINARY.values(), *COMPARE.values(), *UNARY.values())}


class Node(NamedTuple):
    """A call, an input, a tensor of a module that is used by itself, a value from outside, or the result.

    `name` is the layer's path in the model or the input's name, `type` what is called. `shape` is what comes out. `call` of
    `calls` says which call of a layer this is. `repeats`: in a loop whose iterations are not counted. `certain`: on every
    path. `known`: a rule tells what is done. `made` is the line where the layer was made, 0 where there is none.
    """

    id: int
    kind: str
    name: str
    type: str
    shape: str
    path: str
    line: int
    column: int
    source: str
    group: int | None
    call: int
    calls: int
    repeats: bool
    certain: bool
    known: bool
    made: int


class Edge(NamedTuple):
    """A value that came out of one node and went into another: its shape, what it is there (a position or a name), and
    whether it comes from an earlier iteration of a loop."""

    source: int
    target: int
    shape: str
    role: str
    back: bool


class Box(NamedTuple):
    """One call of a module, and where: the nodes and boxes that say so are inside of it. `made` is as for nodes."""

    id: int
    name: str
    type: str
    parent: int | None
    call: int
    calls: int
    path: str
    line: int
    column: int
    source: str
    made: int


class Drawing(NamedTuple):
    """The graph of one model or function; `lines` is the source of the file, `unused` how many calls are not drawn."""

    name: str
    path: str
    lines: tuple[str, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    boxes: tuple[Box, ...]
    unused: int
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()


class Seen(NamedTuple):
    """What was seen of one model: its calls, and what its modules, parameters and classes are called."""

    name: str
    log: FlowLog
    modules: Mapping[Value, str]
    types: Mapping[Value, str]
    tensors: Mapping[int, str]
    line: int
    places: Sequence[tuple[Place, Value]]

    def names(self) -> SymbolNames:
        """Names for the sizes, as the program names them."""
        place = Place(0, "layer", "", Span("", 0, 0, 0, 0))
        return SymbolNames({0: [*self.places, *((place, view) for view in self._views())]})

    def _views(self) -> list[Value]:
        calls = [self.log.calls[number] for number in sorted(reached(self.log))]
        found = [view for call in calls for view in call.gives.values()]
        found += [each.view for call in calls for each in call.fed]
        return [view for view in (*found, *(each.view for each in self.log.ends)) if view is not None]


def seen_in(
    vm: Machine,
    name: str,
    log: FlowLog,
    modules: Mapping[Value, str],
    line: int,
    places: Sequence[tuple[Place, Value]],
) -> Seen:
    """What was seen, with the names of tensors that modules hold, in the state of the machine."""
    refs = {group.module for call in log.calls for group in call.inside} | {call.module for call in log.calls}
    records = {ref: vm.state.get(ref.address) for ref in (*modules, *refs) if isinstance(ref, Ref)}
    types: dict[Value, str] = {}
    tensors: dict[int, str] = {}
    for ref, record in records.items():
        if not isinstance(record, InstanceRecord):
            continue
        types[ref] = getattr(record.cls, "name", "module").rpartition(".")[2]
        path = modules.get(ref)
        for own, value in record.attrs.items() if path is not None else ():
            if isinstance(value, Tensor):
                tensors.setdefault(value.ident, f"{path}.{own}" if path else own)
    return Seen(name, log, modules, types, tensors, line, places)


def reached(log: FlowLog) -> set[int]:
    """The calls that the result is made of, and the inputs that are tensors."""
    if not log.ends:
        return set(range(len(log.calls)))  # the run ended before: what was called up to there
    found = {number for number, call in enumerate(log.calls) if call.kind == "input" and call.gives[""] is not None}
    waiting = [number for each in log.ends for number, _ in each.made]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += [at for each in log.calls[number].fed for at, _ in each.made]
    return found


def drawn(seen: Seen) -> tuple[tuple[Node, ...], tuple[Edge, ...], tuple[Box, ...], int]:
    """Nodes, edges and boxes of what was seen, and the number of calls that are left out."""
    log, names = seen.log, seen.names()
    kept = sorted(reached(log))
    boxes = _boxes(seen, [log.calls[number] for number in kept])
    counts = _counts((number, log.calls[number].module) for number in kept)
    nodes = [_node(seen, number, names, boxes, counts) for number in kept]
    edges = [edge for number in kept for edge in _edges(log, number, names)]
    if log.ends:
        nodes.append(_output(seen, len(log.calls), names))
        edges += _joining(log.ends, len(log.calls), names)
    unused = sum(call.kind == "call" for call in log.calls) - sum(log.calls[number].kind == "call" for number in kept)
    return tuple(nodes), tuple(dict.fromkeys(edges)), tuple(boxes.values()), unused


def _edges(log: FlowLog, number: int, names: SymbolNames) -> Iterator[Edge]:
    yield from _joining(log.calls[number].fed, number, names)


def _joining(fed: Iterable[Fed], target: int, names: SymbolNames) -> Iterator[Edge]:
    for each in fed:
        for source, _ in sorted(each.made):
            yield Edge(source, target, _text(each.view, names), each.role, source >= target)


def _node(
    seen: Seen, number: int, names: SymbolNames, boxes: Mapping[Group, Box], counts: Mapping[int, tuple[int, int]]
) -> Node:
    call = seen.log.calls[number]
    origin = call.origin
    module = call.module
    kind, name = call.kind, call.name
    if kind in ("parameter", "tensor"):
        held = seen.tensors.get(call.ident)
        kind, name = ("value", UNKNOWN) if held is None else (kind, held)
    elif kind == "call":
        name = "" if module is None else seen.modules.get(module, "")
    within = [boxes[group].id for group in call.inside if group in boxes]
    shapes = dict.fromkeys(_text(view, names) for view in call.gives.values())
    return Node(
        number,
        kind,
        name,
        _type(call),
        ", ".join(shapes),
        origin.path,
        origin.line,
        origin.column,
        origin.text,
        within[-1] if within else None,
        *counts.get(number, (1, 1)),
        call.repeats,
        call.certain,
        call.known,
        0 if module is None else _made_at(seen, module, origin),
    )


def _made_at(seen: Seen, module: Ref, origin: Origin) -> int:
    """The line where a module was made, 0 where that is not known or in another file."""
    made = seen.log.places.get(module)
    return 0 if made is None or made.path != origin.path else made.line


def _type(call: FlowCall) -> str:
    """What is called, as a program writes it: `Linear`, `cat`, `+`."""
    if call.kind != "call" or not call.known:
        return call.name if call.kind == "call" else call.kind
    last = call.name.rpartition(".")[2] or call.name
    if last.startswith("__") and last.endswith("__"):
        bare = last.strip("_")
        found = next((_SYMBOLS[each] for each in (bare, bare[1:]) if each in _SYMBOLS), None)
        in_place = found is not None and bare not in _SYMBOLS and bare.startswith("i")
        return {"getitem": "[ ]", "setitem": "[ ] ="}.get(bare, bare) if found is None else found + "=" * in_place
    return last


def _output(seen: Seen, number: int, names: SymbolNames) -> Node:
    shapes = [_text(each.view, names) for each in seen.log.ends]
    first = next((call.origin for call in seen.log.calls if call.kind == "input"), None)
    first = first or seen.log.calls[0].origin
    return Node(
        number, OUTPUT, OUTPUT, OUTPUT, ", ".join(shapes), first.path, seen.line or first.line, 1, "", None, 1, 1,
        False, True, True, 0,
    )  # fmt: skip


def _boxes(seen: Seen, calls: Sequence[FlowCall]) -> dict[Group, Box]:
    """The calls of modules around these calls, outer ones first."""
    groups = list(dict.fromkeys(group for call in calls for group in call.inside))
    counts = _counts((group.serial, group.module) for group in groups)
    parents: dict[Group, Group | None] = {}
    for call in calls:
        for at, group in enumerate(call.inside):
            parents.setdefault(group, call.inside[at - 1] if at else None)
    numbers = {group: at for at, group in enumerate(groups)}

    def box(group: Group) -> Box:
        parent, origin = parents[group], group.origin
        return Box(
            numbers[group],
            seen.modules.get(group.module, ""),
            seen.types.get(group.module, "module"),
            None if parent is None else numbers[parent],
            *counts[group.serial],
            origin.path,
            origin.line,
            origin.column,
            origin.text,
            _made_at(seen, group.module, origin),
        )

    return {group: box(group) for group in groups}


def _counts(calls: Iterable[tuple[int, Value | None]]) -> dict[int, tuple[int, int]]:
    """For each call of a module which one it is, and of how many."""
    numbers: dict[Value, list[int]] = {}
    for number, module in calls:
        if module is not None:
            numbers.setdefault(module, []).append(number)
    return {number: (at, len(same)) for same in numbers.values() for at, number in enumerate(same, 1)}


def _text(view: Value | None, names: SymbolNames) -> str:
    return UNKNOWN if view is None else text_of(view, names)
