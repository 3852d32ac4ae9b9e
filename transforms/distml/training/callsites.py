"""Calls as they are written: under which name something is called, and what is given for which parameter."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from distml.source.nodes import walk
from distml.training.counting import BARS, COUNTS, RANGES
from distml.training.remembered import remembered
from distml.training.store import ANY
from distml.training.syntax import nodes_in, targets_of
from distml.training.values import NOTHING, Box, Class, Foreign, Function, Values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distml.training.program import Program
    from distml.training.unit import Unit

_PAIRING = frozenset({"enumerate", "zip"})
_DEEPEST = 4


def called(call: ast.AST | None, program: Program) -> str:
    """The last part of the path of what is called: `tqdm` for `from tqdm import tqdm as bar`; nothing for the program's own,
    and for what is no call.

    A method of something nobody knows is called what is written.
    """
    if not isinstance(call, ast.Call):
        return ""
    paths = {v.name.rpartition(".")[2] for v in program.of(call.func) if isinstance(v, Foreign)}
    if known := sorted(path for path in paths if not path.startswith("?")):
        return known[0]
    if isinstance(call.func, ast.Attribute):
        return "" if program.of(call.func) and not paths else call.func.attr
    return "" if program.of(call.func) or not isinstance(call.func, ast.Name) else _unbound(call.func, program)


def _unbound(node: ast.Name, program: Program) -> str:
    """A name that nothing in its file binds: a library brings it by `import *`, or Python has it."""
    lexical = program.unit(node).lexical
    return node.id if lexical.owner_at(node.id, node) is None else ""


def stored(place: ast.Name | ast.Attribute, program: Program) -> Iterator[ast.expr]:
    """What simple statements give a variable, or an attribute by its name in the module."""
    unit = program.unit(place)
    owner = unit.lexical.owner_at(place.id, place) if isinstance(place, ast.Name) else None
    yield from _stored(owner or unit.tree, unit).get(ast.unparse(place), ())


@remembered
def _stored(owner: ast.AST, unit: Unit) -> dict[str, list[ast.expr]]:
    """What simple statements in a scope give each variable and attribute."""
    found: dict[str, list[ast.expr]] = {}
    for node in walk(owner):
        targets = targets_of(node)
        targets += [node.optional_vars] if isinstance(node, ast.withitem) and node.optional_vars else []
        value = getattr(node, "value", None) or getattr(node, "context_expr", None)
        if isinstance(value, ast.expr):
            for text in {ast.unparse(each) for each in targets}:
                found.setdefault(text, []).append(value)
    return found


def iterated(node: ast.expr, program: Program) -> ast.expr:
    """What a loop goes through, without progress bars around it, and where that has a name of its own."""
    for _ in range(_DEEPEST):
        if isinstance(node, ast.Call) and called(node, program) in BARS and node.args:
            node = node.args[0]
            continue
        made = [*stored(node, program)] if isinstance(node, ast.Name | ast.Attribute) else []
        if len(made) != 1 or called(made[0], program) not in BARS | _PAIRING:
            break
        node = made[0]
    return node


def is_range(node: ast.AST | None, program: Program) -> TypeGuard[ast.Call]:
    """Whether something counts up to an end that it is given; a data set of numbers is data."""
    return called(node, program) in RANGES and not any(".data." in name for name in program.callee(node))


def asks_for_items(loop: ast.AST, program: Program) -> bool:
    """Whether a loop goes through no data, but may ask for it: `while`, or `for step in range(...)`."""
    through = loop.iter if isinstance(loop, ast.For) else None
    return isinstance(loop, ast.While) or called(through, program) in COUNTS


def draws(node: ast.AST) -> bool:
    """Whether an expression takes the next item of an iterator: `next(batches)`, `batches.next()`."""
    calls = list(nodes_in(node, ast.Call))
    own = (each.func.attr for each in calls if isinstance(each.func, ast.Attribute) and not each.args)
    return any(ast.unparse(each.func) in ("next", "anext") for each in calls) or bool({"next", "__next__"} & {*own})


def argument(call: ast.Call, position: int, *names: str) -> ast.expr | None:
    """An argument by any of its names, or else by position (none for -1); None where it is not given, or by `*` or `**`."""
    for keyword in call.keywords:
        if keyword.arg in names:
            return keyword.value
    plain = not any(isinstance(each, ast.Starred) for each in call.args[: position + 1])
    return call.args[position] if 0 <= position < len(call.args) and plain else None


def argument_for(call: ast.Call, function: Function, name: str, program: Program) -> ast.expr | None:
    """What a call gives for a parameter of the function of the program that it calls, by keyword or place."""
    names = positional(function)
    at = names.index(name) - takes_receiver(call, function, program) if name in names else -1
    return argument(call, at, name)


def given_by(call: ast.Call, function: Function, program: Program) -> dict[str, ast.expr]:
    """What a call gives for the parameters of a function of the program, by keyword or place, as far as it is written out."""
    names = positional(function)[takes_receiver(call, function, program) :]
    return dict(zip(names, call.args, strict=False)) | {each.arg: each.value for each in call.keywords if each.arg}


def default_of(function: Function, name: str) -> ast.expr | None:
    """What a function takes for a parameter that is not given."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    pairs = [
        *zip(reversed(positional), reversed(args.defaults), strict=False),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ]
    return next((value for arg, value in pairs if arg.arg == name), None)


def takes_receiver(call: ast.Call, function: Function, program: Program) -> bool:
    """Whether the first parameter of a method is not among the arguments of a call: the object it is called on."""
    if isinstance(function, ast.Lambda) or not isinstance(program.parent(function), ast.ClassDef):
        return False
    marked = {each.id for each in function.decorator_list if isinstance(each, ast.Name)}
    through_class = isinstance(call.func, ast.Attribute) and any(
        isinstance(value, Class) for value in program.of(call.func.value)
    )
    return "staticmethod" not in marked and (not through_class or "classmethod" in marked)


def settings_of(call: ast.Call, program: Program) -> tuple[list[tuple[ast.Call, ast.expr]], bool]:
    """The calls that say how a function of a library is called here, each with the function, and whether no others may.

    They are those of `functools.partial` that made the function, which is their first argument, else the call itself.
    """
    made = [value.node for value in program.of(call.func) if isinstance(value, Foreign)]
    calls = [each for each in made if isinstance(each, ast.Call)]
    configured = [each for each in calls if each.args and "functools.partial" in program.names(each.func)]
    if not configured:
        return [(call, call.func)], True
    return [(each, each.args[0]) for each in configured], all(each in configured for each in made)


def told(call: ast.Call, name: str, program: Program) -> Values | None:
    """What a call may give for a parameter by its name, also by `**` or `functools.partial`; None where that is unknown."""
    given: list[Values] = []
    for each in {call, *(made for made, _ in settings_of(call, program)[0])}:
        given += [program.of(keyword.value) for keyword in each.keywords if keyword.arg == name]
        for spread in (program.of(keyword.value) for keyword in each.keywords if keyword.arg is None):
            boxes = [value for value in spread if isinstance(value, Box)]
            given += [program.store.item(box, name) for box in boxes if {name, ANY} & program.store.keys(box)]
            if not boxes or len(boxes) < len(spread):
                return None
    return NOTHING.union(*given) if all(given) else None


def option_name(spellings: list[str], dest: str = "") -> str:
    """The attribute in which argparse keeps an option that is spelled so: `--batch-size` is `batch_size`."""
    flags = [each.lstrip("-") for each in spellings]
    first = next((each for each in flags if len(each) > 1), flags[0] if flags else "")
    return (dest or first).replace("-", "_")


def positional(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """The parameters of a function that are given by place."""
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args)]


_MOVES = frozenset("to cuda cpu type type_as float double half bfloat16 clone detach contiguous".split())
"""The methods by which a tensor is the same elsewhere, or in another type."""


def unmoved(node: ast.expr) -> ast.expr:
    """What a tensor is moved from, to another device or into another type."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES:
        node = node.func.value
    return node
