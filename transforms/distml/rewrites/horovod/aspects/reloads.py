"""Checkpoints of TensorFlow 2 whose path is taken from the call that writes them: written by rank 0 only."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects import outputs
from distml.rewrites.horovod.aspects.during import since_training
from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.aspects.spelling import horovod_of
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.aspects.written import all_come_to
from distml.rewrites.horovod.notes import WRITTEN
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.program import Program
from distml.training.syntax import nodes_in

_CHECKPOINTS = frozenset(
    f"tensorflow.train.{name}" for name in ("Checkpoint().save", "Checkpoint().write", "CheckpointManager().save")
)
_WRITTEN = frozenset(f"tensorflow.train.CheckpointManager().{name}" for name in ("latest_checkpoint", "checkpoints"))
_SAID = Note(
    "the checkpoint of rank 0",
    "rank 0 alone writes checkpoints: the other ranks' managers know of none",
    "rank-zero-output",
)


def saved(plan: Plan) -> None:
    """Put checkpoints under rank 0 whose path is only printed, also by what calls a function; others get HVD306."""
    for unit in plan.units():
        for node in (each for each in walk(unit.tree) if isinstance(each, ast.Assign | ast.Return)):
            getting, value = plan.program.calling(plan.program.function(node)), node.value
            if value is not None and plan.program.callee(value) & _CHECKPOINTS:
                if isinstance(node, ast.Assign) and all(only_shown(target, plan.program) for target in node.targets):
                    outputs.guard(plan, node, "file")
                elif isinstance(node, ast.Return) and all(_shown(each, plan) for each in getting):
                    plan.patch(value).wrap(value, f"{{}} if {plan.world(value).first} else None", WRITTEN)
                else:
                    plan.warn(
                        "HVD306",
                        node,
                        "every rank writes this checkpoint, because the program uses the call's result",
                        "write it on rank 0 only, and do not use the path on the others",
                    )


def handed_on(plan: Plan) -> None:
    """Let rank 0 say which checkpoints there are, where the object that is asked knows of those that it has written itself."""
    uniform = Uniform(plan.program, plan.dealt)
    for node in plan.program.nodes(ast.Attribute):
        asked = isinstance(node.ctx, ast.Load) and plan.program.names(node) & _WRITTEN
        if asked and plan.may_change(node) and since_training(node, plan) and all_come_to(node, plan, uniform):
            plan.patch(node).wrap(node, f"{horovod_of(plan, node)}.broadcast_object({{}})", _SAID)


def _shown(call: ast.Call, plan: Plan) -> bool:
    """Whether what a call gives is thrown away, or only shown."""
    above = plan.program.parent(call)
    if isinstance(above, ast.Assign):
        return all(only_shown(target, plan.program) for target in above.targets)
    shows = isinstance(above, ast.Call) and outputs.kind_of(above, plan.program) is not None
    return shows or isinstance(above, ast.Expr)


def only_shown(target: ast.expr, program: Program) -> bool:
    """Whether a variable is read by nothing but output, which rank 0 alone makes then."""
    if not isinstance(target, ast.Name):
        return False
    lexical = program.unit(target).lexical
    owner = program.owner(target, writing=True)
    read = (each for each in nodes_in(owner or lexical.tree, ast.Name) if isinstance(each.ctx, ast.Load))
    return all(_put_out(each, program) for each in read if each.id == target.id)


def _put_out(use: ast.Name, program: Program) -> bool:
    statement = program.statement(use)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or outputs.kind_of(call, program) is None:
        return False
    return all(reads_only(each, program) for each in (*call.args, *call.keywords))
