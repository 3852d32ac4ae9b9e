"""Input functions of estimators, divided among the ranks.

What is divided is what training takes, not what evaluation does: where both call one function, its result is divided
at the call that trains.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping

from distml.rewrites.horovod.aspects import tf_data
from distml.rewrites.horovod.aspects.modes import mode_of
from distml.rewrites.horovod.aspects.origins import wholes
from distml.rewrites.horovod.aspects.spelling import module_of
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.around import returned
from distml.training.callsites import argument, positional
from distml.training.program import Program
from distml.training.syntax import closure, is_given, nodes_in
from distml.training.values import Callable, Foreign

_ARRAYS = re.compile(r"tensorflow\.(compat\.v1\.)?estimator\.inputs\.(numpy|pandas)_input_fn")
_ITERATES = frozenset({"make_one_shot_iterator", "make_initializable_iterator"})
_FILLED = ("mode", "params", "config")
"""What an estimator gives to an input function that has such a parameter."""

_PART = Note(
    "every rank takes its part of the data",
    "ranks that process the same samples compute the same gradient",
    "shard-data",
)


def divide(plan: Plan, given: ast.expr, inputs: Mapping[ast.expr, bool]) -> bool:
    """Divide what an input function gives. False where it is not divided, and a step uses no more data than before.

    `inputs` are the input functions of all trainings, with whether the number of steps is given elsewhere.
    """
    program = plan.program
    arrays = _arrays_of(given, program)
    for node in arrays:
        if node not in plan.divided:
            plan.divided.add(node)
            _arrays(plan, node, all(counted for each, counted in inputs.items() if node in _arrays_of(each, program)))
    functions = [each for each in _functions(given, program) if not arrays or _alternative(each, program)]
    if arrays and not functions:
        return True
    made = [each for function in functions for each in _made(function, program)]
    larger = not all(tf_data.is_one(each, program) for each in made)
    if made and (not _shared(functions, program) or all(mode_of(each, program) for each in made)):
        found = [tf_data.shard(plan, each) for each in made]
        if all(found):
            return larger
    if larger and functions and all(_gives_dataset(function, program) for function in functions):
        for result in (each for function in functions for each in returned(function.node)):
            tf_data.in_order(plan, result)
        if not arrays:
            _wrapped(plan, given, inputs[given], _asked(functions[0], given, program))
            return True
        if not any(_reads(program, {function.node}, inputs) for function in functions):
            _inside(plan, functions, inputs)
            return True
    plan.warn(
        "HVD302",
        given,
        "cannot determine which data this input function returns; every rank may read the same data, and the rate is not scaled",
        "return each rank's part, for instance with `dataset.shard`, and multiply the rate by the number of ranks",
    )
    return False


def _origin(given: ast.expr, program: Program) -> list[ast.expr]:
    """What a variable was last given before it is read here, or what a parameter is given."""
    found = wholes(given, program)
    made = (each.node for each in program.of(given) if isinstance(each, Foreign))
    return found or [each for each in made if isinstance(each, ast.Call)] or [given]


def _inside(plan: Plan, functions: list[Callable], inputs: Mapping[ast.expr, bool]) -> None:
    """Divide the data sets that functions give where they give them; only training calls these functions."""
    for function in functions:
        counted = all(count for each, count in inputs.items() if function in _functions(each, plan.program))
        for result in (each for each in returned(function.node) if each not in plan.divided):
            plan.divided.add(result)
            plan.patch(result).wrap(result, _part(plan, result, counted), _PART)


def _arrays_of(given: ast.expr, program: Program) -> list[ast.Call]:
    """The calls that make an input function of arrays in memory."""
    calls = [node for node in _origin(given, program) if isinstance(node, ast.Call)]
    return [node for node in calls if program.matches(node.func, _ARRAYS)]


def _alternative(function: Callable, program: Program) -> bool:
    """Whether a function stands in a branch, so that it is not simply overwritten by what its name is given later."""
    return isinstance(program.parent(function.node), ast.If)


def _arrays(plan: Plan, call: ast.Call, counted: bool) -> None:
    """Arrays in memory: every n-th sample, all ranks equally many."""
    for name, position in (("x", 0), ("y", 1)):
        data = argument(call, position, name)
        if not is_given(data):
            continue
        parts = data.values if isinstance(data, ast.Dict) else [data]
        for part in parts:
            _sliced(plan, part, counted, isinstance(data, ast.Dict))


def _sliced(plan: Plan, data: ast.expr, counted: bool, inner: bool) -> None:
    world, patch = plan.world(data), plan.patch(data)
    end = "" if counted else f"len({ast.unparse(data)}) // {world.size} * {world.size}"
    part = f"[{world.rank}:{end}:{world.size}]"
    if not inner and _is_dict(data, plan.program):
        patch.wrap(data, f"{{key: value[{world.rank}::{world.size}] for key, value in {{}}.items()}}", _PART)
    else:
        patch.wrap(data, "{}" + part.replace(":" + ":", "::"), _PART)


def _is_dict(data: ast.expr, program: Program) -> bool:
    names = program.names(data)
    boxes = [getattr(value, "node", None) for value in program.of(data)]
    return "builtins.dict()" in names or any(isinstance(each, ast.Dict | ast.DictComp) for each in boxes)


def _functions(given: ast.expr, program: Program) -> list[Callable]:
    """The functions of the program that an input function is, or that a lambda or `partial` calls."""
    found = [value for value in program.of(given) if isinstance(value, Callable)]
    inner = []
    for value in found:
        if isinstance(value.node, ast.Lambda) and isinstance(value.node.body, ast.Call):
            inner += [v for v in program.of(value.node.body.func) if isinstance(v, Callable)]
        else:
            inner.append(value)
    return list(dict.fromkeys(inner))


def _made(function: Callable, program: Program) -> list[ast.expr]:
    """The datasets that a function gives, or that it takes its batch from."""
    if _gives_dataset(function, program):
        return returned(function.node)
    calls = [n for each in _reached([function], program) for n in nodes_in(each, ast.Call)]
    iterated = [c.func.value for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in _ITERATES]
    return iterated or returned(function.node)


def _shared(functions: list[Callable], program: Program) -> bool:
    """Whether others than this training read what these functions give, or what functions that they call give."""
    return _reads(program, _reached(functions, program)) > 1


def _reads(program: Program, reached: set[ast.AST], without: Container[ast.AST] = ()) -> int:
    """How often functions are named outside of them, and elsewhere than in `without`."""
    outside = 0
    for node in program.nodes(ast.AST):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and node not in without:
            used = {*program.functions(node)} & reached
            if used and not any(above in reached for above in program.ancestors(node)):
                outside += 1
    return outside


def _reached(functions: list[Callable], program: Program) -> set[ast.AST]:
    """Functions, and those that are called in them."""

    def called(function: ast.AST) -> Iterator[ast.AST]:
        return (each for call in nodes_in(function, ast.Call) for each in program.functions(call.func))

    return {*closure((each.node for each in functions), called)}


def _gives_dataset(function: Callable, program: Program) -> bool:
    return bool(returned(function.node)) and all(
        any(
            isinstance(v, Foreign) and v.name.startswith("tensorflow.data.") and "get_next" not in v.name
            for v in values
        )
        for values in (program.of(each) for each in returned(function.node))
    )


def _asked(function: Callable, given: ast.expr, program: Program) -> list[str]:
    """The parameters of an input function that an estimator fills in, without those that `partial` has filled."""
    names = positional(function.node)
    for call in _origin(given, program):
        if isinstance(call, ast.Call) and "functools.partial" in program.callee(call):
            names = names[len(call.args) - 1 :]
            names = [each for each in names if each not in {keyword.arg for keyword in call.keywords}]
    return [each for each in names if each in _FILLED and isinstance(given, ast.Name | ast.Attribute)]


def _wrapped(plan: Plan, given: ast.expr, counted: bool, asked: list[str]) -> None:
    """Divide the data set that a function gives where training asks for it: among its batches.

    `asked` are the parameters that the estimator fills in. Where the number of steps is not given, all ranks end with the
    one that has the fewest.
    """
    patch = plan.patch(given)
    if isinstance(given, ast.Lambda):
        patch.wrap(given.body, _part(plan, given, counted), _PART)
        return
    made = f"{{}}({', '.join(f'{name}={name}' for name in asked)})"
    part = _part(plan, given, counted).replace("{}", made)
    patch.wrap(given, f"lambda {', '.join(asked)}: {part}".replace("lambda :", "lambda:"), _PART)


def _part(plan: Plan, node: ast.expr, counted: bool) -> str:
    """A rank's part of the data set that stands for `{}`."""
    world = plan.world(node)
    if counted:
        return f"{{}}.shard({world.size}, {world.rank})"
    module = module_of(node, plan.program).removesuffix(".compat.v1")
    parts = f"{module}.data.Dataset.zip(parts if parts[1:] else parts[0]).skip({world.rank}).take(1)"
    return f"{{}}.window({world.size}, drop_remainder=True).flat_map(lambda *parts: {parts})"
