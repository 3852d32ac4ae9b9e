"""Makes two modules of a script: definitions that need none of its variables move to one that it imports."""

from __future__ import annotations

import ast
import builtins
from typing import TypeVar

from distml.source.bindings import bound_names

NAME = "apart_of_it"
"""The module that definitions move to."""
Node = TypeVar("Node", bound=ast.AST)
Definition = ast.FunctionDef | ast.ClassDef


def split(text: str) -> tuple[str, str] | None:
    """The script and its new module; None where nothing can move.

    What moves are functions and classes at the top whose free names are imports, names of Python, and others that move.
    """
    tree = ast.parse(text)
    if any(each.name == "*" for node in _all(tree, ast.ImportFrom) for each in node.names):
        return None
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    moving = _moving(tree, {name for node in imports for name in bound_names(node)})
    stay = [node for node in tree.body if node not in moving.values()]
    if not moving.keys() & {each.id for node in stay for each in _all(node, ast.Name)}:
        return None
    lines = text.splitlines(keepends=True)
    last = max((node.end_lineno or 0 for node in imports), default=0)
    first = min(node.lineno for node in moving.values())
    if first <= last or any("\\" in line for line in lines[:last]):
        return None
    made = _script(lines, last, moving), _module(lines, imports, moving)
    for each in made:
        ast.parse(each)
    return made


def _moving(tree: ast.Module, imported: set[str]) -> dict[str, Definition]:
    """The definitions that can move, by name."""
    found = {n.name: n for n in tree.body if isinstance(n, Definition) and not n.decorator_list}
    bound = {name for node in tree.body if node not in found.values() for name in bound_names(node)}
    changed = bound - imported | {name for node in _all(tree, ast.Global) for name in node.names}
    known = imported | set(dir(builtins))
    while stays := [name for name, node in found.items() if name in changed or not _free(node) <= known | set(found)]:
        for name in stays:
            del found[name]
    return found


def _script(lines: list[str], last: int, moving: dict[str, Definition]) -> str:
    """What is left, with an import of what moves behind the others."""
    gone = {number for node in moving.values() for number in range(node.lineno, (node.end_lineno or 0) + 1)}
    rest = [line for number, line in enumerate(lines, 1) if number not in gone]
    return "".join([*rest[:last], f"from {NAME} import {', '.join(moving)}\n", *rest[last:]])


def _module(lines: list[str], imports: list[ast.Import | ast.ImportFrom], moving: dict[str, Definition]) -> str:
    """The imports and what moves."""
    parts = [_segment(lines, node) for node in imports] + ["\n\n"]
    return "".join([*parts, *(f"{_segment(lines, node)}\n\n" for node in moving.values())])


def _all(tree: ast.AST, kind: type[Node]) -> list[Node]:
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


def _segment(lines: list[str], node: ast.stmt) -> str:
    return "".join(lines[node.lineno - 1 : node.end_lineno])


def _free(node: ast.stmt) -> set[str]:
    """The names a definition reads that it does not bind, parameters and variables of inner scopes aside."""
    own = bound_names(node)
    top = {node.name} if isinstance(node, Definition) else set()
    read = {each.id for each in _all(node, ast.Name) if isinstance(each.ctx, ast.Load)}
    return (read - own) | (read & top)
