"""Sessions that a Keras script of TensorFlow 1 makes for itself: each process shows its session its own GPU."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.plan import Note, Plan

_NOTE = Note(
    "one GPU for each process", "a session takes all GPUs of the machine unless it is told which", "visible-devices"
)
_CONFIG = "tensorflow.ConfigProto"


def choose_gpu(plan: Plan) -> None:
    """Tell the configuration of each session which GPU is its own."""
    program = plan.program
    for call in list(program.calls_of(_CONFIG)):
        statement = program.statement(call)
        if program.unit(call).source.location not in plan.editable:
            continue
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.value is call:
            code = f"{ast.unparse(statement.targets[0])}.gpu_options.visible_device_list = str({plan.world(call).local_rank})"
            plan.patch(statement).after(statement, code, _NOTE)
