"""What names are bound to: the words of the language under other names, aliases of types, and definitions out of reach."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy

from distml.choreo.facts import Facts
from distml.choreo.model import Module
from distml.choreo.read import BASES, CHANNELS, class_roles, function_roles, last, roles_in
from distml.choreo.surroundings import unquoted

_HOMES = ("distml.choreo", "distml.choreo.language")
_TYPES = {"At", *CHANNELS, *BASES}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def resolve(tree: ast.Module) -> None:
    """Call the words of the language by their own names, and write types out where they are used by an alias."""
    renamed = {
        each.asname: each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in _HOMES
        for each in node.names
        if each.asname is not None
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in renamed:
            node.id = renamed[node.id]
    aliases = _aliases(tree)
    if aliases or renamed:
        _write_out(tree, _Written(renamed, aliases))


def _aliases(tree: ast.Module) -> dict[str, ast.expr]:
    """The types of the language that have a name of their own at the top of the file, written out."""
    named: dict[str, ast.expr] = {}
    for name, value in _named(tree):
        whole = _Written({}, named).visit(deepcopy(value))  # one may be written with another
        if any(roles_in(whole)) or last(whole.value if isinstance(whole, ast.Subscript) else whole) in _TYPES:
            named[name] = whole
    return named


def _named(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        target, value = None, None
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign):
            target, value = node.target, node.value
        elif type(node).__name__ == "TypeAlias":  # from Python 3.12 on
            target, value = node.name, node.value  # type: ignore[attr-defined]
        if isinstance(target, ast.Name) and isinstance(value, ast.Subscript | ast.Name | ast.Attribute):
            yield target.id, value


def _write_out(tree: ast.Module, writer: _Written) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            node.annotation = writer.visit(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            node.returns = writer.visit(node.returns)
        elif isinstance(node, ast.ClassDef):
            node.bases = [writer.visit(each) for each in node.bases]


class _Written(ast.NodeTransformer):
    """Puts types in the places of their aliases, also inside of quotes."""

    def __init__(self, renamed: dict[str, str], aliases: dict[str, ast.expr]) -> None:
        self.renamed, self.aliases = renamed, aliases

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = self.renamed.get(node.id, node.id)
        found = self.aliases.get(name, ast.Name(name, node.ctx))
        return node if name == node.id and name not in self.aliases else self._placed(deepcopy(found), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return node if last(node.value) == "Literal" else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        inner = unquoted(node)
        if inner is None or inner is node:
            return node
        fresh: ast.expr = self.visit(inner)
        return self._placed(fresh, node)

    def _placed(self, fresh: ast.expr, node: ast.expr) -> ast.expr:
        for each in ast.walk(fresh):
            ast.copy_location(each, node)
        return fresh


def report_unseen(module: Module, facts: Facts) -> None:
    """Report each definition that names roles and is not followed: nothing is said of what is in it."""
    seen: set[ast.AST] = {each.node for each in module.functions.values()}
    for definition in module.classes.values():
        seen |= {definition.node, *(each.node for each in definition.methods.values())}
    for node, where in _definitions(module.tree, ""):
        if node not in seen and _names_roles(node, module):
            what = "a coroutine" if isinstance(node, ast.AsyncFunctionDef) else f"inside {where}"
            facts.say(
                "CHO402",
                node,
                f"`{node.name}` names roles, but is {what}: it is not checked, and has no projection",
                "write choreographies as functions and classes at the top of a file",
            )


def _definitions(node: ast.AST, where: str) -> Iterator[tuple[Definition, str]]:
    """All definitions, and inside what they stand."""
    for child in ast.iter_child_nodes(node):
        inner = where
        if isinstance(child, Definition):
            yield child, where or "an expression"
            inner = "a class without roles" if isinstance(child, ast.ClassDef) else "a function"
        elif isinstance(child, ast.stmt):
            inner = where or "a branch"
        yield from _definitions(child, inner)


def _names_roles(node: Definition, module: Module) -> bool:
    if isinstance(node, ast.ClassDef):
        fields = (each.annotation for each in node.body if isinstance(each, ast.AnnAssign))
        based = any(last(each.value if isinstance(each, ast.Subscript) else each) in BASES for each in node.bases)
        return based or bool(class_roles(node, module)) or any(any(roles_in(each)) for each in fields)
    return bool(function_roles(node))
