"""Makes two modules of a script: definitions that need none of its variables move to one that it imports."""

from __future__ import annotations

import ast
import builtins

from distml.source.bindings import bound_names

NAME = "apart_of_it"
"""The module that definitions move to."""


def split(text: str) -> tuple[str, str] | None:
    """The script and its new module; None where nothing can move.

    What moves are functions and classes at the top whose free names are imports, names of Python, and others that move.
    """
    tree = ast.parse(text)
    if any(isinstance(n, ast.ImportFrom) and any(a.name == "*" for a in n.names) for n in ast.walk(tree)):
        return None
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    bound = {name for node in imports for name in bound_names(node)}
    moving = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list
    }
    others = [node for node in tree.body if node not in moving.values()]
    changed = {name for node in others for name in bound_names(node)} - bound
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            changed |= set(node.names)
    known = bound | set(dir(builtins))
    while True:
        stays = [name for name, node in moving.items() if name in changed or not _free(node) <= known | set(moving)]
        if not stays:
            break
        for name in stays:
            del moving[name]
    used = {
        each.id
        for node in tree.body
        if node not in moving.values()
        for each in ast.walk(node)
        if isinstance(each, ast.Name)
    }
    if not moving or not used & set(moving):
        return None
    lines = text.splitlines(keepends=True)
    last = max((node.end_lineno or 0 for node in imports), default=0)
    first = min(node.lineno for node in moving.values())
    if first <= last or any("\\" in line for line in lines[:last]):
        return None
    parts = [_segment(lines, node) for node in imports] + ["\n\n"]
    for node in moving.values():
        parts += [_segment(lines, node), "\n\n"]
    gone = {n for node in moving.values() for n in range(node.lineno, (node.end_lineno or 0) + 1)}
    rest = [line for number, line in enumerate(lines, 1) if number not in gone]
    rest.insert(last, f"from {NAME} import {', '.join(moving)}\n")
    script, module = "".join(rest), "".join(parts)
    ast.parse(script)
    ast.parse(module)
    return script, module


def _segment(lines: list[str], node: ast.stmt) -> str:
    return "".join(lines[node.lineno - 1 : node.end_lineno])


def _free(node: ast.stmt) -> set[str]:
    """The names a definition reads that it does not bind, parameters and variables of inner scopes aside."""
    own = bound_names(node)
    top = {node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else set()
    read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    return (read - own) | (read & top)
