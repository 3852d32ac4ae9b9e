"""The one walk over the tree of a module: where its code binds, changes, calls and hands on, and in which function.

What a module's text says is read off these lists (`interp/module_facts`), so that a module costs one walk, however many
questions are asked and files import it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LISTING = frozenset({"_modules", "get_submodule", "named_children", "named_modules"})
"""What goes through the modules that a module holds, with their names."""


@dataclass(slots=True, eq=False)
class Place:
    """The scope that code stands in: a module, the body of a class, a function.

    A method has its class (`owner`) and the name of its `self` (`receiver`). What is defined in a method has them too, but
    no `method`, since it may run at any later time.
    """

    outer: Place | None = None
    node: ast.AST | None = None
    owner: ast.ClassDef | None = None
    receiver: str | None = None
    method: str = ""
    lists_modules: bool = False

    @property
    def in_function(self) -> bool:
        """Whether the code runs when a function is called, and not with the module."""
        place: Place | None = self
        while place is not None:
            if isinstance(place.node, _FUNCTIONS):
                return True
            place = place.outer
        return False

    @property
    def by_module(self) -> bool:
        """Whether the function, or one around it, goes through modules by name."""
        if self.lists_modules or self.outer is None or self.method:
            return self.lists_modules
        return self.outer.by_module

    def inside(self, node: ast.AST) -> Place:
        """The place that a function or class opens."""
        if isinstance(node, ast.ClassDef):
            return Place(self, node)
        if isinstance(node, ast.Lambda) or not isinstance(self.node, ast.ClassDef):
            return Place(self, node, self.owner, self.receiver)
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
        static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
        return Place(self, node, self.node, None if first is None or static else first.arg, node.name)

    def noted_listing(self) -> None:
        """Code here goes through modules by name, so each function around it does."""
        self.lists_modules = True
        place = self.outer
        while place is not None:
            place.lists_modules |= isinstance(place.node, _FUNCTIONS)
            place = place.outer


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Sites:
    """Nodes of a module by their kind, each with its place. Attributes are those that are set or deleted."""

    def __init__(self) -> None:
        self._found: dict[type, list[tuple[Any, Place]]] = {kind: [] for kind in _KEPT}

    def of(self, *kinds: type[ast.AST]) -> Iterator[tuple[Any, Place]]:
        """The nodes of some kinds."""
        return chain.from_iterable(self._found[kind] for kind in kinds)

    def note(self, kind: type, node: ast.AST, place: Place) -> None:
        """Keep a node, if it is of a kind that is kept."""
        if kind is ast.Attribute:
            assert isinstance(node, ast.Attribute)
            if node.attr in LISTING:
                place.noted_listing()
            if type(node.ctx) is ast.Load:
                return
        if kind in self._found:
            self._found[kind].append((node, place))


HANDING_ON = (
    *(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return, ast.Yield, ast.YieldFrom, ast.Lambda),
    *(ast.For, ast.AsyncFor, ast.comprehension, ast.Subscript),
)
"""What hands a value on, or its items."""
_KEPT = (
    *HANDING_ON,
    ast.Attribute,
    ast.AugAssign,
    ast.Call,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Global,
    ast.Nonlocal,
)
_SAYING_WHICH = frozenset({"ctx", "op", "ops"})
"""Fields of nodes that only tell what kind of node it is."""
_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _SAYING_WHICH)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
_WITH_PARTS = frozenset(_FIELDS) - {ast.Name, ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.alias}
_OPENING = frozenset({*_FUNCTIONS, ast.ClassDef})


def sites_in(tree: ast.Module) -> Sites:
    """Walk a module once."""
    sites = Sites()
    waiting: list[tuple[ast.AST, Place]] = [(tree, Place())]
    while waiting:
        node, place = waiting.pop()
        kind = type(node)
        inner = place.inside(node) if kind in _OPENING else place
        sites.note(kind, node, inner if kind is ast.Lambda else place)
        for name in _FIELDS[kind]:
            value = getattr(node, name, None)
            where = inner if name == "body" else place
            parts: Iterable[Any] = value if type(value) is list else (value,)
            waiting.extend([(part, where) for part in parts if type(part) in _WITH_PARTS])
    return sites
