"""Learning rates times the number of ranks: where optimizers and schedules are made, and where a rate is set later.

N ranks take a step on N times the data; the linear scaling rule of "Accurate, Large Minibatch SGD" (Goyal et al., 2017,
section 2.1) multiplies the rate by N. Schedules that count steps reach their ends after as much data as before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from distml.rewrites.horovod.aspects.origins import origins, wholes
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.aspects.tf_data import counts_divided
from distml.rewrites.horovod.aspects.versions import modern
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.bindings import last_name
from distml.source.nodes import walk
from distml.training.around import returned
from distml.training.callsites import argument, positional, settings_of
from distml.training.program import Program
from distml.training.syntax import closure, is_false, is_given, is_literal, names_in, values_given
from distml.training.values import Callable, Class, Foreign, Function, Instance, Value, Values

_NOTE = Note(
    "learning rate times the number of ranks",
    "the global batch is larger by the number of ranks (linear scaling rule)",
    "scale-rate",
)
_STEPS = Note(
    "steps of the schedule divided by the number of ranks",
    "a step of all ranks together uses the data of as many steps",
    "scale-schedule",
)
_NAMED = Note(
    "learning rate by its present name",
    "the optimizers of TensorFlow 2.11 and later ignore `lr=`, and would use their default rate",
    "rate-name",
)
_DEFAULTS = {
    "sgd": "0.01",
    **dict.fromkeys(
        "adam adamw adamax nadam rmsprop adagrad adadelta ftrl adafactor lamb lazyadam rectifiedadam novograd".split(),
        "0.001",
    ),
    "lion": "0.0001",
}
"""The rates of Keras's optimizers where none is given, as of TensorFlow 2.15."""

_RATES = ("learning_rate", "lr")
_OPTIMIZER = re.compile(
    r"(keras\.optimizers|tensorflow\.(train|keras\.optimizers))\.(\w+\.)*[A-Z]\w*\(\)"
    r"|keras\.((Model|Sequential)\(\)(\.\w+\(\))*|callbacks\.[\w.]+\(\)\.model)\.optimizer"
)
_VARIABLES = frozenset({"tensorflow.Variable()", "keras.backend.variable()"})
_SETTING = frozenset({"assign", "assign_add", "assign_sub"})
_APPLYING = frozenset({"apply_gradients", "apply", "minimize"})


@dataclass(frozen=True)
class _Schedule:
    """The arguments of a schedule that are rates and those that count steps, by position and name."""

    rates: tuple[tuple[int, str], ...] = ((0, "initial_learning_rate"),)
    steps: tuple[tuple[int, str], ...] = ((1, "decay_steps"),)
    defaults: tuple[tuple[str, str], ...] = ()


_DECAY_V1 = _Schedule(((0, "learning_rate"),), ((2, "decay_steps"),))
_SCHEDULES = {
    "keras.optimizers.schedules.ExponentialDecay": _Schedule(),
    "keras.optimizers.schedules.InverseTimeDecay": _Schedule(),
    "keras.optimizers.schedules.PolynomialDecay": _Schedule(
        ((0, "initial_learning_rate"), (2, "end_learning_rate")), defaults=(("end_learning_rate", "0.0001"),)
    ),
    "keras.optimizers.schedules.CosineDecay": _Schedule(
        ((0, "initial_learning_rate"), (5, "warmup_target")), ((1, "decay_steps"), (6, "warmup_steps"))
    ),
    "keras.optimizers.schedules.CosineDecayRestarts": _Schedule(steps=((1, "first_decay_steps"),)),
    "keras.optimizers.schedules.PiecewiseConstantDecay": _Schedule(((1, "values"),), ((0, "boundaries"),)),
    "tensorflow.train.exponential_decay": _DECAY_V1,
    "tensorflow.train.inverse_time_decay": _DECAY_V1,
    "tensorflow.train.natural_exp_decay": _DECAY_V1,
    "tensorflow.train.cosine_decay": _DECAY_V1,
    "tensorflow.train.polynomial_decay": _Schedule(
        ((0, "learning_rate"), (3, "end_learning_rate")), ((2, "decay_steps"),), (("end_learning_rate", "0.0001"),)
    ),
    "tensorflow.train.piecewise_constant": _Schedule(((2, "values"),), ((1, "boundaries"),)),
    "tensorflow.train.piecewise_constant_decay": _Schedule(((2, "values"),), ((1, "boundaries"),)),
}
_LISTS = ("values", "boundaries")


def scale_optimizer(plan: Plan, call: ast.Call) -> None:
    """Scale the rate of the optimizer that `call` makes; HVD304 warns where the rate cannot be seen.

    The rate is `learning_rate=` or `lr=`, else the first argument, else the default of the class. Asked twice, it is
    scaled once. With `--scale-lr none` nothing is done.
    """
    if plan.options.scale_lr == "none":
        return
    rate = argument(call, 0, *_RATES)
    if rate is not None:
        scale(plan, rate)
        _named(plan, call)
        decay = argument(call, -1, "decay")
        if decay is not None and plan.options.shard != "none" and not is_false(decay):
            plan.patch(decay).wrap(decay, "{} * " + plan.world(decay).size, _STEPS)
        return
    settings, whole = settings_of(call, plan.program)
    for each, kind in settings:
        rate = argument(each, 1, *_RATES) if each is not call else None
        if rate is not None:
            scale(plan, rate)
        else:
            _default(plan, each, kind)
    if not whole:
        not_found(plan, call)


def _default(plan: Plan, call: ast.Call, kind: ast.expr) -> None:
    """Give a call the rate that a class has where it is given none."""
    kinds = {name.rpartition(".")[2].lower() for name in plan.program.names(kind)}
    rates = {_DEFAULTS[each] for each in kinds if each in _DEFAULTS}
    default = rates.pop() if len(rates) == 1 else None
    if default is None or any(keyword.arg is None for keyword in call.keywords):
        not_found(plan, call)
        return
    plan.patch(call).keyword(call, "learning_rate", f"{default} * {plan.world(call).size}", _NOTE)


def _named(plan: Plan, call: ast.Call) -> None:
    """A rate by its old name gets the present one: optimizers of Keras 2.11 and later do not look at `lr=`."""
    keras = any(name.startswith("keras.optimizers.") for name in plan.program.names(call.func))
    if keras and modern(plan.program) and any(keyword.arg == "lr" for keyword in call.keywords):
        plan.patch(call).rename(call, "lr", "learning_rate", _NAMED)


def scaled_default(plan: Plan, node: ast.AST, kind: str) -> str:
    """What a class of Keras's optimizers (`adam`) is given as rate where the program gives none."""
    rate = _DEFAULTS[kind.lower()]
    return rate if plan.options.scale_lr == "none" else f"{rate} * {plan.world(node).size}"


def scale(plan: Plan, rate: ast.expr) -> None:
    """Scale a rate where it is used, or where it is made if that is a schedule or a function of the program."""
    if plan.options.scale_lr == "none" or is_literal(rate, None):
        return
    if isinstance(rate, ast.IfExp):
        scale(plan, rate.body)
        scale(plan, rate.orelse)
        return
    values = plan.program.of(rate)
    made = [each for each in values if isinstance(each, Foreign) and each.name.removesuffix("()") in _SCHEDULES]
    custom = [each for each in values if isinstance(each, Instance) and is_schedule(each, plan.program)]
    own = [*_functions(rate, plan.program), *(each.node for each in values if isinstance(each, Callable))]
    for schedule in made:
        _schedule(plan, schedule.node, _SCHEDULES[schedule.name.removesuffix("()")])
    for instance in custom:
        _custom(plan, instance)
    for function in own:
        scale_results(plan, function)
    variables = _variables(plan, values)
    for variable in variables:
        _variable(plan, variable)
    if relative(rate, plan.program):
        return
    if not (made or custom or own or variables):
        plan.patch(rate).wrap(rate, "{} * " + plan.world(rate).size, _NOTE)
    elif not (own or variables) and _of_keras(made) and _may_be_number(rate, plan.program):
        _unless_schedule(plan, rate)


def _of_keras(made: list[Foreign]) -> bool:
    """Whether schedules are objects; those of TensorFlow 1 are tensors, which are no other than a rate."""
    return all(each.name.startswith("keras.") for each in made)


def _may_be_number(rate: ast.expr, program: Program) -> bool:
    """Whether one of the expressions that a rate has its value from gives no schedule."""
    given = wholes(rate, program)
    given += [rate.body, rate.orelse] if isinstance(rate, ast.IfExp) else []
    if given:
        return any(_may_be_number(each, program) for each in given)
    values = program.of(rate)
    return not values or not all(_is_schedule_object(each, program) for each in values)


def _is_schedule_object(value: Value, program: Program) -> bool:
    """Whether a value is a schedule, of the library or of the program."""
    if isinstance(value, Foreign):
        return value.name.removesuffix("()") in _SCHEDULES
    return isinstance(value, Instance) and is_schedule(value, program)


def _unless_schedule(plan: Plan, rate: ast.expr) -> None:
    """Scale a rate that may be a number where it is one; a schedule is scaled where it is made."""
    kind = spell(plan, rate, "keras.optimizers.schedules.LearningRateSchedule")
    code = f"({{}} if isinstance({ast.unparse(rate)}, {kind}) else {ast.unparse(rate)} * {plan.world(rate).size})"
    plan.patch(rate).wrap(rate, code, _NOTE)


def _variables(plan: Plan, values: Values) -> list[ast.Call]:
    """The calls that make variables, of which an optimizer reads the present value in each step."""
    eager = not any(loop.start == "session" for loop in plan.loops)
    made = [each.node for each in values if isinstance(each, Foreign) and each.name in _VARIABLES and eager]
    return [each for each in made if isinstance(each, ast.Call)]


def _variable(plan: Plan, variable: ast.Call) -> None:
    """Scale what a variable begins with and what it is set to; it stays the one that the optimizer reads."""
    first = argument(variable, 0, "initial_value", "value")
    if first is not None:
        scale(plan, first)
    for call in plan.program.calls:
        held, given = _set_to(call)
        held_here = variable in plan.program.made(held)
        if given is not None and held_here and variable not in plan.program.sources(given):
            scale(plan, given)


def _set_to(call: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    """What a call sets, by a method or by `set_value`, and to what."""
    name = last_name(call.func)
    if name == "set_value":
        return argument(call, 0, "x"), argument(call, 1, "value")
    if name in _SETTING and isinstance(call.func, ast.Attribute):
        return call.func.value, argument(call, 0, "value", "delta")
    return None, None


def is_schedule(value: Instance, program: Program) -> bool:
    """Whether an object of the program is a schedule of its own."""
    bases = program.library_bases(value.type)
    return any(name.endswith("LearningRateSchedule") for name in bases)


def scale_results(plan: Plan, function: Function) -> None:
    """Scale what a function gives as a rate, except where that is computed from the rate it was given."""
    if plan.options.scale_lr == "none":
        return
    for result in returned(function):
        if any(isinstance(each, Instance) and is_schedule(each, plan.program) for each in plan.program.of(result)):
            continue  # the schedule gives another rate, wherever it was made
        inner = _functions(result, plan.program)
        for each in inner:
            if each is not function:
                scale_results(plan, each)
        if any(
            isinstance(each, Foreign) and each.name.removesuffix("()") in _SCHEDULES for each in plan.program.of(result)
        ):
            scale(plan, result)
        elif not inner and not relative(result, plan.program):
            plan.patch(result).wrap(result, "{} * " + plan.world(result).size, _NOTE)


def relative(rate: ast.expr, program: Program) -> bool:
    """Whether a rate is computed from the present one, or from one that was kept, which are scaled already."""

    def behind(node: ast.AST) -> Iterator[ast.AST]:
        yield from program.behind(node)
        if isinstance(node, ast.Name | ast.Attribute):
            yield from (each.value for each in origins(node, program))

    return any(
        _is_rate(each, program) or (isinstance(each, ast.Name) and _is_second_parameter(each, program))
        for each in closure([rate], behind)
    )


def scale_settings(plan: Plan) -> None:
    """Scale what the program sets as the rate of an optimizer later: by assignment, `assign` or `K.set_value`."""
    if plan.options.scale_lr == "none":
        return
    for place, rate in list(settings(plan.program)):
        if plan.may_change(place):
            scale(plan, rate)


def set_by_batch(plan: Plan, rate: ast.expr, counter: ast.AST, told: Iterable[str] = ()) -> None:
    """Say where a rate is set with each step, by what a loop, function or class counts or is `told`: ranks take fewer."""
    counted = {*told}
    for node in walk(counter):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            counted.add(ast.unparse(node.target))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "assign_add":
            counted.add(ast.unparse(node.func.value))
    counted |= names_in(counter.target) if isinstance(counter, ast.For) else set()
    sources = (each for each in plan.program.sources(rate) if isinstance(each, ast.Name | ast.Attribute))
    if plan.options.shard != "none" and any(
        n in counted or n.endswith(".iterations") for n in map(ast.unparse, sources)
    ):
        plan.warn(
            "HVD311",
            rate,
            "this rate is set for each batch, and a rank has fewer of them: what it counts was not divided",
            f"divide the numbers of batches in it by {plan.world(rate).size}",
        )


def not_found(plan: Plan, node: ast.expr) -> None:
    """Warn that the rate of an optimizer could not be scaled."""
    plan.warn(
        "HVD304",
        node,
        "cannot determine the learning rate of this optimizer; it was not scaled",
        f"multiply it by `{plan.world(node).size}`",
    )


def _functions(node: ast.expr, program: Program) -> list[Function]:
    """The functions of the program that an expression calls for its value, or that a variable has its value from."""
    if isinstance(node, ast.Name):
        return [each for value in wholes(node, program) for each in _functions(value, program)]
    if not isinstance(node, ast.Call):
        return []
    if program.names(node.func) == {"builtins.float"} and node.args:
        return _functions(node.args[0], program)
    return program.functions(node.func)


def _schedule(plan: Plan, call: ast.AST | None, kind: _Schedule) -> None:
    if not isinstance(call, ast.Call):
        return
    size = plan.world(call).size
    for position, name in kind.rates:
        rate = argument(call, position, name)
        if is_given(rate):
            _change(plan, rate, f"{{}} * {size}", name in _LISTS, _NOTE)
    for name, default in kind.defaults:
        position = next(at for at, each in kind.rates if each == name)
        if argument(call, position, name) is None:
            plan.patch(call).keyword(call, name, f"{default} * {size}", _NOTE)
    for position, name in kind.steps if plan.options.shard != "none" else ():
        count = argument(call, position, name)
        if count is not None and not is_false(count):
            plan.later.append(partial(_fewer, plan, count, name in _LISTS))


def _fewer(plan: Plan, count: ast.expr, several: bool) -> None:
    """Divide the steps of a schedule, unless they are counted by data that is divided already."""
    if not counts_divided(plan, count):
        _change(plan, count, "{} // " + plan.world(count).size, several, _STEPS)


def _change(plan: Plan, node: ast.expr, template: str, several: bool, note: Note) -> None:
    """Change a number, or each of several."""
    if several:
        change_each(plan, node, template, note)
    else:
        plan.patch(node).wrap(node, template, note)


def change_each(plan: Plan, node: ast.expr, template: str, note: Note) -> None:
    """Change each number of a list."""
    patch = plan.patch(node)
    if isinstance(node, ast.List | ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.elts):
        for element in node.elts:
            patch.wrap(element, template, note)
    else:
        patch.wrap(node, f"[{template.format('each')} for each in {{}}]", note)


def _custom(plan: Plan, value: Instance) -> None:
    """A schedule of the program's own: as many times the rate, at a step that counts as many."""
    for base in plan.program.lineage(value.type):
        body = base.node.body if isinstance(base, Class) else []
        call = next((each for each in body if isinstance(each, ast.FunctionDef) and each.name == "__call__"), None)
        if call is None:
            continue
        scale_results(plan, call)
        step = next(iter([*call.args.posonlyargs, *call.args.args][1:]), None)
        if step is not None and plan.options.shard != "none":
            plan.later.append(partial(_count_as_many, plan, value, call, step.arg))
        return


def _count_as_many(plan: Plan, value: Instance, call: ast.FunctionDef, step: str) -> None:
    """Let a schedule's own step count as many, unless it is told lengths of data that is divided already."""
    for made in plan.program.calls:
        if value.type in plan.program.of(made.func):
            if any(counts_divided(plan, each) for each in values_given(made)):
                return
    plan.patch(call).begin(call, f"{step} = {step} * {plan.world(call).size}", _STEPS)


def _is_optimizer(node: ast.expr, program: Program) -> bool:
    """Whether an expression stands for an optimizer: by what reaches it, else by what the program does with it.

    What nothing is known of is none: options and configurations have a `lr` too.
    """
    known = [value for value in program.of(node) if not (isinstance(value, Foreign) and value.name.startswith("?"))]
    if known:
        return program.matches(node, _OPTIMIZER)
    return _of_callback(node, program) or _steps(node, program)


def _of_callback(node: ast.expr, program: Program) -> bool:
    """Whether an expression is `self.model.optimizer` in a callback: Keras sets `model`."""
    inner = node.value if isinstance(node, ast.Attribute) and node.attr == "optimizer" else None
    if not (isinstance(inner, ast.Attribute) and inner.attr == "model" and isinstance(inner.value, ast.Name)):
        return False
    owners = program.classes(inner.value)
    bases = [base for owner in owners for base in program.library_bases(owner)]
    return any(name.startswith("keras.callbacks.") for name in bases)


def _steps(node: ast.expr, program: Program) -> bool:
    """Whether the same expression is told to apply gradients elsewhere in its file."""
    text = ast.unparse(node)
    return any(
        isinstance(each, ast.Attribute) and each.attr in _APPLYING and ast.unparse(each.value) == text
        for each in walk(program.unit(node).tree)
    )


def _is_second_parameter(node: ast.Name, program: Program) -> bool:
    """Whether a name is the rate that a schedule is given beside the epoch, by a library: nobody here calls it."""
    function = next((a for a in program.ancestors(node) if isinstance(a, ast.FunctionDef | ast.Lambda)), None)
    if function is None or program.calling(function):
        return False
    if isinstance(function, ast.FunctionDef) and function.name == "__init__":
        return False
    names = positional(function)
    bound = isinstance(program.parent(function), ast.ClassDef)
    return names[1 + bound :] == [node.id]


def settings(program: Program) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Where a rate is set, and to what."""
    for node in program.nodes(ast.AST):
        if isinstance(node, ast.Assign) and any(_is_rate(target, program) for target in node.targets):
            yield node, node.value
        elif isinstance(node, ast.Call):
            held, given = _set_to(node)
            if held is not None and given is not None and _is_rate(held, program):
                yield node, given


def _is_rate(node: ast.AST, program: Program) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _RATES and _is_optimizer(node.value, program)
