"""Callbacks of `fit`: those that make ranks agree come first, those that decide run everywhere, those that write on rank 0.

Broadcast gives all ranks the weights of rank 0; MetricAverage, in front of whatever reads a metric, lets all ranks decide
alike. https://horovod.readthedocs.io/en/stable/keras.html
"""

from __future__ import annotations

import ast
import re
from collections import abc
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.intervals import fewer
from distml.rewrites.horovod.aspects.outputs import kind_of, private
from distml.rewrites.horovod.aspects.rates import scale_results, set_by_batch, settings
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.flows.fit import stopping, vocabularies
from distml.rewrites.horovod.flows.fit.judging import Judgment, judged
from distml.rewrites.horovod.flows.fit.models import Given, literal
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.callsites import argument, positional
from distml.training.program import Program
from distml.training.syntax import closure, is_false, is_literal, method_name, receiver_of, values_given
from distml.training.values import Box, Callable, Class, Constant, Foreign, Instance, Value

_FRONT = Note(
    "ranks start from the weights of rank 0 and use metrics averaged over all ranks",
    "ranks with different initial weights diverge; a callback that decides by a metric must decide the same on every rank",
    "fit-callbacks",
)
_WRITES = Note(
    "runs on rank 0 only", "all ranks would write the same files or draw the same pictures", "writing-callback"
)
_FOLDER = Note(
    "a folder for each rank",
    "every rank must restore its state, and no rank may overwrite another's",
    "backup",
)
_QUIET = Note("prints on rank 0 only", "every rank would print the same line", "rank-zero-output")
_FLOOR = Note(
    "lowest rate times the number of ranks",
    "the learning rate that it bounds is scaled too (linear scaling rule)",
    "scale-rate",
)
_KERAS = "keras.callbacks."
_WRITERS = ("ModelCheckpoint", "TensorBoard", "CSVLogger", "RemoteMonitor", "ProgbarLogger")
_EVENTS = re.compile(r"set_model|on_(train|epoch|batch|test|predict)_\w+")
_BATCH = re.compile(r"on_(train_)?batch_(begin|end)")
_SCHEDULE = re.compile(r"keras\.optimizers\.schedules\.\w+\(\)")
_WRITING_LIBRARIES = re.compile(
    r"wandb\..*|tqdm\.keras\.\w+\(\)|keras_tqdm\..*|livelossplot\..*|mlflow\..*|neptune\w*\..*|comet_ml\..*|clearml\..*"
    r"|tensorflow_docs\..*(EpochDots|PlotResults)\(\)|tensorboard\.plugins\..*|tensorflow_addons\.callbacks\.TQDM\w*\(\)"
)


def arrange(plan: Plan, module: str, arguments: Given) -> None:
    """Put the callbacks that make ranks agree in front, and see to the program's own."""
    call = arguments.call
    front = [vocabularies.broadcast(plan, module, arguments), f"{module}.callbacks.MetricAverageCallback()"]
    if plan.options.warmup and not any(
        _SCHEDULE.fullmatch(n) for c in plan.program.calls for n in plan.program.names(c)
    ):
        front.append(_warm_up(plan, module, arguments))
    held = arguments.all("callbacks")
    if not held or all(is_literal(each, None) for each in held):
        if held and not any(keyword.arg == "callbacks" for keyword in call.keywords):
            plan.patch(held[0]).wrap(held[0], f"[{', '.join(front)}]", _FRONT)
        else:
            plan.patch(call).keyword(call, "callbacks", f"[{', '.join(front)}]", _FRONT)
    for node in held:
        _in_front(plan, node, front)
        members = [*_members(node, plan.program)]
        known = {value.node for value in members if isinstance(value, Foreign) and _is_callback(value.name)}
        for value in members:  # what several stars may bring is what one of them is known to have
            if not isinstance(value, Foreign) or value.node not in known or _is_callback(value.name):
                _see_to(plan, value, node)


def driven(plan: Plan) -> None:
    """Let the callbacks that write, and that the program itself calls in a loop of its own, do nothing on the other ranks."""
    program = plan.program
    told = (call for call in program.calls if _EVENTS.fullmatch(method_name(call) or ""))
    held = (each for call in told for each in program.of(receiver_of(call)) if isinstance(each, Foreign))
    for value in dict.fromkeys(held):
        made, name = value.node, value.name.removesuffix("()")
        writes = name.startswith(_KERAS) and name.rpartition(".")[2] in _WRITERS
        if writes and isinstance(made, ast.Call) and plan.may_change(made):
            if not plan.patch(made).requests.expressions.get(made):
                on_rank_zero(plan, made)


def set_rates(plan: Plan) -> None:
    """Name the rates that callbacks set in each batch by a count of their own."""
    program = plan.program
    for place, rate in settings(program):
        method = program.function(place)
        owner = program.parent(method) if method is not None else None
        if isinstance(method, ast.FunctionDef) and isinstance(owner, ast.ClassDef) and _BATCH.fullmatch(method.name):
            set_by_batch(plan, rate, owner, positional(method)[1:2])


def _warm_up(plan: Plan, module: str, arguments: Given) -> str:
    rate = f"float({ast.unparse(arguments.model)}.optimizer.learning_rate)"
    return (
        f"{module}.callbacks.LearningRateWarmupCallback("
        f"initial_lr={rate}, warmup_epochs={plan.options.warmup}, momentum_correction=False)"
    )


def _in_front(plan: Plan, node: ast.expr, front: list[str]) -> None:
    patch, values = plan.patch(node), plan.program.of(node)
    if isinstance(node, ast.Constant):
        return
    if isinstance(node, ast.List):
        for each in front:
            patch.prepend(node, each, _FRONT)
        return
    single = [v for v in values if isinstance(v, Instance) or (isinstance(v, Foreign) and _is_callback(v.name))]
    if single and len(single) == len(values):
        patch.wrap(node, f"[{', '.join(front)}, {{}}]", _FRONT)
    elif any(isinstance(value, Constant) and value.value is None for value in values):
        patch.wrap(node, f"[{', '.join(front)}, *({{}} or [])]", _FRONT)
    else:
        patch.wrap(node, f"[{', '.join(front)}, *{{}}]", _FRONT)


def _is_callback(name: str) -> bool:
    return (name.startswith(_KERAS) and name.endswith("()")) or bool(_WRITING_LIBRARIES.fullmatch(name))


def _members(node: ast.expr, program: Program) -> Iterator[Value]:
    """The callbacks in what is given as callbacks."""
    held = closure(program.of(node), lambda value: program.held([value]))
    return (value for value in held if not isinstance(value, Box))


def _see_to(plan: Plan, value: Value, node: ast.expr) -> None:
    if isinstance(value, Foreign) and not isinstance(value.node, ast.AugAssign | ast.BinOp):
        _of_library(plan, value, node)
    elif isinstance(value, Instance):
        _of_program(plan, value)


def _of_library(plan: Plan, value: Foreign, node: ast.expr) -> None:
    call, kind = value.node, value.name.removesuffix("()").rpartition(".")[2]
    if not isinstance(call, ast.Call):
        _unknown(plan, node)
    elif value.name.startswith(_KERAS):
        for change in _CHANGES.get(kind, (_unknown,)):
            change(plan, call)
    else:
        (on_rank_zero if _WRITING_LIBRARIES.fullmatch(value.name) else _unknown)(plan, call)


def _less_often(plan: Plan, call: ast.Call) -> None:
    """A checkpoint after so many batches comes after as much data as before."""
    every = argument(call, -1, "save_freq", "update_freq")
    if every is None or plan.options.shard == "none" or any(isinstance(v, str) for v in literal(every, plan.program)):
        return
    fewer(plan, every)


def on_rank_zero(plan: Plan, call: ast.Call) -> None:
    """Let a callback that writes do nothing on the other ranks."""
    if private(call, plan.program):
        return
    nothing = spell(plan, call, "keras.callbacks.Callback")
    plan.patch(call).wrap(call, f"{{}} if {plan.world(call).first} else {nothing}()", _WRITES)


def _unknown(plan: Plan, node: ast.expr) -> None:
    plan.warn(
        "HVD301",
        node,
        "cannot determine what this callback does; it runs on every rank",
        "pass it on rank 0 only if it writes files, and on every rank if it stops training or changes the model",
    )


def _backup(plan: Plan, call: ast.Call) -> None:
    folder = argument(call, 0, "backup_dir")
    if folder is not None:
        plan.patch(folder).wrap(folder, f'{{}} + f"/{{{plan.world(call).rank}}}"', _FOLDER)


def _scheduler(plan: Plan, call: ast.Call) -> None:
    """What a scheduler is told to set is scaled where it is computed."""
    if plan.options.scale_lr == "none":
        return
    schedule = argument(call, 0, "schedule")
    functions = [each for each in plan.program.of(schedule) if isinstance(each, Callable)]
    for value in plan.program.of(schedule):
        if isinstance(value, Instance):
            functions += [e for e in plan.program.member(value, "__call__") if isinstance(e, Callable)]
    for each in functions:
        scale_results(plan, each.node)
    if not functions:
        plan.warn(
            "HVD304",
            call,
            "cannot determine the learning rates that this scheduler sets; they were not scaled",
            f"multiply them by `{plan.world(call).size}`",
        )


def _lambdas(plan: Plan, call: ast.Call) -> None:
    arguments = values_given(call)
    values = [value for argument in arguments for value in plan.program.of(argument)]
    judgments = [judged([value.node], plan.program) for value in values if isinstance(value, Callable)]
    lambdas = [value.node for value in values if isinstance(value, Callable) and isinstance(value.node, ast.Lambda)]
    shown = any(isinstance(n, ast.Call) and kind_of(n, plan.program) for each in lambdas for n in walk(each))
    if (shown or any(each.writes for each in judgments)) and not any(each.decides for each in judgments):
        on_rank_zero(plan, call)


def _floor(plan: Plan, call: ast.Call) -> None:
    rate = argument(call, 7, "min_lr")
    zero = isinstance(rate, ast.Constant) and rate.value == 0
    if rate is not None and not zero and plan.options.scale_lr != "none":
        plan.patch(rate).wrap(rate, "{} * " + plan.world(rate).size, _FLOOR)


def _quiet(plan: Plan, call: ast.Call) -> None:
    verbose = argument(call, -1, "verbose")
    if verbose is not None and not is_false(verbose):
        plan.patch(verbose).wrap(verbose, f"{{}} if {plan.world(verbose).first} else 0", _QUIET)


def _of_program(plan: Plan, value: Instance) -> None:
    program = plan.program
    classes = program.own_bases(value.type)
    found: Judgment = judged(classes, program)
    for stop in found.by_batch:
        stopping.of_program(plan, stop)
    for test in found.by_process:
        stopping.of_process(plan, test)
    below = {*program.library_bases(value.type)}
    writes = found.writes or any(f"{_KERAS}{each}" in below for each in _WRITERS)
    if found.decides or not writes or _is_read(value, program):
        return
    for call in program.calls:
        made = any(isinstance(each, Class) and each.node is value.type.node for each in program.of(call.func))
        if made and plan.may_change(call):
            on_rank_zero(plan, call)


def _is_read(value: Instance, program: Program) -> bool:
    """Whether the program looks at a callback from outside its class."""
    own = {*program.own_bases(value.type)}
    for node in program.nodes(ast.Attribute):
        if value in program.of(node.value):
            if not own & {*program.ancestors(node)}:
                return True
    return False


_CHANGES: dict[str, tuple[abc.Callable[[Plan, ast.Call], None], ...]] = {
    **dict.fromkeys(_WRITERS, (_less_often, on_rank_zero)),
    **dict.fromkeys(("History", "BaseLogger", "Callback", "SwapEMAWeights"), ()),
    "BackupAndRestore": (_backup,),
    "EarlyStopping": (_quiet,),
    "LambdaCallback": (_lambdas,),
    "LearningRateScheduler": (_scheduler, _quiet),
    "ReduceLROnPlateau": (_floor, _quiet),
    "TerminateOnNaN": (stopping.of_library,),
}
"""What becomes of each kind of callback of Keras, in turn."""
