"""Learning rates of TensorFlow and Keras optimizers, raised with the number of ranks.

A step of n ranks uses n batches; the rate grows with them (Goyal et al., *Accurate, Large Minibatch SGD*, 2017), and a
schedule that counts steps counts n times fewer. https://www.tensorflow.org/api_docs/python/tf/keras/optimizers
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.common.origins import origins
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.program import Program
from distml.training.values import Callable, Foreign, Instance

OPTIMIZER = re.compile(
    r"(keras\.optimizers|tensorflow\.train|tensorflow_addons\.optimizers)\.(?!schedules)(\w+\.)*([A-Z]\w*)\(\)"
)
"""The path of an optimizer; its last group is the name of the class."""

_RATE = Note(
    "learning rate times the number of ranks",
    "a step of all ranks together uses as many batches, and its average gradient carries a larger rate",
    "scale-rate",
)
_STEPS = Note(
    "steps of the schedule divided by the number of ranks",
    "each rank takes fewer steps, and the schedule counts steps",
    "scale-rate",
)
_DEFAULTS = {"SGD": "0.01", "Lion": "0.0001"}
_UNUSUAL = {"AdamW": 1, "SGDW": 1, "RMSpropW": 1}
"""Optimizers of TensorFlow Addons whose rate is not the first argument."""

_SCHEDULES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "ExponentialDecay": (("initial_learning_rate", "decay_steps"), ("initial_learning_rate",), ("decay_steps",)),
    "InverseTimeDecay": (("initial_learning_rate", "decay_steps"), ("initial_learning_rate",), ("decay_steps",)),
    "PolynomialDecay": (
        ("initial_learning_rate", "decay_steps", "end_learning_rate"),
        ("initial_learning_rate", "end_learning_rate"),
        ("decay_steps",),
    ),
    "CosineDecay": (
        ("initial_learning_rate", "decay_steps", "alpha", "name", "warmup_target", "warmup_steps"),
        ("initial_learning_rate", "warmup_target"),
        ("decay_steps", "warmup_steps"),
    ),
    "CosineDecayRestarts": (
        ("initial_learning_rate", "first_decay_steps"),
        ("initial_learning_rate",),
        ("first_decay_steps",),
    ),
    "PiecewiseConstantDecay": (("boundaries", "values"), ("values",), ("boundaries",)),
}
"""Schedules: the places of their parameters, those that are rates, and those that are steps."""

_MADE = re.compile(r"keras\.(?:optimizers\.schedules|experimental)\.(\w+)\(\)")


def scale(plan: Plan, optimizer: ast.expr) -> None:
    """Raise the rate of what `optimizer` can stand for, where it is made; HVD304 warns where that is not found."""
    if plan.options.scale_lr == "none":
        return
    made = [call for call in makers(plan.program, optimizer)]
    if not made:
        plan.warn(
            "HVD304",
            optimizer,
            f"nobody sees where `{ast.unparse(optimizer)}` is made, so that its learning rate stays as it is",
            "multiply the rate by the number of ranks where the optimizer is made",
        )
    for call in made:
        _optimizer(plan, call)


def makers(program: Program, optimizer: ast.expr) -> list[ast.Call]:
    """The calls that make what `optimizer` can stand for, those around other optimizers left out."""
    found: dict[ast.Call, None] = {}
    for value in program.of(optimizer):
        if (
            isinstance(value, Foreign)
            and isinstance(value.node, ast.Call)
            and (match := OPTIMIZER.fullmatch(value.name))
        ):
            inner = value.node.args[0] if value.node.args else _named(value.node, "inner_optimizer", "optimizer")
            if match[3] in ("LossScaleOptimizer", "MovingAverage", "SWA", "Lookahead") and inner is not None:
                found |= dict.fromkeys(makers(program, inner))
            elif match[3] not in ("get", "deserialize"):
                found[value.node] = None
    return list(found)


def _named(call: ast.Call, *names: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg in names), None)


def _class_of(call: ast.Call, program: Program) -> str:
    for name in program.names(call.func):
        if match := OPTIMIZER.fullmatch(name + "()"):
            return match[3]
    return ""


def _optimizer(plan: Plan, call: ast.Call) -> None:
    name = _class_of(call, plan.program)
    place = _UNUSUAL.get(name, 0) if "tensorflow_addons" in str(plan.program.names(call.func)) else 0
    rate = _named(call, "learning_rate", "lr") or (call.args[place] if len(call.args) > place else None)
    if rate is not None:
        scale_rate(plan, rate)
    elif any(keyword.arg is None for keyword in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        plan.warn("HVD304", call, "the learning rate is among arguments that are given together", "multiply it there")
    else:
        default = f"{_DEFAULTS.get(name, '0.001')} * {plan.world(call).size}"
        plan.patch(call).keyword(call, "learning_rate", default, _RATE)


def scale_rate(plan: Plan, rate: ast.expr) -> None:
    """Raise a rate: a number, a variable, a function, or a schedule where it is made."""
    program = plan.program
    schedules = [v for v in program.of(rate) if isinstance(v, Foreign) and _MADE.fullmatch(v.name)]
    own = [v for v in program.of(rate) if isinstance(v, Instance)]
    variables = [v for v in program.of(rate) if isinstance(v, Foreign) and v.name == "tensorflow.Variable()"]
    for value in schedules:
        if isinstance(value.node, ast.Call):
            _schedule(plan, value.node, value.name)
    for instance in own:
        _own_schedule(plan, instance)
    for value in variables:
        if isinstance(value.node, ast.Call) and value.node.args:
            _times(plan, value.node.args[0])
    if schedules or own or variables:
        return
    if isinstance(rate, ast.Lambda):
        _times(plan, rate.body)
    elif any(isinstance(value, Callable) for value in program.of(rate)):
        plan.warn(
            "HVD304", rate, "the learning rate is what a function gives", "multiply it by the number of ranks there"
        )
    else:
        _times(plan, rate)


def _times(plan: Plan, rate: ast.expr) -> None:
    plan.patch(rate).wrap(rate, "{} * " + plan.world(rate).size, _RATE)


def _schedule(plan: Plan, call: ast.Call, path: str) -> None:
    """The rates of a schedule times the number of ranks, its steps divided by it."""
    match = _MADE.fullmatch(path)
    known = _SCHEDULES.get(match[1]) if match else None
    if known is None:
        plan.warn("HVD304", call, "this schedule is not known", "multiply its rates, and divide its steps")
        return
    names, rates, steps = known
    given = {**dict(zip(names, call.args, strict=False)), **{k.arg: k.value for k in call.keywords if k.arg}}
    for name in rates:
        if name in given:
            _each(plan, given[name], "{} * ", _RATE)
    for name in steps:
        if name in given and not _counts_shards(plan, given[name]):
            _each(plan, given[name], "{} // ", _STEPS)


def _each(plan: Plan, node: ast.expr, template: str, note: Note) -> None:
    """Change a number, or each of a list of them where it is written."""
    found = [each.value for each in origins(node, plan.program) if each.whole] if isinstance(node, ast.Name) else []
    lists = [each for each in (node, *found) if isinstance(each, ast.List | ast.Tuple)]
    size = plan.world(node).size
    if lists:
        for element in lists[0].elts:
            plan.patch(element).wrap(element, template + size, note)
    else:
        plan.patch(node).wrap(node, template + size, note)


def _counts_shards(plan: Plan, steps: ast.expr) -> bool:
    """Whether a number of steps is counted on a dataset that holds the part of one rank."""
    for node in plan.program.sources(steps):
        if isinstance(node, ast.Call):
            counts = isinstance(node.func, ast.Name) and node.func.id == "len" and node.args
            data = node.args[0] if counts else node.func.value if isinstance(node.func, ast.Attribute) else None
            asks = counts or (isinstance(node.func, ast.Attribute) and node.func.attr == "cardinality")
            if asks and data is not None and any("tensorflow.data." in name for name in plan.program.names(data)):
                return True
    return False


def _own_schedule(plan: Plan, instance: Instance) -> None:
    """A schedule of the program: its steps count for as many, and what it gives grows."""
    for method in instance.type.node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__call__" and len(method.args.args) > 1:
            step, size = method.args.args[1].arg, plan.world(method).size
            plan.patch(method).begin(method, f"{step} = {step} * {size}", _STEPS)
            for node in ast.walk(method):
                if isinstance(node, ast.Return) and node.value is not None:
                    _times(plan, node.value)


def later(plan: Plan, optimizers: list[ast.expr]) -> None:
    """Raise rates that the program gives its optimizers while it trains."""
    if plan.options.scale_lr == "none":
        return
    made = {value for optimizer in optimizers for value in plan.program.of(optimizer)}
    for unit in plan.program.units.values():
        for node in ast.walk(unit.tree):
            target, value = _given(node, plan.program)
            if target is not None and value is not None and made & plan.program.of(target.value):
                own = ast.unparse(target.value)
                if not any(f"{own}.{name}" in ast.unparse(value) for name in ("lr", "learning_rate")):
                    _times(plan, value)


def _given(node: ast.AST, program: Program) -> tuple[ast.Attribute | None, ast.expr | None]:
    """The rate of an optimizer and what a statement or call gives it."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target: ast.expr | None = node.targets[0]
        value: ast.expr | None = node.value
    elif (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "assign" and node.args
    ):
        target, value = node.func.value, node.args[0]
    elif isinstance(node, ast.Call) and len(node.args) == 2 and "keras.backend.set_value" in program.names(node.func):
        target, value = node.args
    else:
        return None, None
    rate = isinstance(target, ast.Attribute) and target.attr in ("lr", "learning_rate")
    return (target, value) if rate and isinstance(target, ast.Attribute) else (None, None)
