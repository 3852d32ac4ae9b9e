"""Where each name of a module is bound: Python's scoping rules over its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from weakref import WeakKeyDictionary

from distml.source.bindings import arguments, binds
from distml.source.file import SourceFile
from distml.source.nodes import walk

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Lexical:
    """Parents of nodes and scopes of names in one module.

    A comprehension is no scope of its own here: its variables belong to the scope around it, which is too wide and
    never wrong about what they can hold.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.parents: dict[ast.AST, ast.AST] = {}
        self._bound: dict[ast.AST, set[str]] = {tree: set()}
        self._scopes: dict[ast.AST, Scope] = {}
        self._owners: dict[tuple[str, Scope, bool], Scope | None] = {}
        self._declared: dict[ast.AST, dict[str, type[ast.Global | ast.Nonlocal]]] = {}
        self._unquoted: dict[ast.expr, ast.expr | None] = {}
        self._collect(tree, tree)

    def _collect(self, tree: ast.AST, scope: ast.AST) -> None:
        waiting: list[tuple[ast.AST, ast.AST]] = [(child, scope) for child in ast.iter_child_nodes(tree)]
        self.parents.update(dict.fromkeys((child for child, _ in waiting), tree))
        while waiting:
            node, scope = waiting.pop()
            self._note(node, scope)
            inner = node if isinstance(node, _SCOPES) else scope
            if inner is node:
                self._bound.setdefault(node, set())
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                waiting.append((child, inner if inner is not node or _inside(node, child) else scope))
        for within, declared in self._declared.items():  # one that is only read may come from `from ... import *`
            own = {name for name, kind in declared.items() if kind is ast.Global}
            self._bound[self.tree] |= own & self._bound.get(within, set())

    def _note(self, node: ast.AST, scope: ast.AST) -> None:
        if isinstance(node, ast.Global | ast.Nonlocal):
            self._declared.setdefault(scope, {}).update(dict.fromkeys(node.names, type(node)))
        elif not isinstance(node, ast.arg):
            self._bound.setdefault(scope, set()).update(binds(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            self._bound.setdefault(node, set()).update(each.arg for each in arguments(node))

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        while (above := self.parents.get(node)) is not None:
            yield above
            node = above

    def scope(self, node: ast.AST) -> Scope:
        """The scope a node is evaluated in. Decorators, defaults and bases belong to the scope around the definition."""
        found = self._scopes.get(node)
        if found is None:
            found = self._scopes[node] = self._scope(node)
        return found

    def _scope(self, node: ast.AST) -> Scope:
        for above in self.ancestors(node):
            if isinstance(above, _SCOPES) and (isinstance(above, ast.Module) or _inside(above, node)):
                return above
            node = above
        return self.tree

    def owner(self, name: str, scope: Scope, writing: bool = False) -> Scope | None:
        """The scope whose variable `name` is when it stands in `scope`; None for a name that nothing binds."""
        key = (name, scope, writing)
        if key not in self._owners:
            self._owners[key] = self._owner(name, scope, writing)
        return self._owners[key]

    def owner_at(self, name: str, node: ast.AST, writing: bool = False) -> Scope | None:
        """The scope whose variable `name` is where a node stands."""
        return self.owner(name, self.scope(node), writing)

    def _owner(self, name: str, scope: Scope, writing: bool) -> Scope | None:
        current: Scope | None = scope
        first = True
        while current is not None:
            declared = self._declared.get(current, {}).get(name)
            if declared is ast.Global:
                return self.tree if writing or name in self._bound[self.tree] else None
            if declared is None and name in self._bound[current]:
                if first or not isinstance(current, ast.ClassDef):
                    return current
            first = False
            current = None if isinstance(current, ast.Module) else self.scope(current)
        return self.tree if writing else None

    def unquoted(self, annotation: ast.expr, text: str, function: ast.AST) -> ast.expr | None:
        """An annotation of a function that is written as a string, read; None where it is no expression."""
        if annotation not in self._unquoted:
            self._unquoted[annotation] = None
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                read = self._unquoted[annotation] = ast.parse(text, mode="eval").body
                self.parents.update(dict.fromkeys(walk(read), function))
        return self._unquoted[annotation]

    def names(self, scope: Scope) -> set[str]:
        """The names a scope binds."""
        return self._bound[scope]


_known: WeakKeyDictionary[SourceFile, Lexical] = WeakKeyDictionary()


def lexical_of(source: SourceFile) -> Lexical:
    """The scopes of a file, made once. Raises `UnreadableError` where it does not parse."""
    if source not in _known:
        _known[source] = Lexical(source.tree)
    return _known[source]


def _inside(scope: ast.AST, child: ast.AST) -> bool:
    """Whether a child of a definition is evaluated in the definition's own scope."""
    if isinstance(scope, ast.Lambda):
        return child is scope.body
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return child is not scope.args and child not in scope.decorator_list and child is not scope.returns
    if isinstance(scope, ast.ClassDef):
        return child not in scope.decorator_list and child not in scope.bases and child not in scope.keywords
    return True
