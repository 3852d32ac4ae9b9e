"""What runs the training, what may run in an iteration of it, and what runs behind it."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import SCOPES
from distml.training.around import LOOPS, block_of, own_nodes
from distml.training.callers import leading_to, upwards
from distml.training.callsites import iterated
from distml.training.program import Program
from distml.training.remembered import remembered

_BATCHES = re.compile(r"torch\.(\w+\.)*DataLoader\(\)")


def trains(statement: ast.stmt, plan: Plan) -> bool:
    """Whether a statement runs the training, in which ranks wait for each other."""
    steps = tuple(step for loop in plan.loops for step in loop.steps or _run_in(loop.node))
    return statement in _around(steps, plan.program)


@remembered
def _around(steps: tuple[ast.AST, ...], program: Program) -> frozenset[ast.AST]:
    """The code that comes to some steps, by calls too, and what stands around it."""
    return frozenset(each for node in upwards(steps, program) for each in (node, *program.ancestors(node)))


def _run_in(node: ast.AST) -> list[ast.AST]:
    """What runs where a loop, or a function that takes one step, is run."""
    return [*node.body] if isinstance(node, ast.FunctionDef) else [node]


def during_training(node: ast.AST, plan: Plan) -> bool:
    """Whether a node may run in a turn of a training loop."""
    running = upwards([node], plan.program)
    loops = (above for each in running for above in plan.program.ancestors(each) if isinstance(above, LOOPS))
    return any(trains(loop, plan) for loop in loops)


def since_training(node: ast.AST, plan: Plan) -> bool:
    """Whether a node may run in an iteration of a training loop, or runs behind training only."""
    return during_training(node, plan) or _behind(node, plan, frozenset())


def _behind(node: ast.AST, plan: Plan, seen: frozenset[ast.AST]) -> bool:
    """Whether a statement that trains stands in front of a node, or of each call that leads to it."""
    program = plan.program
    for above in (node, *program.ancestors(node)):
        if isinstance(above, SCOPES):
            break
        if isinstance(above, ast.stmt):
            block = block_of(above, program)
            if any(trains(each, plan) for each in block[: block.index(above)] if not isinstance(each, SCOPES)):
                return True
    function = program.function(node)
    calls = leading_to(function, program) if function not in seen else []
    return bool(calls) and all(_behind(call, plan, seen | {function}) for call in calls if function is not None)


def passes_over(function: ast.AST | None, program: Program) -> bool:
    """Whether a function goes through the batches of a loader, which ranks may have to do together."""
    loops = own_nodes(function, ast.For) if function is not None else ()
    return any(program.matches(iterated(each.iter, program), _BATCHES) for each in loops)
