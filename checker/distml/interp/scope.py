"""Scopes: which names a function, class or module binds itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.source.bindings import MUTATORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distml.interp.sites import Sites

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
"""What opens a scope of its own."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """The names one scope binds, and how it treats the others."""

    __slots__ = (
        "answers",
        "delegates",
        "globals",
        "is_class",
        "is_generator",
        "is_module",
        "last",
        "locals",
        "nonlocals",
    )

    def __init__(self, *, is_module: bool = False, is_class: bool = False) -> None:
        self.is_module = is_module
        self.is_class = is_class
        self.locals: set[str] = set()
        self.last: dict[str, int] = {}
        """The last line in which a statement or an expression sets a name."""
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.is_generator = self.delegates = False
        self.answers = 0
        """How many `yield` there are whose value, which is sent, is used."""

    @property
    def is_told(self) -> bool:
        """Whether it is a generator that does something with what it is sent, itself."""
        return self.answers > 0 and not self.delegates


_REMEMBERED = "distml_scope"


def scope_of(node: ast.AST) -> Scope:
    """The scope a function, lambda, class, module or comprehension opens."""
    known: Scope | None = getattr(node, _REMEMBERED, None)
    if known is not None:
        return known
    scope = Scope(is_module=isinstance(node, ast.Module), is_class=isinstance(node, ast.ClassDef))
    if isinstance(node, FunctionNode):
        scope.locals.update(argument.arg for argument in every_argument(node.args))
    if isinstance(node, _COMPREHENSIONS):
        for generator in node.generators:
            scope.locals.update(_target_names(generator.target))
    else:
        body = node.body if isinstance(node.body, list) else [node.body]  # type: ignore[attr-defined]
        _collect(body, scope)
        scope.locals -= scope.globals | scope.nonlocals
    # Kept with the tree: it lives as long as the tree does.
    setattr(node, _REMEMBERED, scope)
    return scope


def every_argument(arguments: ast.arguments) -> Iterator[ast.arg]:
    """All parameters of a function, in order."""
    yield from arguments.posonlyargs
    yield from arguments.args
    if arguments.vararg is not None:
        yield arguments.vararg
    yield from arguments.kwonlyargs
    if arguments.kwarg is not None:
        yield arguments.kwarg


def _collect(body: Iterable[ast.AST], scope: Scope) -> None:
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        _bind(node, scope)
        if isinstance(node, NESTED):
            waiting.extend(_outer_parts(node))
        elif isinstance(node, _COMPREHENSIONS):
            # A walrus inside binds here; the loop variables do not.
            waiting.extend(n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        else:
            waiting.extend(ast.iter_child_nodes(node))


def _outer_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a nested scope that are evaluated in the scope around it."""
    yield from getattr(node, "decorator_list", [])
    arguments = getattr(node, "args", None)
    if isinstance(arguments, ast.arguments):
        yield from arguments.defaults
        yield from (d for d in arguments.kw_defaults if d is not None)
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from (keyword.value for keyword in node.keywords)


def _bind(node: ast.AST, scope: Scope) -> None:
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            scope.locals.add(node.id)
            scope.last[node.id] = max(node.lineno, scope.last.get(node.id, 0))
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        scope.locals.add(node.name)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            scope.locals.add((alias.asname or alias.name).partition(".")[0])
    elif isinstance(node, ast.Global):
        scope.globals.update(node.names)
    elif isinstance(node, ast.Nonlocal):
        scope.nonlocals.update(node.names)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        scope.locals.add(node.name)
    elif isinstance(node, ast.MatchMapping) and node.rest:
        scope.locals.add(node.rest)
    elif isinstance(node, ast.Yield | ast.YieldFrom):
        scope.is_generator = True
        scope.delegates |= isinstance(node, ast.YieldFrom)
        scope.answers += 1
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield):
        scope.answers -= 1


def _target_names(target: ast.AST) -> Iterator[str]:
    return (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def assigned_names(body: Iterable[ast.AST]) -> set[str]:
    """The local names that code binds (nested scopes left out)."""
    scope = Scope()
    _collect(body, scope)
    return scope.locals


def mutated_at(sites: Sites, modules: frozenset[str]) -> frozenset[str]:
    """Module variables that functions of the module rebind or change.

    Their value when a function runs is not the one the module left. `torch.add(x, y)` changes no module: what `import`
    binds (`modules`) has functions, not methods.
    """
    kinds = (ast.Global, ast.Nonlocal, ast.Attribute, ast.Subscript, ast.Call)
    return frozenset(name for node, place in sites.of(*kinds) for name in _changed(node, modules) if place.in_function)


def modules_bound(body: Iterable[ast.AST]) -> Iterator[str]:
    """Module variables that an import binds. One in a function binds a name of that function."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from modules_bound(ast.iter_child_nodes(node))


def _changed(node: ast.AST, modules: frozenset[str]) -> Iterable[str]:
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return _root(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if node.func.attr in MUTATORS and not (isinstance(owner, ast.Name) and owner.id in modules):
            return _root(owner)
    return ()


def _root(node: ast.AST) -> Iterable[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return (node.id,) if isinstance(node, ast.Name) else ()


def is_left_open(node: FunctionNode) -> bool:
    """Whether a method does nothing or never returns: it is there for a subclass to write."""
    if isinstance(node, ast.Lambda) or node.name in ("__init__", "__post_init__"):
        return False
    known: bool | None = getattr(node, _OPEN, None)
    if known is None:
        known = all(map(_does_nothing, node.body)) or (isinstance(node.body[-1], ast.Raise) and not _returns(node))
        setattr(node, _OPEN, known)
    return known


_OPEN = "distml_open"


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr | ast.Return):
        value = statement.value
        return value is None or (
            isinstance(value, ast.Constant) and (isinstance(statement, ast.Expr) or value.value is None)
        )
    return isinstance(statement, ast.Pass)


def _returns(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for node in own_parts(function.body))


def own_parts(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The parts of a body, less those of the functions and classes in it."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, NESTED):
            waiting.extend(ast.iter_child_nodes(node))
