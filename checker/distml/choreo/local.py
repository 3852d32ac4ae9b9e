"""Which local code gives the same result wherever it is run with the same values.

Only such calls keep an agreement: two parties that hold the same list also hold the same length, but not the same time.
"""

from __future__ import annotations

import ast

from distml.choreo.model import Module
from distml.choreo.read import last

PURE = frozenset(
    "abs all any ascii bin bool bytes chr dict divmod enumerate float format frozenset hex int isinstance issubclass "
    "len list max min oct ord pow range repr reversed round set slice sorted str sum tuple type zip "
    "ValueError TypeError KeyError RuntimeError Exception AssertionError".split()
)
PURE_METHODS = frozenset(
    "append add extend insert pop remove clear sort reverse update setdefault discard get keys items values upper lower "
    "strip lstrip rstrip split join format startswith endswith encode decode count index copy find replace title "
    "bit_length hex digest hexdigest union intersection difference".split()
)

CHANGING = frozenset(
    "append appendleft add extend insert pop popleft popitem remove clear sort reverse update setdefault discard".split()
)


def is_pure(call: ast.Call, module: Module, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a call is known to depend on nothing but its arguments."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in PURE_METHODS
    name = last(call.func)
    if name in PURE or name in seen:
        return True
    for node in module.local:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return not any(isinstance(each, ast.FunctionDef) and each.name == "__init__" for each in node.body)
        if isinstance(node, ast.FunctionDef) and node.name == name:
            if changed(node) - {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}:
                return False
            inner = (each for each in ast.walk(node) if isinstance(each, ast.Call))
            return all(is_pure(each, module, seen | {name}) for each in inner)
    return False


def changed(function: ast.FunctionDef) -> set[str]:
    """The names whose values a local function changes in place: its parameters, or what was there before it."""
    own, found, outer = set(), set(), set()
    for each in ast.walk(function):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            own.add(each.id)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in CHANGING:
            found.add(_root(each.func.value))
        elif isinstance(each, ast.Subscript | ast.Attribute) and not isinstance(each.ctx, ast.Load):
            found.add(_root(each.value))
        elif isinstance(each, ast.Global | ast.Nonlocal):
            outer.update(each.names)
    return (found - own - {""}) | outer


def changed_by(call: ast.Call, module: Module) -> list[ast.expr]:
    """What a call changes in place: its object, or variables handed to a local function of the file that changes them."""
    if isinstance(call.func, ast.Attribute):
        return [call.func.value] if call.func.attr in CHANGING else []
    for node in module.local:
        if isinstance(node, ast.FunctionDef) and node.name == last(call.func):
            inside = changed(node)
            given = [(each.arg, value) for each, value in zip([*node.args.posonlyargs, *node.args.args], call.args)]
            given += [(each.arg or "", each.value) for each in call.keywords]
            return [value for name, value in given if name in inside and isinstance(value, ast.Name | ast.Attribute)]
    return []


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return last(node) if isinstance(node, ast.Name) else ""
