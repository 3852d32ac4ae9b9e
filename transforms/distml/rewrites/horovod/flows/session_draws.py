"""Calls that draw a batch: each time another one, from a data set with a position or from random numbers."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from distml.rewrites.horovod.flows.session_frames import Reach, inside, reached
from distml.rewrites.horovod.flows.session_graph import Graph
from distml.training.callsites import argument, called
from distml.training.program import Program
from distml.training.values import Callable, Foreign, Instance

RANDOM = re.compile(
    r"(numpy\.)?random\.(\w+|RandomState\(\)\.\w+|Random\(\)\.\w+|default_rng\(\)\.\w+)|sklearn\.utils\.shuffle"
)
_NAMED = re.compile(r"next|batch|sample|draw|fetch|load|feed|generate|random|get_", re.IGNORECASE)
_PURE = re.compile(r"(numpy|builtins|math|itertools|tensorflow|pandas|scipy|sklearn|string|re|os|time|cv2|PIL)(\..*)?")
_FEEDS = re.compile(r"_?(make|build|construct|create|get)_feed(_?dict)?")
"""Functions that only put arrays together with placeholders, as far as their name goes."""

_TAKES = re.compile(r"\.(get_next|dequeue\w*|(shuffle_)?batch(_join)?)$")
_DEEPEST = 3


class Draw(NamedTuple):
    """A call that draws; `counts` where it moves a position and not only a generator of random numbers."""

    call: ast.Call
    counts: bool


def draws(reach: Reach, scope: ast.AST, graph: Graph) -> list[Draw]:
    """The calls inside a loop or function that draw what is fed, those left out that only serve others."""
    within = set(inside(scope))
    calls = [n for part in reach.parts for n in ast.walk(part) if isinstance(n, ast.Call) and n in within]
    found = [draw for call in dict.fromkeys(calls) if (draw := _drawing(call, graph)) is not None]
    return [draw for draw in found if not any(_serves(draw.call, other.call, scope) for other in found)]


def _drawing(call: ast.Call, graph: Graph) -> Draw | None:
    """A call that draws; a session does where it computes a batch of a pipeline."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("run", "eval"):
        computed = argument(call, 0, "fetches") if call.func.attr == "run" else call.func.value
        sources = graph.program.sources(computed) if computed is not None else set()
        takes = any(isinstance(each, ast.Call) and _TAKES.search(ast.unparse(each.func)) for each in sources)
        return Draw(call, True) if takes and computed is not None and not graph.trains(computed) else None
    return _draw(call, graph.program)


def _serves(call: ast.Call, other: ast.Call, scope: ast.AST) -> bool:
    """Whether one call only computes what another is given."""
    if call is other:
        return False
    given = [*other.args, *(keyword.value for keyword in other.keywords)]
    return any(call is node for part in reached(given, scope).parts for node in ast.walk(part))


def _draw(call: ast.Call, program: Program) -> Draw | None:
    names = program.names(call.func)
    if any(RANDOM.fullmatch(name) for name in names):
        return Draw(call, False)
    if "builtins.next" in names:
        return Draw(call, True)
    own = [value for value in program.of(call.func) if isinstance(value, Callable)]
    if own:
        kinds = [_state(value, program, _DEEPEST) for value in own]
        found = [kind for kind in kinds if kind is not None]
        return Draw(call, any(found)) if found else None
    if names and all(_PURE.fullmatch(name) and "()" not in name for name in names):
        return None
    text = called(call)
    arrays = any(isinstance(v, Foreign) and v.name.startswith("numpy.") for v in program.of(call.func))
    return Draw(call, True) if _NAMED.search(text) and not _FEEDS.fullmatch(text) and not arrays else None


def _state(function: Callable, program: Program, depth: int) -> bool | None:
    """Whether a function moves a position (True), only draws random numbers (False), or gives the same each time (None)."""
    found: bool | None = None
    for node in ast.walk(function.node):
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
    draw = _draw(call, program)
    return None if draw is None else draw.counts


def _changes(node: ast.AST, program: Program) -> bool:
    """Whether a statement changes an attribute of an object of the program."""
    if not isinstance(node, ast.Assign | ast.AugAssign):
        return False
    changed = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(
        isinstance(each, ast.Attribute) and any(isinstance(v, Instance) for v in program.of(each.value))
        for target in changed
        for each in ast.walk(target)
    )
