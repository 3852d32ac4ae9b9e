"""What removing code does to the names around it.

A name that is assigned anywhere in a function is local to all of it, a `global` or `nonlocal` statement
speaks for all of it, and one `yield` makes it a generator: also where that code is never reached. So code
may be dead and still mean something.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from distml.source.bindings import arguments, binds
from distml.source.nodes import walk

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Owners = dict[str, set[int | None]]
NOTHING: frozenset[str] = frozenset()


@dataclass
class _Scope:
    """One function or class. Each name maps to the removals it stands in; None among them is code that stays."""

    node: ast.AST
    bound: Owners = field(default_factory=lambda: defaultdict(set))
    declared: Owners = field(default_factory=lambda: defaultdict(set))
    yields: set[int | None] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    used_inside: set[str] = field(default_factory=set)

    @property
    def free(self) -> set[str]:
        """The names whose meaning comes from outside."""
        outer = {name for name, owners in self.declared.items() if None in owners}
        if isinstance(self.node, ast.ClassDef):
            return (self.used - set(self.bound)) | self.used_inside | outer
        return ((self.used | self.used_inside) - set(self.bound)) | outer


class Scopes:
    """Reads a tree in which some nodes are to be removed: `dead` maps them to the number of the removal."""

    def __init__(self, dead: Mapping[ast.AST, int]) -> None:
        self._dead = dead
        self.problems: list[tuple[int, str]] = []

    def read(self, module: ast.Module) -> list[tuple[int, str]]:
        """The removals that would change what stays, each with the reason."""
        self._visit_all(module, _Scope(module), None, NOTHING)
        return self.problems

    def _visit(self, node: ast.AST, scope: _Scope, owner: int | None, hidden: frozenset[str]) -> None:
        if owner is None:
            owner = self._dead.get(node)
        if isinstance(node, Function | ast.ClassDef):
            self._definition(node, scope, owner, hidden)
            return
        if isinstance(node, Comprehension):
            hidden |= {n.id for part in node.generators for n in walk(part.target) if isinstance(n, ast.Name)}
        for name in binds(node):
            if name not in hidden:
                scope.bound[name].add(owner)
        if isinstance(node, ast.Global | ast.Nonlocal):
            for name in node.names:
                scope.declared[name].add(owner)
        elif isinstance(node, ast.Yield | ast.YieldFrom):
            scope.yields.add(owner)
        elif isinstance(node, ast.Name) and owner is None and node.id not in hidden:
            scope.used.add(node.id)
        self._visit_all(node, scope, owner, hidden)

    def _visit_all(self, node: ast.AST, scope: _Scope, owner: int | None, hidden: frozenset[str]) -> None:
        for child in ast.iter_child_nodes(node):
            self._visit(child, scope, owner, hidden)

    def _definition(
        self, node: Function | ast.ClassDef, scope: _Scope, owner: int | None, hidden: frozenset[str]
    ) -> None:
        if not isinstance(node, ast.Lambda):
            scope.bound[node.name].add(owner)
        inner = _Scope(node)
        for child, inside in _parts(node):
            if isinstance(child, ast.arg):
                inner.bound[child.arg].add(None)
            else:
                self._visit(child, inner if inside else scope, owner, hidden if not inside else NOTHING)
        if owner is None:
            scope.used_inside |= inner.free - hidden
            self._judge(inner)

    def _judge(self, scope: _Scope) -> None:
        name = getattr(scope.node, "name", "the lambda")
        kept = {n for n, owners in scope.bound.items() if None in owners}
        read = scope.used if isinstance(scope.node, ast.ClassDef) else scope.used | scope.used_inside
        for lost, owners in scope.bound.items():
            if lost not in kept and lost in read and lost not in scope.declared:
                self._report(owners, f"`{lost}` is used in the rest of `{name}` and would no longer be its local name")
        for lost, owners in scope.declared.items():
            if None not in owners and lost in read | kept:
                self._report(owners, f"the declaration of `{lost}` holds for the rest of `{name}` too")
        if scope.yields and None not in scope.yields:
            self._report(scope.yields, f"without its `yield`, `{name}` would no longer be a generator")

    def _report(self, owners: set[int | None], reason: str) -> None:
        self.problems += [(owner, reason) for owner in owners if owner is not None]


def _parts(node: Function | ast.ClassDef) -> Iterator[tuple[ast.AST, bool]]:
    """The children of a definition, and whether they belong to its own scope."""
    if isinstance(node, ast.ClassDef):
        outside: list[ast.AST] = [*node.decorator_list, *node.bases, *node.keywords]
    else:
        outside = [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]
        if not isinstance(node, ast.Lambda):
            outside += [*node.decorator_list, *([node.returns] if node.returns else [])]
        for argument in arguments(node):
            yield argument, True
            outside += [argument.annotation] if argument.annotation else []
    yield from ((child, False) for child in outside)
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    yield from ((child, True) for child in [*getattr(node, "type_params", []), *body])
