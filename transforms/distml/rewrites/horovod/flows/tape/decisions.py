"""Decisions that end training or change its rate, made for all ranks alike.

Each rank sees the loss of its own batches. If each decides by that, one leaves the loop while the others wait for it. What one
of them must leave, all leave, so that none goes past the end of its own game; what is no end is decided by rank 0.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.tape.broadcast import is_traced
from distml.rewrites.horovod.flows.tape.turns import Turn, ways
from distml.rewrites.horovod.flows.tape.updates import Update
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import between, ends_process, loops_around
from distml.training.program import Program
from distml.training.syntax import nodes_in

_NOTE = Note(
    "decided on rank 0 for all ranks",
    "each rank sees the loss of its own batches; a rank that leaves the loop alone deadlocks the others",
    "same-decisions",
)
_TOGETHER = Note(
    "left by all ranks when one leaves",
    "each rank sees the loss of its own batches; a rank that leaves the loop alone deadlocks the others",
    "leave-together",
)


def agree(plan: Plan, group: list[Update]) -> None:
    """Let rank 0 decide where the loops around these updates end by what a rank sees."""
    seen: set[ast.AST] = set()
    uniform = Uniform(plan.program, plan.dealt)
    for update in group:
        for way in ways(update.call, plan.program):
            for turn in way.turns:
                if turn.node not in seen:
                    seen.add(turn.node)
                    _loop(plan, turn, uniform)
            for function in way.functions if way.turns else ():
                if function not in seen:
                    seen.add(function)
                    _step(plan, function, uniform)


def _loop(plan: Plan, turn: Turn, uniform: Uniform) -> None:
    node = turn.node
    if not isinstance(node, ast.For | ast.While) or is_traced(plan.program, plan.program.function(node)):
        return
    if isinstance(node, ast.While) and not uniform.holds(node.test):
        _end(plan, node.test, going=True)
    for inner in nodes_in(node, ast.If):
        if _leaves(inner, node, plan.program) and not uniform.holds(inner.test):
            if any(_leaves_directly(each, plan.program) for each in inner.body):
                _end(plan, inner.test, going=False)
            else:
                _decide(plan, inner.test)


def _step(plan: Plan, function: ast.AST, uniform: Uniform) -> None:
    """Let all ranks end together where a function that the loop calls for its step ends the process."""
    for inner in () if is_traced(plan.program, function) else nodes_in(function, ast.If):
        ends = any(ends_process(each, plan.program) for each in inner.body)
        if ends and not any(loops_around(inner, plan.program)) and not uniform.holds(inner.test):
            _end(plan, inner.test, going=False)


def _end(plan: Plan, test: ast.expr, *, going: bool) -> None:
    """All ranks go on while all of them would, or leave when one would."""
    every = "all" if going else "any"
    code = f"{every}({plan.world(test).module}.allgather_object(bool({{}})))"
    plan.patch(test).wrap(test, code, _TOGETHER)


def _leaves_directly(node: ast.stmt, program: Program) -> bool:
    """Whether a statement leaves, whatever else is decided."""
    return ends_process(node, program) or isinstance(node, ast.Break | ast.Return)


def _decide(plan: Plan, test: ast.expr) -> None:
    plan.patch(test).wrap(test, plan.world(test).module + ".broadcast_object(bool({}))", _NOTE)


def _leaves(test: ast.If, loop: ast.AST, program: Program) -> bool:
    """Whether a branch leaves the loop, or sets the rate of an optimizer."""
    for node in walk(test):
        if isinstance(node, ast.Break):
            return not any(isinstance(each, ast.For | ast.While) for each in between(node, test, program))
        if isinstance(node, ast.Return):
            return program.function(node) is program.function(loop)
        if ends_process(node, program):
            return True
        if isinstance(node, ast.Assign) and any(_is_rate(target) for target in node.targets):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "assign":
            if _is_rate(node.func.value):
                return True
    return False


def _is_rate(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and target.attr in ("lr", "learning_rate")
