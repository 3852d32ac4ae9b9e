"""Pictures, sounds and commands that a program writes and runs while it trains, in whatever module they stand: by rank 0.

Scripts leave that to a module of helpers, in which nothing else changes. A command may write files, or read what rank 0
has written. What is written before the training begins is
left alone: that may be data, which all ranks go on to read.
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.anchors import started
from distml.rewrites.horovod.aspects.during import since_training
from distml.rewrites.horovod.aspects.outputs import (
    COMMANDS,
    guard,
    guarded,
    kind_of,
    on_each_machine,
    private,
    run_by_one,
)
from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.notes import WRITTEN
from distml.rewrites.horovod.plan import Plan
from distml.spmd.touched import HEARD
from distml.training.program import Program
from distml.training.syntax import values_given

_WRITES = re.compile(r"matplotlib\.backends\.\w+\.\w+\(\)\.print_\w+")
"""What may write a file beside what is known to put something out."""
_LINES = re.compile(
    r"builtins\.print|(absl\.|tensorflow\.)?logging\..*|(builtins|pathlib\.Path\(\))\.open\(\)\.\w+"
    r"|tensorflow\.summary\.\w+|wandb\.\w+|tensorboard_logger\.\w+"
)
"""What adds a line to a file, or a number to a log."""


def saves(call: ast.Call, program: Program) -> bool:
    """Whether a call writes a whole file, such as weights or a picture."""
    whole = kind_of(call, program) == "file" and not program.matches(call.func, _LINES)
    return whole and not private(call, program)


def by_rank_zero(plan: Plan) -> None:
    """Leave such calls to rank 0, where they are made since the training began and nothing is done with what they give."""
    program = plan.program
    for call in program.calls:
        writes = program.matches(call.func, _WRITES) or program.callee(call) & COMMANDS
        if (writes or saves(call, program)) and _moves(call, plan):
            statement = program.statement(call)
            # All ranks need what a command puts out where a function hands it on.
            needed = isinstance(statement, ast.Return) and not HEARD.isdisjoint(program.names(call.func))
            if getattr(statement, "value", None) is not call or isinstance(statement, ast.Assign) or needed:
                continue
            if not all(reads_only(part, program) for part in values_given(call)):
                run_by_one(call, call.func, "file", plan)
            elif isinstance(statement, ast.Expr):
                guard(plan, statement, "file")
            else:
                plan.patch(call).wrap(call, f"{{}} if {plan.world(call).first} else None", WRITTEN)


def _moves(call: ast.Call, plan: Plan) -> bool:
    """Whether the other ranks can leave a call out, and nobody has seen to that."""
    program, statement = plan.program, plan.program.statement(call)
    if not plan.may_change(call) or call in program.idle or guarded(statement, plan) or private(call, program):
        return False
    if call.func in plan.patch(call).requests.expressions:  # rank 0 alone runs it already
        return False
    return started(plan, call) and since_training(call, plan) and not on_each_machine(call, plan)
