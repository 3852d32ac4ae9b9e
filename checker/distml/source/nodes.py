"""The nodes of a piece of syntax, listed once."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LISTED, _OWN = "_nodes_of_distml", "_own_nodes_of_distml"
"""Where a node keeps the lists."""
_HOLDING: dict[type[ast.AST], tuple[str, ...]] = {ast.Name: (), ast.Constant: ()}


def walk(tree: ast.AST) -> Sequence[ast.AST]:
    """A node and all below it, level by level as `ast.walk` gives them. Contexts (`ast.Load`) are left out.

    What holds statements keeps its list: whoever asks must leave the list and the tree as they are.
    """
    if _LISTED in tree.__dict__:
        known: list[ast.AST] = tree.__dict__[_LISTED]
        return known
    found = [tree]
    for node in found:  # which grows meanwhile
        found += _children(node)
    return _kept(tree, _LISTED, found)


def own_nodes_of(owner: ast.AST) -> Sequence[ast.AST]:
    """The nodes below one, without functions and classes in it, in the order of the text; lists are kept as by `walk`."""
    if _OWN in owner.__dict__:
        known: list[ast.AST] = owner.__dict__[_OWN]
        return known
    return _kept(owner, _OWN, list(_below(owner)))


def _below(node: ast.AST) -> Iterator[ast.AST]:
    waiting = [*_children(node)][::-1]
    while waiting:
        current = waiting.pop()
        if not isinstance(current, SCOPES):
            yield current
            waiting += [*_children(current)][::-1]


def _kept(tree: ast.AST, where: str, found: list[ast.AST]) -> list[ast.AST]:
    """A list of nodes, kept by what holds statements."""
    if isinstance(getattr(tree, "body", None), list):
        tree.__dict__[where] = found
    return found


def _children(node: ast.AST) -> Iterable[ast.AST]:
    """The nodes right below one."""
    found: list[ast.AST] = []
    for name in _fields(type(node)):
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields in which nodes of a kind can hold others."""
    if kind not in _HOLDING:
        _HOLDING[kind] = tuple(each for each in kind._fields if each != "ctx")
    return _HOLDING[kind]
