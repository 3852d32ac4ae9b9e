"""Calls that draw a batch: each time another one, from a data set with a position or from random numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from distml.rewrites.horovod.flows.session_frames import Reach, reached, runs_session, targets
from distml.rewrites.horovod.flows.session_graph import Graph, gives_count
from distml.source.nodes import walk
from distml.training.around import own_nodes
from distml.training.callsites import argument, called
from distml.training.program import Program
from distml.training.syntax import nodes_in, targets_of, values_given
from distml.training.values import BoxMethod, Callable, Foreign, Instance

RANDOM = re.compile(
    r"(numpy\.)?random\.(\w+|RandomState\(\)\.\w+|Random\(\)\.\w+|default_rng\(\)\.\w+)|sklearn\.utils\.shuffle"
)
_NAMED = re.compile(r"next|batch|sample|draw|fetch|load|feed|generate|random|get_", re.IGNORECASE)
_PURE = re.compile(r"(numpy|builtins|math|itertools|tensorflow|pandas|scipy|sklearn|string|re|os|time|cv2|PIL)(\..*)?")
_LEARNS = re.compile(r"tensorflow\.(Variable|get_variable|layers\.|nn\.|contrib\.(layers|slim)\.)")
"""What makes weights: with them it is a model that gives a batch, and not the data."""

_TAKES = re.compile(r"get_next|dequeue\w*|(shuffle_)?batch(_join)?")
_NEXT = frozenset({"next", "__next__"})
_DEEPEST = 3


class Draw(NamedTuple):
    """A call that draws; `counts` where it moves a position and not only a generator of random numbers."""

    call: ast.Call
    counts: bool


def draws(reach: Reach, scope: ast.AST, graph: Graph) -> list[Draw]:
    """The calls inside a loop or function that draw what is fed, those left out that only serve others."""
    within = set(own_nodes(scope))
    calls = [n for part in reach.parts for n in nodes_in(part, ast.Call) if n in within]
    changing = _changing(scope)
    found = [draw for call in dict.fromkeys(calls) if (draw := _drawing(call, graph, scope, changing)) is not None]
    return [draw for draw in found if not any(_serves(draw.call, other.call, scope) for other in found)]


def _drawing(call: ast.Call, graph: Graph, scope: ast.AST, changing: set[str]) -> Draw | None:
    """A call that draws; a session does where it computes a batch of a pipeline.

    None where it is given what changes from turn to turn, and its name only says that it gets something, or it does no more
    than change that at random; none either where it is given what the graph has computed.
    """
    if runs_session(call):
        return Draw(call, True) if takes(call, graph) else None
    given = reached(values_given(call), scope)
    if any(fed_back(part, graph) for part in given.parts):
        return None
    drawn = draw_of(call, graph.program)
    if drawn is not None and not drawn.counts and given.names & changing:
        return None
    known = drawn is None or bool(graph.program.functions(call.func)) or not drawn.counts
    return drawn if known or not given.names & changing else None


def takes(call: ast.Call, graph: Graph) -> bool:
    """Whether a session computes a batch of a pipeline here, and takes no step with it."""
    assert isinstance(call.func, ast.Attribute)
    computed = argument(call, 0, "fetches") if call.func.attr == "run" else call.func.value
    if computed is None or graph.trains(computed):
        return False
    calls = [each for each in graph.program.sources(computed) if isinstance(each, ast.Call)]
    learned = any(_LEARNS.match(name) for each in calls for name in graph.program.names(each.func))
    return not learned and any(_TAKES.fullmatch(called(each, graph.program)) for each in calls)


def fed_back(part: ast.expr, graph: Graph) -> bool:
    """Whether an expression holds what the graph has computed from other data, and not how many steps it has taken."""
    runs = (each for each in nodes_in(part, ast.Call) if runs_session(each))
    return any(not takes(each, graph) and not gives_count(each, graph.program) for each in runs)


def _changing(scope: ast.AST) -> set[str]:
    """The variables that are others in each turn of a loop and of those in it: what it goes through, and counters."""
    found = targets(scope.target) if isinstance(scope, ast.For) else set()
    for node in own_nodes(scope):
        if isinstance(node, ast.For | ast.comprehension | ast.AugAssign):
            found |= targets(node.target)
    return found


def _serves(call: ast.Call, other: ast.Call, scope: ast.AST) -> bool:
    """Whether one call only computes what another is given."""
    if call is other:
        return False
    given = values_given(other)
    return any(call is node for part in reached(given, scope).parts for node in walk(part))


def draw_of(call: ast.Call, program: Program) -> Draw | None:
    """What a call draws: by what the library does, else by what the functions of the program do that it runs."""
    names = program.names(call.func)
    if any(RANDOM.fullmatch(name) for name in names):
        return Draw(call, False)
    if "builtins.next" in names or any(isinstance(v, BoxMethod) and v.name in _NEXT for v in program.of(call.func)):
        return Draw(call, True)
    own = [value for value in program.of(call.func) if isinstance(value, Callable)]
    if own:
        kinds = [_state(value, program, _DEEPEST) for value in own]
        found = [kind for kind in kinds if kind is not None]
        return Draw(call, any(found)) if found else None
    if names and all(_PURE.fullmatch(name) and "()" not in name for name in names):
        return None
    text = called(call, program)
    arrays = any(isinstance(v, Foreign) and v.name.startswith("numpy.") for v in program.of(call.func))
    return Draw(call, True) if _NAMED.search(text) and not arrays else None


def _state(function: Callable, program: Program, depth: int) -> bool | None:
    """Whether a function moves a position (True), only draws random numbers (False), or gives the same each time (None)."""
    found: bool | None = None
    for node in walk(function.node):
        if isinstance(node, ast.Global | ast.Nonlocal) or _changes(node, program):
            return True
        if isinstance(node, ast.Call):
            inner = _inner(node, program, depth)
            if inner:
                return True
            found = inner if inner is not None else found
    return found


def _inner(call: ast.Call, program: Program, depth: int) -> bool | None:
    own = [value for value in program.of(call.func) if isinstance(value, Callable)]
    if own:
        kinds = [_state(value, program, depth - 1) for value in own] if depth else [True]
        return True if any(kinds) else False if False in kinds else None
    draw = draw_of(call, program)
    return None if draw is None else draw.counts


def _changes(node: ast.AST, program: Program) -> bool:
    """Whether a statement changes an attribute of an object of the program."""
    if not isinstance(node, ast.Assign | ast.AugAssign):
        return False
    places = (each for target in targets_of(node) for each in _places(target) if isinstance(each, ast.Attribute))
    return any(isinstance(v, Instance) for place in places for v in program.of(place.value))


def _places(target: ast.expr) -> Iterator[ast.expr]:
    """What assigning to `target` changes: not what an index only reads."""
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _places(each)
        return
    yield target
    if isinstance(target, ast.Subscript | ast.Starred | ast.Attribute):
        yield from _places(target.value)
