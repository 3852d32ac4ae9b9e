"""Where all ranks can wait for what rank 0 has written, and how.

What another rank may look for before it is there is found where the result is followed (`certify`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.downloads import wait_in_session
from distml.rewrites.horovod.aspects.during import trains
from distml.rewrites.horovod.aspects.outputs import on_each_machine
from distml.rewrites.horovod.aspects.spelling import tensorflow_at
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.around import block_of
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.values import Callable

_CALLS = 4
"""So many calls are followed back."""
_BRANCHES = (ast.If, ast.While, ast.Try)
_APART = (ast.Try, ast.Lambda, ast.IfExp, ast.comprehension, ast.AsyncFunctionDef, ast.ClassDef)
"""Whose parts may be come to by some ranks only, or at other times."""
_STARTS = frozenset({"absl.app.run", "tensorflow.app.run", "fire.Fire", "typer.run"})
"""What runs a function that it is given once, with options of the command line."""
_WAITS = {"tensorflow": "broadcast_object(None)", "keras": 'allreduce(0, name="written")'}
"""How all ranks wait for each other where no session is needed for it."""
_IN_SESSION = ".broadcast_object(None, session="
"""How they have been made to wait within a session already."""


def _start(plan: Plan) -> str | None:
    """What all wait with: TensorFlow's module where its loops stand beside those of Keras; None for other mixtures."""
    starts = {loop.start for loop in plan.loops}
    return "tensorflow" if starts == {"tensorflow", "keras"} else starts.pop() if len(starts) == 1 else None


def _all_call(function: ast.FunctionDef, plan: Plan, uniform: Uniform, depth: int = _CALLS) -> bool:
    """Whether all ranks call a function, equally often."""
    calls = plan.program.calling(function) or [*_starting(function, plan.program)] if depth else []
    return bool(calls) and all(all_come_to(call, plan, uniform, depth - 1) for call in calls)


def _starting(function: ast.FunctionDef, program: Program) -> Iterator[ast.Call]:
    """The calls by which a library runs a function as the program; TensorFlow looks for `main` where it is given none."""
    named = function.name == "main" and program.function(function) is None
    for call in program.calls_of(*_STARTS):
        given = argument(call, 0, "main")
        values = program.of(given) if given is not None else ()
        if any(isinstance(each, Callable) and each.node is function for each in values) or (given is None and named):
            yield call


def all_come_to(node: ast.AST, plan: Plan, uniform: Uniform, depth: int = _CALLS) -> bool:
    """Whether all ranks come to a node, equally often: under conditions that are the same everywhere, or beside what trains in
    its own function, and not in a worker.
    """
    if _first_only(plan.program.statement(node), plan) or on_each_machine(node, plan):
        return False
    for below, above in plan.program.around(node):
        if isinstance(above, ast.FunctionDef):
            return _all_call(above, plan, uniform, depth)
        asked = _conditions(below, above)
        beside = depth == _CALLS and isinstance(above, _BRANCHES) and _comes_with_training(below, plan)
        if not beside and (asked is None or not all(map(uniform.holds, asked))):
            return False
    return True


def _conditions(node: ast.AST, within: ast.AST) -> list[ast.expr] | None:
    """What decides whether who comes to something comes to a part of it; None where that cannot be told."""
    if isinstance(within, ast.BoolOp):
        return within.values[: [*map(id, within.values)].index(id(node))]
    if isinstance(within, ast.If | ast.While):
        return [] if isinstance(within, ast.If) and node is within.test else [within.test]
    first = isinstance(within, ast.Try) and node is within.body[0]
    return None if isinstance(within, _APART) and not first else []


def _comes_with_training(node: ast.AST, plan: Plan) -> bool:
    """Whether a statement stands beside one that trains, which all ranks come to."""
    return isinstance(node, ast.stmt) and any(trains(each, plan) for each in block_of(node, plan.program))


def waiting(statement: ast.stmt, plan: Plan) -> str | None:
    """How all ranks wait for each other in front of a statement; None where its module has no TensorFlow to do it with."""
    start = _start(plan)
    if start == "session":
        asked = plan.patch(statement).requests.statements
        waits = any(_IN_SESSION in code for each in walk(statement) if each in asked for code in asked[each].before)
        if waits:
            return None
        return wait_in_session(statement, plan) if tensorflow_at(statement, plan.program) is not None else None
    world = plan.world(statement)
    return f"{world.module}.{_WAITS[start]}" if start in _WAITS else world.barrier


def _first_only(statement: ast.stmt, plan: Plan) -> bool:
    """Whether a statement is put under rank 0, or one around it."""
    location = plan.program.unit(statement).source.location
    if location not in plan.patches:
        return False
    asked = plan.patches[location].requests.statements
    around = (statement, *(each for each in plan.program.ancestors(statement) if isinstance(each, ast.stmt)))
    return any(each in asked and asked[each].guard is not None for each in around)
