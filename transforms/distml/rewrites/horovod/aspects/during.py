"""What runs the training, and what may run in a turn of it."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.plan import Plan
from distml.training.around import LOOPS
from distml.training.callers import upwards


def trains(statement: ast.stmt, plan: Plan) -> bool:
    """Whether a statement runs the training, in which ranks wait for each other."""
    program = plan.program
    running = upwards((step for loop in plan.loops for step in loop.steps or (loop.node,)), program)
    return any(statement in (node, *program.ancestors(node)) for node in running)


def during_training(node: ast.AST, plan: Plan) -> bool:
    """Whether a node may run in a turn of a training loop."""
    running = upwards([node], plan.program)
    loops = (above for each in running for above in plan.program.ancestors(each) if isinstance(above, LOOPS))
    return any(trains(loop, plan) for loop in loops)
