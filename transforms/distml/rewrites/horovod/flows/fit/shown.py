"""Statements that print what a trained model gives, put under rank 0 together with the model's work.

Elsewhere a statement that does more than read stays on all ranks. `predict` and `evaluate` on arrays communicate nothing
and draw nothing, so that behind all training nobody misses them on the other ranks.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects import outputs
from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.flows.fit.kinds import kind_of
from distml.rewrites.horovod.flows.fit.models import TRAINING, Given, calls, own_method
from distml.rewrites.horovod.plan import Plan
from distml.training.around import owner_of, turns_around
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import values_given

_STEPS = {"predict": ("predict", "predict_step"), "evaluate": ("evaluate", "test_step")}


def on_rank_zero(plan: Plan) -> set[ast.Call]:
    """Guard such statements, and give the calls in them."""
    program = plan.program
    found: set[ast.Call] = set()
    for call in [each for method in _STEPS for each in calls(program, method)]:
        statement = program.statement(call)
        if plan.may_change(call) and _shows(statement, call, program):
            outputs.guard(plan, statement, "output")
            found.add(call)
    return found


def _shows(statement: ast.stmt, call: ast.Call, program: Program) -> bool:
    shown = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(shown, ast.Call) or outputs.kind_of(shown, program) != "output":
        return False
    parts = values_given(shown)
    return (
        _plain(call, program)
        and all(reads_only(each, program, harmless=[call]) for each in parts)
        and _behind_training(statement, program)
    )


def _plain(call: ast.Call, program: Program) -> bool:
    """Whether a call is Keras's own, on arrays, and calls nothing back."""
    given = Given(call, program)
    x = given.one("x")
    if x is None or given.on_super or given.text("callbacks") is not None:
        return False
    if any(own_method(given.model, name, program) for name in _STEPS[given.method]):
        return False
    return kind_of(x, given.one("y") is not None, program) in ("array", "list", "dict")


def _behind_training(statement: ast.stmt, program: Program) -> bool:
    """Whether a statement stands behind all training of its function, and is reached once."""
    owner = owner_of(statement, program)
    trained = [call.lineno for call in _trainings(program) if owner_of(call, program) is owner]
    called = program.calling(owner)
    once = len(called) <= 1 and not any(True for each in (statement, *called) for _ in turns_around(each, program))
    return once and bool(trained) and max(trained) < statement.lineno


@remembered
def _trainings(program: Program) -> list[ast.Call]:
    return [call for method in TRAINING for call in calls(program, method)]
