"""Functions that make the data of training and that of evaluation, told apart by a flag: `input_fn(True, files)`.

Points-to analysis does not tell the callers of a function apart. Where a parameter is a constant at every call, and what
the calls give is used for training with one value and for nothing but evaluation with others, its value says for which of
them a line of the function is run.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.purposes import TRAINING, purposes
from distml.source.nodes import walk
from distml.training.around import arms
from distml.training.callsites import argument_for, default_of
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in, stores

_DEEPEST = 3
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Mode:
    """A parameter of a function whose value says whether it is called for training."""

    def __init__(self, name: str, told: dict[str, bool]) -> None:
        self.name = name
        self.told = told
        """Whether a value, as `ast.dump` shows it, is given for training."""
        self.condition = ""
        """The expression that holds where it is."""

    def decides(self, test: ast.expr) -> bool | None:
        """Whether a condition holds in training; None where it says something else."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.decides(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.Name) and test.id == self.name:
            return self.condition == self.name
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == self.name:
            told = self.told.get(ast.dump(test.comparators[0]))
            if len(test.ops) == 1 and told is not None and isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.Is):
                return told != isinstance(test.ops[0], ast.NotEq)
        return None


def only_in_training(node: ast.AST, program: Program) -> str:
    """The condition under which a line serves training; nothing where it always does, or nobody can tell."""
    mode = mode_of(node, program)
    return mode.condition if mode is not None and in_training(node, mode, program) is None else ""


def never_trains(node: ast.AST, program: Program) -> bool:
    """Whether a line is run for evaluation only."""
    mode = mode_of(node, program)
    return mode is not None and in_training(node, mode, program) is False


def training_calls(function: Function, program: Program) -> list[ast.Call]:
    """The calls of a function whose results are trained on; none where nothing tells them from others."""
    found = {call: purposes(call, program) for call in program.calling(function)}
    told = all(found.values()) and any(TRAINING not in each for each in found.values())
    return [call for call, serves in found.items() if TRAINING in serves] if told else []


def mode_of(node: ast.AST, program: Program) -> Mode | None:
    """What tells training from evaluation in the functions around a node; None where nothing does, or nothing has to."""
    for function in program.ancestors(node):
        if isinstance(function, Function):
            for name in _parameters(function):
                found = _mode(function, name, program)
                if found is not None:
                    return found
    return None


def in_training(node: ast.AST, mode: Mode, program: Program) -> bool | None:
    """Whether a node is run in training only (True), never in training (False), or in either case (None)."""
    told = ((mode.decides(above.test), here) for above, here in arms(node, program))
    return next((holds == here for holds, here in told if holds is not None), None)


@remembered
def _mode(function: Function, name: str, program: Program) -> Mode | None:
    """A parameter as what tells training from evaluation, if it is a constant for both."""
    if any(stores(function, name)) or not _is_tested(function, name):
        return None
    told: dict[str, bool] = {}
    chosen: dict[str, ast.expr] = {}
    for call in program.calling(function):
        for value, outer in _values(call, function, name, program, _DEEPEST):
            trains = _trains(value, call, outer, program)
            if value is None or trains is None or told.setdefault(ast.dump(value), trains) != trains:
                return None
            if trains:
                chosen[ast.dump(value)] = value
    if len(chosen) != 1 or all(told.values()):
        return None
    mode = Mode(name, told)
    mode.condition = _condition(function, mode, next(iter(chosen.values())), program)
    return mode if mode.condition else None


def _is_tested(function: Function, name: str) -> bool:
    """Whether a function goes by a parameter: a condition asks for it."""
    tests = (each.test for each in walk(function) if isinstance(each, ast.If | ast.IfExp))
    return any(isinstance(each, ast.Name) and each.id == name for test in tests for each in walk(test))


def _trains(value: ast.expr | None, call: ast.Call, outer: tuple[ast.Call, ...], program: Program) -> bool | None:
    """Whether a call with a constant is made for training: by the constant of a library, else by what becomes of its result."""
    kinds = {name.rpartition(".")[2] for name in program.names(value) if ".ModeKeys." in name}
    if kinds or not isinstance(value, ast.Constant):
        return kinds == {"TRAIN"} if kinds else None
    found = purposes(call, program, outer)
    return TRAINING in found if found else None


def _values(
    call: ast.Call, function: Function, name: str, program: Program, depth: int
) -> list[tuple[ast.expr | None, tuple[ast.Call, ...]]]:
    """What a call gives for a parameter, and the calls around it that say so: where it hands on a parameter, its callers'."""
    value = _given(call, function, name, program)
    around = program.function(call)
    if not depth or not isinstance(value, ast.Name) or around is None or value.id not in _parameters(around):
        return [(value, ())]
    callers = [] if any(stores(around, value.id)) else program.calling(around)
    found = [
        (each, (*outer, caller))
        for caller in callers
        for each, outer in _values(caller, around, value.id, program, depth - 1)
    ]
    return found or [(value, ())]


def _parameters(function: Function) -> list[str]:
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def _condition(function: Function, mode: Mode, value: ast.expr, program: Program) -> str:
    """The expression that holds for this value, in the words of the function."""
    name = mode.name
    if isinstance(value, ast.Constant):
        return f"{name} == {value.value!r}" if isinstance(value.value, str) else name if value.value else f"not {name}"
    for node in nodes_in(function, ast.Compare):
        if isinstance(node.left, ast.Name) and node.left.id == name:
            if isinstance(node.ops[0], ast.Eq) and mode.told.get(ast.dump(node.comparators[0])):
                return ast.unparse(node)
    root = value
    while isinstance(root, ast.Attribute):
        root = root.value
    unit = program.unit(function)
    known = isinstance(root, ast.Name) and unit.lexical.owner(root.id, unit.tree) is not None
    return f"{name} == {ast.unparse(value)}" if known else ""


def _given(call: ast.Call, function: Function, name: str, program: Program) -> ast.expr | None:
    """What a call gives for a parameter, or what the function takes then."""
    return argument_for(call, function, name, program) or default_of(function, name)
