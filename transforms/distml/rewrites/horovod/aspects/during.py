"""What runs the training, and what may run in a turn of it."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.plan import Plan
from distml.training.around import LOOPS
from distml.training.callers import callers


def trains(statement: ast.stmt, plan: Plan) -> bool:
    """Whether a statement runs the training, in which ranks wait for each other."""
    program = plan.program
    waiting: list[ast.AST] = [loop.node for loop in plan.loops]
    seen: set[ast.AST] = set()
    while waiting:
        node = waiting.pop()
        if statement in (node, *program.ancestors(node)):
            return True
        function = program.function(node)
        if function is not None and function not in seen:
            seen.add(function)
            waiting += callers(program).get(function, ())
    return False


def during_training(node: ast.AST, plan: Plan, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether a node may run in a turn of a training loop."""
    above = plan.program.ancestors(node)
    if any(isinstance(each, LOOPS) and trains(each, plan) for each in above):
        return True
    function = plan.program.function(node)
    calls = callers(plan.program).get(function, ()) if function is not None and function not in seen else ()
    return any(during_training(call, plan, seen | {function}) for call in calls if function is not None)
