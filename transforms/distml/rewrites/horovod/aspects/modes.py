"""Functions that make the data of training and that of evaluation, told apart by a flag: `input_fn(True, files)`.

Points-to analysis does not tell the callers of a function apart. Where a parameter is a constant at every call, and names
what the data is for, its value says for which of them a line of the function is run.
"""

from __future__ import annotations

import ast
import re

from distml.training.callsites import argument_for
from distml.training.program import Program

_TRAINS = re.compile(r"train|shuffle|augment|distort", re.IGNORECASE)
_JUDGES = re.compile(r"eval|test|valid|\bval\b|_val\b|dev|predict|infer", re.IGNORECASE)
_DEEPEST = 3
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Mode:
    """A parameter of a function that says whether it is called for training."""

    def __init__(self, name: str, condition: str) -> None:
        self.name = name
        self.condition = condition
        """The expression that holds where it is."""

    def decides(self, test: ast.expr) -> bool | None:
        """Whether a condition holds in training; None where it says something else."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.decides(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.Name) and test.id == self.name:
            return self.condition == self.name
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == self.name:
            told = _told(test.comparators[0], self.name)
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
    """The calls of a function that ask for training; none where nothing tells them from others."""
    calls = program.calling(function)
    for name in _parameters(function):
        if _mode(function, name, calls, program) is not None:
            return [call for call in calls if _told(_given(call, function, name), name) is not False]
    return []


def mode_of(node: ast.AST, program: Program) -> Mode | None:
    """What tells training from evaluation in the functions around a node; None where nothing does, or nothing has to."""
    for function in program.ancestors(node):
        if isinstance(function, Function):
            calls = program.calling(function)
            for name in _parameters(function):
                found = _mode(function, name, calls, program)
                if found is not None:
                    return found
    return None


def in_training(node: ast.AST, mode: Mode, program: Program) -> bool | None:
    """Whether a node is run in training only (True), never in training (False), or in either case (None)."""
    below: ast.AST = node
    for above in program.ancestors(node):
        if isinstance(above, ast.If | ast.IfExp) and below is not above.test:
            holds = mode.decides(above.test)
            body = above.body if isinstance(above.body, list) else [above.body]
            if holds is not None:
                return holds == (below in body)
        below = above
    return None


def _mode(function: Function, name: str, calls: list[ast.Call], program: Program) -> Mode | None:
    """A parameter as what tells training from evaluation, if it is a constant for both."""
    values = [value for call in calls for value in _values(call, function, name, program, _DEEPEST)]
    told = [_told(value, name) for value in values]
    if None in told or True not in told or False not in told or _assigned(function, name):
        return None
    chosen = [value for value, trains in zip(values, told, strict=True) if trains and value is not None]
    if len({ast.dump(each) for each in chosen}) > 1:
        return None
    condition = _condition(function, name, chosen[0], program)
    return Mode(name, condition) if condition else None


def _values(call: ast.Call, function: Function, name: str, program: Program, depth: int) -> list[ast.expr | None]:
    """What a call gives for a parameter; where it hands on one of the function around it, what that is given."""
    value = _given(call, function, name)
    around = program.function(call)
    if not depth or not isinstance(value, ast.Name) or around is None or value.id not in _parameters(around):
        return [value]
    callers = [] if _assigned(around, value.id) else program.calling(around)
    return [found for each in callers for found in _values(each, around, value.id, program, depth - 1)] or [value]


def _parameters(function: Function) -> list[str]:
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def _told(value: ast.expr | None, name: str) -> bool | None:
    """Whether a value of a parameter stands for training."""
    if isinstance(value, ast.Constant) and isinstance(value.value, bool):
        if _JUDGES.search(name):
            return not value.value
        return value.value if _TRAINS.search(name) else None
    text = value.value if isinstance(value, ast.Constant) else value.attr if isinstance(value, ast.Attribute) else None
    if not isinstance(text, str) or not text.isidentifier() or (isinstance(value, ast.Attribute) and text.islower()):
        return None
    return False if _JUDGES.search(text) else True if "train" in text.lower() else None


def _condition(function: Function, name: str, value: ast.expr, program: Program) -> str:
    """The expression that holds for this value, in the words of the function."""
    if isinstance(value, ast.Constant):
        return f"{name} == {value.value!r}" if isinstance(value.value, str) else name if value.value else f"not {name}"
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == name:
            if isinstance(node.ops[0], ast.Eq) and _told(node.comparators[0], name):
                return ast.unparse(node)
    root = value
    while isinstance(root, ast.Attribute):
        root = root.value
    unit = program.unit(function)
    known = isinstance(root, ast.Name) and unit.lexical.owner(root.id, unit.tree) is not None
    return f"{name} == {ast.unparse(value)}" if known else ""


def _given(call: ast.Call, function: Function, name: str) -> ast.expr | None:
    """What a call gives for a parameter, or what the function takes then."""
    value = argument_for(call, function, name)
    if value is not None:
        return value
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    pairs = [
        *zip(reversed(positional), reversed(args.defaults), strict=False),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ]
    return next((value for arg, value in pairs if arg.arg == name), None)


def _assigned(function: Function, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(function))
