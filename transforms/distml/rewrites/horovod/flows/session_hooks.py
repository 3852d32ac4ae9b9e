"""Hooks of monitored sessions and estimators: weights sent at the start, fewer steps, files by rank 0.

https://horovod.readthedocs.io/en/stable/tensorflow.html
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.intervals import fewer
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.session_graph import is_counter
from distml.rewrites.horovod.flows.session_steps import divide_number
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import is_given, method_name, nodes_in
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
_LOG = Note("logged by rank 0", "every rank would log the steps that all of them take", "rank-zero-output")
_VERBOSITY = re.compile(r"(tensorflow\.(compat\.v1\.)?logging|absl\.logging)\.set_verbosity")
_WRITES = re.compile(
    r"tensorflow\.(train|estimator)\.(CheckpointSaverHook|SummarySaverHook|ProfilerHook|StepCounterHook|LoggingTensorHook)\(\)"
)
_DECIDES = re.compile(
    r"tensorflow\.(estimator\.experimental|contrib\.estimator|estimator)\.(stop_if_\w+_hook|make_early_stopping_hook)"
)
_HOOKED = frozenset({"before_run", "after_run"})
_STOPS = "tensorflow.train.StopAtStepHook"
_SAVES = {
    "tensorflow.train.MonitoredTrainingSession": (99, "save_checkpoint_steps"),
    "tensorflow.train.CheckpointSaverHook": (2, "save_steps"),
    "tensorflow.estimator.CheckpointSaverHook": (2, "save_steps"),
    "tensorflow.estimator.RunConfig": (99, "save_checkpoints_steps"),
    "tensorflow.estimator.RunConfig().replace": (99, "save_checkpoints_steps"),
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
        if is_given(number):
            divide_number(plan, number, some=True)
        last = argument(call, 1, "last_step")
        if last is not None and last is not number:
            divide_number(plan, last, some=True)


def refuse_stops(plan: Plan) -> None:
    """Raises `Refuse` (HVD206) where a hook ends the training of a rank by the evaluations of this rank."""
    for call in plan.program.calls:
        if plan.program.matches(call.func, _DECIDES):
            raise Refuse(
                "HVD206",
                call,
                "this hook ends the training of a rank by evaluations of its own: one rank stops alone",
                "stop after a number of steps, or evaluate and decide outside of the training",
            )


def stops(plan: Plan) -> None:
    """Say where a hook of the program ends a session by what one rank sees."""
    uniform = Uniform(plan.program, plan.dealt)
    for call in plan.program.calls:
        above = [*plan.program.ancestors(call)]
        within = next((each for each in above if isinstance(each, ast.FunctionDef)), None)
        if not (method_name(call) == "request_stop" and within is not None):
            continue
        tests = [each.test for each in above[: above.index(within)] if isinstance(each, ast.If)]
        if within.name in _HOOKED and not _counts(within, plan.program) and not all(map(uniform.holds, tests)):
            plan.warn(
                "HVD308",
                call,
                "this hook stops training on one rank: the others wait for its gradients indefinitely",
                "let all ranks decide alike, such as by a number of steps",
            )


def _counts(method: ast.FunctionDef, program: Program) -> bool:
    """Whether all that the hook of a method asks its session for is the number of steps."""
    asked = [
        argument(call, 0, "fetches")
        for call in nodes_in(program.parent(method) or method, ast.Call)
        if "tensorflow.train.SessionRunArgs" in program.names(call.func)
    ]
    return bool(asked) and all(each is not None and is_counter(each, program) for each in asked)


def save_often(plan: Plan) -> None:
    """Let what saves after a number of steps save as often in an epoch as it did."""
    for name, (number, keyword) in _SAVES.items() if plan.options.shard != "none" else ():
        for call in plan.program.calls_of(name):
            steps = argument(call, number, keyword)
            if is_given(steps):
                fewer(plan, steps)


def quiet(plan: Plan) -> None:
    """Let the hooks that write or log do nothing on other ranks than the first."""
    for call in plan.program.calls:
        if any(_WRITES.fullmatch(name + "()") for name in plan.program.names(call.func)):
            module = ast.unparse(call.func).rpartition(".")[0]
            if module:
                code = f"{{}} if {plan.world(call).first} else {module}.SessionRunHook()"
                plan.patch(call).wrap(call, code, _FOLDER)


KEPT = (limit, save_often, quiet)
"""What becomes of the hooks that a program makes."""


def quiet_library(plan: Plan) -> None:
    """Let the library itself log on rank 0 only: it tells of the steps that it takes."""
    for call in plan.program.calls:
        level = argument(call, 0, "v", "verbosity") if plan.program.matches(call.func, _VERBOSITY) else None
        module = ast.unparse(call.func).rpartition(".")[0]
        if level is not None and module and plan.may_change(call):
            plan.patch(level).wrap(level, f"{{}} if {plan.world(call).first} else {module}.ERROR", _LOG)


def folder(plan: Plan, call: ast.Call, number: int, name: str) -> None:
    """Let only rank 0 have a folder for its files."""
    given = argument(call, number, name)
    if not is_given(given):
        return
    plan.patch(given).wrap(given, f"{{}} if {plan.world(given).first} else None", _FOLDER)
