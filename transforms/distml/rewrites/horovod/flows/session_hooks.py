"""Hooks of monitored sessions and estimators: weights sent at the start, fewer steps, files by rank 0.

https://horovod.readthedocs.io/en/stable/tensorflow.html
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.intervals import fewer
from distml.rewrites.horovod.flows.session_steps import divide_number
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.callsites import argument
from distml.training.values import Box

_SEND = Note(
    "weights of rank 0 sent to all ranks",
    "every rank has initialized or restored its own weights; averaged gradients would be applied to different models",
    "broadcast-variables",
)
_FOLDER = Note(
    "checkpoints written by rank 0",
    "all ranks would write the same checkpoints at the same time",
    "rank-zero-checkpoint",
)
_WRITES = re.compile(
    r"tensorflow\.(train|estimator)\.(CheckpointSaverHook|SummarySaverHook|ProfilerHook|StepCounterHook)\(\)"
)
_STOPS = "tensorflow.train.StopAtStepHook"
_SAVES = {
    "tensorflow.train.MonitoredTrainingSession": (99, "save_checkpoint_steps"),
    "tensorflow.train.CheckpointSaverHook": (2, "save_steps"),
    "tensorflow.estimator.CheckpointSaverHook": (2, "save_steps"),
    "tensorflow.estimator.RunConfig": (99, "save_checkpoints_steps"),
}
"""What saves after how many steps: the position of the number, and its name."""


def broadcast(plan: Plan, call: ast.Call, given: ast.expr | None, name: str = "hooks") -> None:
    """Give a call, among the hooks it is `given`, one that sends the weights of rank 0."""
    patch = plan.patch(call)
    hook = f"{plan.world(call).module}.BroadcastGlobalVariablesHook(0)"
    if given is None:
        patch.keyword(call, name, f"[{hook}]", _SEND)
    elif isinstance(given, ast.List):
        patch.prepend(given, hook, _SEND)
    elif isinstance(given, ast.Constant):
        patch.wrap(given, f"[{hook}]", _SEND)
    else:
        held = plan.program.of(given)
        sure = bool(held) and all(isinstance(value, Box) for value in held)
        patch.wrap(given, f"[{hook}, *{{}}]" if sure else f"[{hook}, *({{}} or [])]", _SEND)


def limit(plan: Plan) -> None:
    """Let the hooks that stop after a number of steps count those of all ranks."""
    if plan.options.shard == "none":
        return
    for call in plan.program.calls_of(_STOPS):
        number = argument(call, 0, "num_steps") or argument(call, 1, "last_step")
        if number is not None and not (isinstance(number, ast.Constant) and number.value is None):
            divide_number(plan, number, some=True)
        last = argument(call, 1, "last_step")
        if last is not None and last is not number:
            divide_number(plan, last, some=True)


def save_often(plan: Plan) -> None:
    """Let what saves after a number of steps save as often in an epoch as it did."""
    for name, (number, keyword) in _SAVES.items() if plan.options.shard != "none" else ():
        for call in plan.program.calls_of(name):
            steps = argument(call, number, keyword)
            if steps is not None and not (isinstance(steps, ast.Constant) and steps.value is None):
                fewer(plan, steps)


def quiet(plan: Plan) -> None:
    """Let the hooks that write files do nothing on other ranks than the first."""
    for call in plan.program.calls:
        if any(_WRITES.fullmatch(name + "()") for name in plan.program.names(call.func)):
            module = ast.unparse(call.func).rpartition(".")[0]
            if module:
                code = f"{{}} if {plan.world(call).first} else {module}.SessionRunHook()"
                plan.patch(call).wrap(call, code, _FOLDER)


def folder(plan: Plan, call: ast.Call, number: int, name: str) -> None:
    """Let only rank 0 have a folder for its files."""
    given = argument(call, number, name)
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return
    plan.patch(given).wrap(given, f"{{}} if {plan.world(given).first} else None", _FOLDER)
