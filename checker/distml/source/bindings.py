"""Names in a piece of syntax: those that it binds, those of what it calls, and what they say of a container."""

from __future__ import annotations

import ast
from collections.abc import Iterator

MUTATORS = frozenset(
    "append appendleft extend extendleft insert pop popleft remove clear update setdefault add discard sort reverse"
    " rotate popitem".split()
)
"""Methods that change the container that they are asked of."""


def binds(node: ast.AST) -> Iterator[str]:
    """The names that `node` itself, without its children, binds in the scope it stands in."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.arg):
        yield node.arg


def bound_names(tree: ast.AST) -> frozenset[str]:
    """Every name that is bound anywhere in a tree."""
    return frozenset(name for node in ast.walk(tree) for name in binds(node))


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    """All parameters of a function."""
    args = function.args
    several = [each for each in (args.vararg, args.kwarg) if each]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *several]


def last_name(node: ast.expr) -> str:
    """The name by which an expression reaches its object: `f` of `f` and of `m.x().f`; empty for all else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def decorators(node: ast.AST) -> list[str]:
    """The last names of what decorates a function or class, innermost last."""
    found = getattr(node, "decorator_list", ())
    return [last_name(each.func if isinstance(each, ast.Call) else each) for each in found]
