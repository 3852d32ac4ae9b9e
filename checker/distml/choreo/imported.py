"""What the imports of a file bind, and which of these names are constants of other files of the project.

A variable of another file is the same at each party only if that file shows it: it is set once, to a literal.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from distml.choreo.read import dotted
from distml.choreo.surroundings import defines
from distml.source.nodes import statements

if TYPE_CHECKING:
    from distml.source.file import SourceFile
    from distml.source.project import Project

DEPTH = 8
"""How many files a constant may pass through."""


class Bound(NamedTuple):
    """What an import binds a name to: a module, or the name `attribute` of it."""

    module: str
    level: int
    attribute: str = ""


class Names(NamedTuple):
    """What the imports of a file bind, what it imports with a star, and what the statements at its top define."""

    bound: dict[str, Bound]
    stars: list[Bound]
    defined: dict[str, ast.stmt]


def bindings(tree: ast.Module) -> Names:
    """What the statements of a file bind."""
    bound: dict[str, Bound] = {}
    stars = []
    for node in statements(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                first = each.name.partition(".")[0]
                bound[each.asname or first] = Bound(each.name if each.asname else first, 0)
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                module = Bound(node.module or "", node.level, each.name)
                if each.name == "*":
                    stars.append(module)
                else:
                    bound[each.asname or each.name] = module
    own = (node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom))
    return Names(bound, stars, {name: node for node in own for name in defines(node)})


def imported_names(tree: ast.Module, names: Names) -> set[str]:
    """The dotted names in a file that begin with what it imports."""
    found = {dotted(each) for each in ast.walk(tree) if isinstance(each, ast.Name | ast.Attribute)}
    return {each for each in found if each.partition(".")[0] in names.bound or (names.stars and "." not in each)} - {""}


def constant_of(
    project: Project, read: Callable[[SourceFile], Names], source: SourceFile, parts: tuple[str, ...], depth: int = 0
) -> SourceFile | None:
    """The other file that a dotted name is, or in which it is a constant, a class or a function; None where nothing shows
    that it is one of these.
    """
    names = read(source)
    if depth and parts and parts[0] in names.defined and len(parts) <= 2:
        return source if _is_constant(source.tree, parts[0], names.defined[parts[0]], len(parts) > 1) else None
    bound = [names.bound[parts[0]]] if parts and parts[0] in names.bound else []
    whole = [(each, (*each.module.split("."), *filter(None, [each.attribute]), *parts[1:])) for each in bound]
    whole += [] if bound else [(each, (*each.module.split("."), *parts)) for each in names.stars]
    for each, path in whole if depth < DEPTH else []:
        for length in range(len(path), 0, -1):  # the longest module counts
            target = project.resolve(source, ".".join(path[:length]), each.level)
            if target is not None and target is not source:
                rest = path[length:]
                return constant_of(project, read, target, rest, depth + 1) if rest else target  # a module
    return None


def _is_constant(tree: ast.Module, name: str, statement: ast.stmt, inside: bool) -> bool:
    if isinstance(statement, ast.ClassDef):
        return True
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return not inside
    several = sum(name in defines(each) for each in tree.body) > 1
    if several or inside or any(isinstance(each, ast.Global) and name in each.names for each in ast.walk(tree)):
        return False
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    try:
        return value is not None and isinstance(ast.literal_eval(value), str | bytes | int | float | tuple | None)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
