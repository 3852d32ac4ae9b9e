"""The nodes of a piece of syntax, listed once."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Sequence

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LISTED, _OWN = "_nodes_of_distml", "_own_nodes_of_distml"
"""Where a node keeps the lists."""
_HOLDING: dict[type[ast.AST], tuple[str, ...]] = {ast.Name: (), ast.Constant: ()}
_BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {}
_OF_STATEMENTS = frozenset({"body", "handlers", "orelse", "finalbody", "cases"})


def walk(tree: ast.AST) -> Sequence[ast.AST]:
    """A node and all below it, level by level as `ast.walk` gives them. Contexts (`ast.Load`) are left out.

    What holds statements keeps its list: whoever asks must leave the tree as it is.
    """
    known: list[ast.AST] | None = tree.__dict__.get(_LISTED)
    if known is None:
        known = _kept(tree, _LISTED, children(tree))
        for node in known:  # which grows meanwhile
            known += children(node)
    return [tree, *known]


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements below a node, in the order of `walk`: without a look at expressions, which most nodes are."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        node = waiting.popleft()
        for name in _blocks(type(node)):
            waiting += getattr(node, name)
        if isinstance(node, ast.stmt) and node is not tree:
            yield node


def own_nodes_of(owner: ast.AST) -> Sequence[ast.AST]:
    """The nodes below one, without functions and classes in it, in the order of the text; lists are kept as by `walk`."""
    known: list[ast.AST] | None = owner.__dict__.get(_OWN)
    return _kept(owner, _OWN, [*_below(owner)]) if known is None else known


def _below(node: ast.AST) -> Iterator[ast.AST]:
    waiting = children(node)[::-1]
    while waiting:
        current = waiting.pop()
        if not isinstance(current, SCOPES):
            yield current
            waiting += children(current)[::-1]


def _kept(tree: ast.AST, where: str, found: list[ast.AST]) -> list[ast.AST]:
    """A list of nodes below one that holds statements, kept by it; without itself, so that it goes when nobody needs it."""
    if isinstance(getattr(tree, "body", None), list):
        tree.__dict__[where] = found
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, without contexts."""
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


def _blocks(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields in which nodes of a kind hold statements, or handlers and cases, which hold them."""
    if kind not in _BLOCKS:
        holds = not issubclass(kind, ast.expr | ast.Expression)
        _BLOCKS[kind] = tuple(each for each in kind._fields if holds and each in _OF_STATEMENTS)
    return _BLOCKS[kind]
