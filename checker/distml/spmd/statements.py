"""What statements do on one rank."""

from __future__ import annotations

import ast
from typing import Any

from distml.spmd import names
from distml.spmd.blocks import attempt, block
from distml.spmd.builtins import BUILTINS, put
from distml.spmd.expressions import BINARY, merged, put_into, truth_of, value
from distml.spmd.flow import Flow, LeftError
from distml.spmd.loops import for_loop, while_loop
from distml.spmd.members import computed
from distml.spmd.run import Run
from distml.spmd.values import (
    Class,
    Items,
    Known,
    Library,
    Local,
    Place,
    Scope,
    Table,
    Unknown,
    Value,
    derived,
    key,
    local_of,
    truth,
)


def execute(run: Run, scope: Scope, body: list[ast.stmt]) -> Flow | None:
    """Follow statements; how control leaves them, None at their end. Raises `OutOfBudgetError`."""
    for statement in body:
        run.step()
        found = _EXECUTE.get(type(statement))
        if found is not None:
            try:
                flow: Flow | None = found(run, scope, statement)
            except LeftError as left:
                flow = left.flow
                if flow.word == "exit" and flow.place.node is not statement:
                    run.leave("exit", Place(scope.source, statement))
            if flow is not None:
                return flow
    return None


def assign(run: Run, scope: Scope, target: ast.expr, found: Value) -> None:
    """Bind a target."""
    if isinstance(target, ast.Name):
        run.write(_store(scope, target.id).names, target.id, found)
    elif isinstance(target, ast.Attribute):
        names.set_attribute(run, value(run, scope, target.value), target.attr, found)
    elif isinstance(target, ast.Subscript):
        put(run, value(run, scope, target.value), value(run, scope, target.slice), found)
        put_into(run, scope, target.value, (found,))
    elif isinstance(target, ast.Tuple | ast.List):
        _spread(run, scope, target.elts, found)
    elif isinstance(target, ast.Starred):
        assign(run, scope, target.value, found)


def _spread(run: Run, scope: Scope, targets: list[ast.expr], found: Value) -> None:
    plain = not any(isinstance(target, ast.Starred) for target in targets)
    if isinstance(found, Items) and found.exact and plain and len(found.members) == len(targets):
        members = found.members
    else:
        members = [derived(f"{key(found)}[{position}]", found) for position in range(len(targets))]
    for target, member in zip(targets, members):
        assign(run, scope, target, member)


def _store(scope: Scope, name: str) -> Scope:
    if name not in scope.outward:
        return scope
    where = scope
    while where.parent is not None:
        where = where.parent
        if name in where.names:
            return where
    return where


def _assign(run: Run, scope: Scope, node: ast.Assign) -> None:
    found = value(run, scope, node.value)
    _tell(run, scope, node, found)
    for target in node.targets:
        assign(run, scope, target, found)


def _annotated(run: Run, scope: Scope, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(run, scope, node.target, value(run, scope, node.value))


def _augmented(run: Run, scope: Scope, node: ast.AugAssign) -> None:
    read = ast.copy_location(_loaded(node.target), node.target)
    left, right = value(run, scope, read), value(run, scope, node.value)
    found: Value
    if isinstance(left, Items) and isinstance(right, Items):
        found = Items([*left.members, *right.members], left.kind, left.exact and right.exact)
    elif isinstance(left, Known) and isinstance(right, Known) and type(node.op) in BINARY:
        found = computed(BINARY[type(node.op)], left, right)
    else:
        found = derived(f"({key(left)} {type(node.op).__name__} {key(right)})", left, right)
    _tell(run, scope, node, right)
    assign(run, scope, node.target, found)


def _tell(run: Run, scope: Scope, node: ast.Assign | ast.AugAssign, given: Value) -> None:
    """Something may be told by an attribute that it is given."""
    if run.watch is not None and run.watch.tells(node):
        run.tell(Place(scope.source, node), [given])


def _loaded(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(value=base, attr=name):
            return ast.Attribute(base, name, ast.Load())
        case ast.Subscript(value=base, slice=index):
            return ast.Subscript(base, index, ast.Load())
    return target


def _expression(run: Run, scope: Scope, node: ast.Expr) -> None:
    around, run.unused = run.unused, node.value
    try:
        value(run, scope, node.value)
    finally:
        run.unused = around


def _return(run: Run, scope: Scope, node: ast.Return) -> Flow:
    found = value(run, scope, node.value) if node.value else Known(None)
    place = Place(scope.source, node)
    run.leave("return", place)
    return Flow("return", place, found)


def _raise(run: Run, scope: Scope, node: ast.Raise) -> Flow:
    if node.exc is not None:
        _end(run, scope, node.exc)
    place = Place(scope.source, node)
    run.leave("raise", place)
    return Flow("raise", place)


def _fails(run: Run, scope: Scope, node: ast.stmt) -> bool:
    """Whether a statement raises an error."""
    return isinstance(node, ast.Raise) and not (node.exc is not None and _asks_for_end(run, scope, node.exc))


def _asks_for_end(run: Run, scope: Scope, raised: ast.expr) -> bool:
    """Whether what is raised ends the process: Python's own `exit` does no more."""
    name = raised.func if isinstance(raised, ast.Call) else raised
    found = value(run, scope, name) if isinstance(name, ast.Name) else None
    return isinstance(found, Library) and found.name == "builtins.SystemExit"


def _end(run: Run, scope: Scope, raised: ast.expr) -> None:
    """Leave the process, where what is raised asks for that. Raises `LeftError`."""
    if _asks_for_end(run, scope, raised):
        given = [value(run, scope, each) for each in raised.args] if isinstance(raised, ast.Call) else []
        BUILTINS["exit"](run, given, {}, Place(scope.source, raised))


def _break(run: Run, scope: Scope, node: ast.Break | ast.Continue) -> Flow:
    word = type(node).__name__.lower()
    place = Place(scope.source, node)
    run.leave(word, place)
    return Flow(word, place)


def _assert(run: Run, scope: Scope, node: ast.Assert) -> Flow | None:
    if truth(truth_of(run, scope, node.test)) is False:
        place = Place(scope.source, node)
        run.turn(place, False, (node,))
        run.leave("assert", place)
        return Flow("raise", place)
    return None


def _define(run: Run, scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    run.write(scope.names, node.name, names.decorated(run, node, scope, None))


def _class(run: Run, scope: Scope, node: ast.ClassDef) -> None:
    run.write(scope.names, node.name, Class(node, scope))


def _import(run: Run, scope: Scope, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        if alias.name != "*":
            bound = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
            run.write(scope.names, bound, names.imported(run, scope.source, node, bound))


def _if(run: Run, scope: Scope, node: ast.If) -> Flow | None:
    test = truth_of(run, scope, node.test)
    known = truth(test)
    guess = ""
    place = Place(scope.source, node)
    if known is None and run.sampling:
        execute(run, scope, node.body)
        execute(run, scope, node.orelse)
        return None
    if known is None:
        if run.muted or not _matters(run, scope, [*node.body, *node.orelse]):
            _join(run, scope, node, test)
            return None
        known = _only_way(run, scope, node, test)
        if known is None:
            known, guess = run.decide(test, place), key(test)
    run.turn(place, known, (*node.body, *node.orelse), local_of(test), guess=guess)
    return execute(run, scope, node.body if known else node.orelse)


def _matters(run: Run, scope: Scope, body: list[ast.stmt]) -> bool:
    facts = run.facts(scope.source)
    return any(facts.speaks(each) or facts.leaves(each) for each in body)


def _only_way(run: Run, scope: Scope, node: ast.If, test: Value) -> bool | None:
    """The side that goes on, where the other does nothing but raise: who raises there does so on every rank."""
    if local_of(test):
        return None
    sides = [
        bool(body) and _fails(run, scope, body[-1]) and not _speaks(run, scope, body)
        for body in (node.body, node.orelse)
    ]
    return sides[1] if sides[0] != sides[1] else None


def _speaks(run: Run, scope: Scope, body: list[ast.stmt]) -> bool:
    return any(run.facts(scope.source).speaks(each) for each in body)


def _join(run: Run, scope: Scope, node: ast.If, test: Value) -> None:
    """Both sides of a condition that nobody knows, where neither can matter by itself."""
    arms = []
    for body in (node.body, node.orelse):
        with run.tentative() as written:
            execute(run, scope, body)
        arms.append(written)
    local = local_of(test)
    for place in dict.fromkeys([*arms[0], *arms[1]]):
        store, name, _ = arms[0].get(place) or arms[1][place]
        before = store.get(name)
        sides = [arm[place][2] if place in arm else before for arm in arms]
        run.write(store, name, _joined(run, name, sides, f"{name}?{node.lineno}:{key(test)}", local))


def _joined(run: Run, name: Any, sides: list[Any], text: str, local: Local | None) -> Any:
    one, other = sides
    if name == "exact" and isinstance(one, bool):
        return one and other
    if isinstance(one, tuple) or isinstance(
        other, tuple
    ):  # what an object is since: this rank's own, if one side makes it that
        return max((each for each in sides if each), key=lambda each: each[1].local is not None)
    if isinstance(one, list | dict) or isinstance(other, list | dict):
        return one if one == other else _common(one, other)
    if one is None or other is None:
        present = other if one is None else one
        return present if not local else Unknown(text, local)
    return one if one is other else merged(run, one, other, text, local)


def _common(one: Any, other: Any) -> Any:
    """Members of a container on two ways: `exact` is false already where they differ in number."""
    return one if len(one or ()) >= len(other or ()) else other


def _with(run: Run, scope: Scope, node: ast.With | ast.AsyncWith) -> Flow | None:
    return block(run, scope, node, 0)


def _try(run: Run, scope: Scope, node: ast.Try | ast.TryStar) -> Flow | None:
    return attempt(run, scope, node)


def _match(run: Run, scope: Scope, node: ast.Match) -> Flow | None:
    subject = value(run, scope, node.subject)
    for case in node.cases:
        found = _matched(subject, case.pattern) if case.guard is None else None
        place = Place(scope.source, case.body[0])
        for name in [each.name for each in ast.walk(case.pattern) if isinstance(each, ast.MatchAs) and each.name]:
            run.write(scope.names, name, subject)
        if found is None and run.sampling:
            execute(run, scope, case.body)
            continue
        if found is None:
            found = run.decide(derived(f"{key(subject)} is case {ast.unparse(case.pattern)}", subject), place)
        run.turn(place, found, tuple(case.body), local_of(subject))
        if found:
            return execute(run, scope, case.body)
    return None


def _matched(subject: Value, pattern: ast.pattern) -> bool | None:
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchValue(value=ast.Constant(value=constant)) if isinstance(subject, Known):
            return bool(subject.value == constant)
        case ast.MatchSingleton(value=constant) if isinstance(subject, Known):
            return subject.value is constant
        case ast.MatchOr(patterns=several):
            each = [_matched(subject, one) for one in several]
            return True if True in each else None if None in each else False
    return None


def _delete(run: Run, scope: Scope, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            container = value(run, scope, target.value)
            index = value(run, scope, target.slice)
            if isinstance(container, Table) and isinstance(index, Known) and index.value in container.members:
                rest = {name: each for name, each in container.members.items() if name != index.value}
                run.write(container.state, "members", rest)


_EXECUTE: dict[type[ast.stmt], Any] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _break,
    ast.Continue: _break,
    ast.Assert: _assert,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.If: _if,
    ast.For: for_loop,
    ast.AsyncFor: for_loop,
    ast.While: while_loop,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: _match,
    ast.Delete: _delete,
}
