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
            inner = (each for each in ast.walk(node) if isinstance(each, ast.Call))
            return all(is_pure(each, module, seen | {name}) for each in inner)
    return False
