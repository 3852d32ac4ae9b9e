"""The order in which a set gives its items: strings are hashed anew in each process, so that no two ranks agree on it.

A program that numbers its words by `list(set(words))` would give each rank numbers of its own.
https://docs.python.org/3/reference/datamodel.html#object.__hash__
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.origins import origins
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.callsites import argument, argument_for, called, positional
from distml.training.program import Program
from distml.training.values import Constant, Instance

_NOTE = Note(
    "the items of a set in one order on every rank",
    "string hashes differ between processes: ranks would number words and classes differently and train one model on both",
    "set-order",
)
_KEEPING = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.enumerate", "builtins.zip", "builtins.dict.fromkeys"}
)
"""What keeps the order in which it is given items."""
_GENERATORS = re.compile(r"numpy\.random\.(default_rng|RandomState|PCG64|MT19937|Philox|SFC64)|random\.Random")
"""What makes a generator, which begins anywhere unless it is given a seed."""
_FORGETTING = frozenset(
    f"builtins.{name}" for name in ("sorted", "set", "frozenset", "len", "sum", "min", "max", "any", "all", "print")
)
_NUMBERS = frozenset(
    f"{library}.{name}"
    for library, names in {
        "builtins": "range len int float round",
        "numpy": "where nonzero flatnonzero arange linspace digitize searchsorted bincount"
        " argwhere argmax argmin argsort argpartition",
        "numpy.random": "randint rand randn permutation",
        "random": "randint randrange random",
    }.items()
    for name in names.split()
)
"""What gives numbers, whose hashes are the same in each process."""
_JOINED = frozenset({"union", "intersection", "difference", "symmetric_difference"})


def alike(plan: Plan) -> None:
    """Sort the items of sets where the program goes by their order."""
    for location, unit in plan.program.units.items():
        for node in walk(unit.tree) if location in plan.editable else ():
            for given in _ordered(node, plan.program):
                if _is_set(given, plan.program):
                    plan.patch(given).wrap(
                        given, "sorted({}, key=repr)" if _mixed(given, plan.program) else "sorted({})", _NOTE
                    )


def makes_generator(call: ast.Call, program: Program) -> bool:
    """Whether a call makes a generator of random numbers of its own."""
    return program.matches(call.func, _GENERATORS)


def is_unseeded(call: ast.Call, program: Program) -> bool:
    """Whether a call makes a generator that begins elsewhere in each process."""
    if not makes_generator(call, program) or any(keyword.arg is None for keyword in call.keywords):
        return False
    given = argument(call, 0, "seed", "x")
    values = program.of(given)
    return given is None or (bool(values) and all(value == Constant(None) for value in values))


def _ordered(node: ast.AST, program: Program) -> list[ast.expr]:
    """The expressions that a node takes items from, in order, so that it matters."""
    if isinstance(node, ast.Call) and program.callee(node) & _KEEPING:
        return [] if _forgotten(node, program) else node.args
    if isinstance(node, ast.For) and _collects(node, program):
        return [node.iter]
    if isinstance(node, ast.ListComp) and not _forgotten(node, program):
        return [each.iter for each in node.generators]
    return []


def _forgotten(node: ast.expr, program: Program) -> bool:
    """Whether what is made of the items does not keep their order: it is sorted, counted, printed."""
    parent = program.parent(node)
    if isinstance(parent, ast.Call) and node in parent.args and program.names(parent.func) & _FORGETTING:
        return True
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        return any(
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and each.func.attr == "sort"
            and isinstance(each.func.value, ast.Name)
            and each.func.value.id == name
            for each in walk(program.function(node) or program.unit(node).tree)
        )
    return False


def _collects(loop: ast.For, program: Program) -> bool:
    """Whether a loop puts something somewhere in each turn."""
    return any(
        (isinstance(each, ast.Assign) and any(isinstance(target, ast.Subscript) for target in each.targets))
        or (called(each, program) in ("append", "write", "extend"))
        for each in walk(loop)
    )


def _is_set(node: ast.expr, program: Program) -> bool:
    """Whether an expression is a set, as written or as assigned."""
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    if isinstance(node, ast.Call):
        if program.names(node.func) & {"builtins.set", "builtins.frozenset"}:
            return not any(_holds_tensors(each, program) or _holds_numbers(each, program, 4) for each in node.args)
        inner = node.func.value if isinstance(node.func, ast.Attribute) and called(node, program) in _JOINED else None
        return inner is not None and _is_set(inner, program)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub) and _is_set(node.left, program)
    if isinstance(node, ast.Name | ast.Attribute):
        found = origins(node, program)
        return bool(found) and all(each.whole and _is_set(each.value, program) for each in found)
    return False


def _mixed(node: ast.expr, program: Program) -> bool:
    """Whether a set holds what cannot be compared with each other: constants of several types, objects of the program."""
    held = program.held(program.of(node))
    kinds = {type(each.value) for each in held if isinstance(each, Constant)}
    return len(kinds) > 1 or any(isinstance(each, Instance) for each in held)


def _holds_tensors(node: ast.expr, program: Program) -> bool:
    """Whether what a set is made of are parameters or tensors, which have no order of their own."""
    if called(node, program) in ("parameters", "named_parameters"):
        return True
    return any(name.startswith(("torch.", "tensorflow.", "keras.")) for name in program.names(node))


def _holds_numbers(node: ast.expr, program: Program, depth: int) -> bool:
    """Whether what a set is made of, or one of its items, is certainly made of numbers."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.Subscript):
        return _holds_numbers(node.value, program, depth)
    if isinstance(node, ast.List | ast.Tuple):
        return bool(node.elts) and all(_holds_numbers(each, program, depth) for each in node.elts)
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return _holds_numbers(node.elt, program, depth)
    if isinstance(node, ast.Call):
        return bool(program.callee(node) & _NUMBERS)
    given = [*_given(node, program)] if isinstance(node, ast.Name) and depth else []
    return bool(given) and all(each is not None and _holds_numbers(each, program, depth - 1) for each in given)


def _given(name: ast.Name, program: Program) -> Iterator[ast.expr | None]:
    """What a variable is set to, or a parameter is given by the calls of its function."""
    for each in origins(name, program):
        yield each.value if each.whole else None
    owner = program.function(name)
    if isinstance(owner, ast.FunctionDef) and name.id in positional(owner):
        yield from (argument_for(call, owner, name.id, program) for call in program.calling(owner))
