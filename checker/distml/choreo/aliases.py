"""What a local function changes in place, by whatever names it reaches it.

Each name of a function stands for *roots*: a parameter, or a variable of the file. An object is a root or a part of one
(`itself`), and may contain such (`parts`): `x = list(board)` is a list of its own with what `board` contains, so
`x.append(...)` changes nothing of `board` and `x[0].append(...)` does. The order of statements does not count.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from distml.choreo.hints import Hints, captured, element
from distml.choreo.kinds import Hint, head, parameters
from distml.choreo.library import in_library
from distml.choreo.read import last
from distml.choreo.surroundings import Surroundings

IMMUTABLE = frozenset("int float bool complex str bytes tuple frozenset range None".split())
MAKING = frozenset(
    "list tuple set frozenset dict sorted deque Counter copy deepcopy union difference intersection".split()
)
"""Functions and methods that give a container of their own."""
_ITERATORS = frozenset("iter zip map filter enumerate reversed chain".split())
_SLICED = frozenset("list tuple str bytes bytearray List Tuple".split())
_PLAIN = ast.Constant | ast.Compare | ast.JoinedStr | ast.UnaryOp
_NEW = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.BinOp | ast.Lambda
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


class Reach(NamedTuple):
    """The roots that an object may be or belong to, and those that it may contain."""

    itself: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()

    @property
    def whole(self) -> frozenset[str]:
        """All roots that are reached through it."""
        return self.itself | self.parts


def holds_values(hint: Hint) -> bool:
    """Whether it is a container of nothing that can be changed."""
    inside = parameters(hint)
    return bool(inside) and all(
        holds_values(each) if head(each) in ("tuple", "frozenset") else head(each) in IMMUTABLE for each in inside
    )


def is_new(node: ast.expr, hints: Hints) -> bool:
    """Whether the value of an expression is an object of its own, whatever it contains."""
    if isinstance(node, ast.Call):
        name, method = last(node.func), isinstance(node.func, ast.Attribute)
        if not method and (name in hints.names or hints.module.local_function(name) is not None):
            return False
        return name in MAKING | _ITERATORS or (hints.module.local_class(name) is not None and not method)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return head(hints.of(node.value)) in _SLICED
    return isinstance(node, _NEW | _COMPREHENSION)


class Aliases:
    """The names of one function, and what they reach."""

    def __init__(self, function: ast.FunctionDef, module: Surroundings) -> None:
        self.module = module
        self.nodes = list(ast.walk(function))
        self.parameters = {each.arg: each.annotation for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        self.outer = {name for each in self.nodes if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names}
        inner = {each.arg for each in self.nodes if isinstance(each, ast.arg)} - self.parameters.keys()
        own = {name for each in self.nodes if each is not function for name in _bound(each)}
        self.own = (own | inner) - self.parameters.keys() - self.outer
        self.reach: dict[str, Reach] = {}
        self.hints = Hints(module, {**dict.fromkeys(self.own), **self.parameters}, lambda node: None)
        while True:
            before = dict(self.reach)
            for node in self.nodes:
                method: Callable[[Any], None] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
                if method is not None and node is not function:
                    method(node)
            if before == self.reach:
                break

    def of(self, node: ast.AST) -> Reach:
        """What the value of an expression reaches."""
        if isinstance(node, ast.Name):
            found = Reach() if node.id in self.own else Reach(frozenset((node.id,)))
            known = self.reach.get(node.id, Reach())
            return Reach(found.itself | known.itself, known.parts) if not self._is_value(node) else Reach()
        if not isinstance(node, ast.expr) or isinstance(node, _PLAIN) or self._is_value(node):
            return Reach()
        within = self._within(node)
        if not is_new(node, self.hints):
            alternatives = isinstance(node, ast.IfExp | ast.BoolOp | ast.NamedExpr)
            return within if alternatives else Reach(within.whole, within.whole)
        return Reach() if holds_values(self.hints.of(node)) else Reach(frozenset(), within.whole)

    def given(self) -> frozenset[str]:
        """What is given to any call: a function that is a value may be called with it."""
        calls = [each for each in self.nodes if isinstance(each, ast.Call)]
        return frozenset().union(*(self.of(each).whole for call in calls for each in arguments(call)))

    def _is_value(self, node: ast.expr) -> bool:
        return head(self.hints.of(node)) in IMMUTABLE - {"tuple"}

    def _within(self, node: ast.expr) -> Reach:
        """What the parts of an expression reach that its value may come from."""
        if isinstance(node, ast.IfExp):
            return _all(map(self.of, (node.body, node.orelse)))
        if isinstance(node, ast.Lambda):
            return self._mentioned(node)
        if isinstance(node, ast.Call):
            function = self.module.local_function(last(node.func))
            named = self._mentioned(function) if function is not None and isinstance(node.func, ast.Name) else Reach()
            base = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            outside = isinstance(base, ast.Name) and base.id not in self.own | {*self.parameters}
            known = outside and (base is node.func or self._in_library(node.func))
            return _all([*map(self.of, arguments(node)), named, *([] if known else [self.of(base)])])
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self.of(node.elt)
        if isinstance(node, ast.DictComp):
            return self.of(node.value)
        return _all(self.of(each) for each in ast.iter_child_nodes(node))

    def _in_library(self, function: ast.expr) -> bool:
        """Whether it is a function of a module that gives nothing of what the module holds, such as `copy.copy`."""
        base = function.value if isinstance(function, ast.Attribute) else None
        path = self.module.imports().get(base.id, "") if isinstance(base, ast.Name) else ""
        return bool(path) and in_library(f"{path}.{last(function)}")

    def _mentioned(self, node: ast.AST) -> Reach:
        """The variables of the file, and those here, that a function or a class names."""
        inside = list(ast.walk(node))
        own = {name for each in inside for name in _bound(each)} | {e.arg for e in inside if isinstance(e, ast.arg)}
        named = {each.id for each in inside if isinstance(each, ast.Name)} - (own - self.own)
        return _all(self.of(ast.Name(each, ast.Load())) for each in named)

    def _grow(self, name: str, by: Reach) -> None:
        known = self.reach.get(name, Reach())
        self.reach[name] = Reach(known.itself | by.itself, known.parts | by.parts)

    def _bind(self, target: ast.AST, value: Reach, node: ast.expr | None = None) -> None:
        if isinstance(target, ast.Name):
            self._grow(target.id, value)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            self._grow(root(target), Reach(frozenset(), value.whole))
        elif isinstance(target, ast.Tuple | ast.List):
            pairs: list[ast.expr | None] = []
            pairs += node.elts if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(target.elts) else []
            for each, part in zip(target.elts, pairs or [None] * len(target.elts)):
                self._bind(each, Reach(value.whole, value.whole) if part is None else self.of(part), part)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, Reach(frozenset(), value.whole))

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._bind(target, self.of(node.value), node.value)

    def _annassign(self, node: ast.AnnAssign | ast.NamedExpr) -> None:
        if node.value is not None:
            self._bind(node.target, self.of(node.value), node.value)

    _namedexpr = _annassign

    def _augassign(self, node: ast.AugAssign) -> None:
        self._bind(node.target, Reach(frozenset(), self.of(node.value).whole))

    def _for(self, node: ast.For | ast.comprehension) -> None:
        items = element(self.hints.of(node.iter))
        if head(items) not in IMMUTABLE - {"tuple"}:
            whole = self.of(node.iter).whole
            self._bind(node.target, Reach(whole, whole))

    _comprehension = _for

    def _withitem(self, node: ast.withitem) -> None:
        whole = self.of(node.context_expr).whole
        if node.optional_vars is not None:
            self._bind(node.optional_vars, Reach(whole, whole))

    def _match(self, node: ast.Match) -> None:
        whole = self.of(node.subject).whole
        for case in node.cases:
            for name, hint in captured(case.pattern, self.hints.of(node.subject)).items():
                self._grow(name, Reach() if head(hint) in IMMUTABLE - {"tuple"} else Reach(whole, whole))

    def _functiondef(self, node: ast.FunctionDef | ast.ClassDef | ast.Lambda) -> None:
        """A function inside: what it names it may give, and its parameters may be whatever is given to any call."""
        if not isinstance(node, ast.Lambda):
            self._grow(node.name, Reach(frozenset(), self._mentioned(node).whole))
        if isinstance(node, ast.ClassDef):
            return
        defaults = [*node.args.defaults, *node.args.kw_defaults]
        whole = self.given().union(*(self.of(each).whole for each in defaults if each is not None))
        for each in (each for each in ast.walk(node.args) if isinstance(each, ast.arg)):
            self._grow(each.arg, Reach(whole, whole))

    _asyncfunctiondef = _classdef = _lambda = _functiondef

    def _call(self, node: ast.Call) -> None:
        """What a method is given it may keep in its object, and `setattr` does."""
        base = node.func.value if isinstance(node.func, ast.Attribute) else None
        base = node.args[0] if node.args and last(node.func) == "setattr" else base
        if base is not None and root(base):
            self._grow(root(base), Reach(frozenset(), _all(map(self.of, arguments(node))).whole - {root(base)}))


def arguments(call: ast.Call) -> list[ast.expr]:
    """All that a call is given."""
    return [*call.args, *(each.value for each in call.keywords)]


def given_to(call: ast.Call, function: ast.FunctionDef, names: Iterable[str]) -> list[ast.expr]:
    """What a call of a function of the program gives to these of its parameters; what is unpacked may be any of them."""
    parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    names = set(names)
    unpacked = [each for each in call.args if isinstance(each, ast.Starred)]
    unpacked += [ast.Starred(each.value) for each in call.keywords if each.arg is None]
    rest = [each.arg for each in (function.args.vararg, function.args.kwarg) if each is not None]
    plain = [*call.args, *(each.value for each in call.keywords if each.arg is not None)] if names & {*rest} else []
    named: Mapping[str | None, ast.expr] = {each.arg: each.value for each in call.keywords}
    found = [value for name, value in [*zip(parameters, call.args), *named.items()] if name in names]
    return [*found, *plain, *(unpacked if names else [])]


def root(node: ast.AST) -> str:
    """The variable at the beginning of `x.y[0].z`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _all(found: Iterable[Reach]) -> Reach:
    several = list(found)
    return Reach(
        frozenset().union(*(each.itself for each in several)), frozenset().union(*(each.parts for each in several))
    )


def _bound(node: ast.AST) -> list[str]:
    """The names that a node gives a meaning by itself."""
    if isinstance(node, ast.Name):
        return [node.id] if isinstance(node.ctx, ast.Store) else []
    if isinstance(node, ast.MatchAs | ast.MatchStar):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    return [node.name] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else []
