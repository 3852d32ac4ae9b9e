"""`try` and `with`: who catches what, and in which states."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.findings import fail
from distml.interp.machine import Handler, PathEnd
from distml.interp.names import assign_name
from distml.interp.patterns import assign_target
from distml.interp.state import State, join_states
from distml.interp.truth import truth
from distml.values import Const, IteratorRecord, Lib, Opaque, Ref, Value

if TYPE_CHECKING:
    from distml.interp.machine import Machine

UNRELATED = frozenset(
    "ImportError ModuleNotFoundError KeyError AttributeError NameError KeyboardInterrupt OSError "
    "IOError FileNotFoundError PermissionError StopIteration NotImplementedError EOFError "
    "UnicodeDecodeError JSONDecodeError ZeroDivisionError OverflowError ConnectionError TimeoutError "
    "SystemExit GeneratorExit MemoryError PackageNotFoundError".split()
)
"""Exceptions that a shape mistake never is."""


def execute_try(vm: Machine, node: ast.Try | ast.TryStar) -> None:
    """`try`: the body, the handlers from every state it may raise in, `else`, `finally`."""
    from distml.interp.statements import execute_block

    if not node.handlers:
        _finally_only(vm, node)
        return
    handler = Handler(any(_catches_shapes(h) for h in node.handlers))
    entry = vm.state.fork()
    after = _body(vm, node.body, handler)
    ends: list[State] = []
    if after is not None:
        vm.state = after
        normal = vm.follow(lambda: execute_block(vm, node.orelse))
        if normal is not None:
            ends.append(normal)
    found = len(handler.states)
    arrival = join_states(vm, [entry, *handler.states])
    for clause in node.handlers:
        state = vm.follow(lambda c=clause: _handle(vm, c), arrival.fork())  # type: ignore[misc]
        if state is not None:
            ends.append(state)
    if handler.errors and not ends and not _recovers(node):
        _report(vm, handler, found)
    _finish(vm, node, ends)


def _catches_shapes(clause: ast.ExceptHandler) -> bool:
    """Whether a clause may catch what a library raises for wrong shapes."""
    if clause.type is None:
        return True
    types = clause.type.elts if isinstance(clause.type, ast.Tuple) else [clause.type]
    return not all(_name(t) in UNRELATED for t in types)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _body(vm: Machine, body: list[ast.stmt], handler: Handler) -> State | None:
    """Run the protected statements; an exception may come before or after each of them."""
    from distml.interp.statements import execute

    vm.handlers.append(handler)
    try:
        for statement in body:
            execute(vm, statement)
            handler.states.append(vm.state.fork())
    except PathEnd:
        return None
    finally:
        vm.handlers.pop()
    return vm.state


def _handle(vm: Machine, clause: ast.ExceptHandler) -> None:
    from distml.interp.statements import execute_block

    if clause.name is not None:
        assign_name(vm, clause.name, vm.opaque(clause.name))
    execute_block(vm, clause.body)


def _recovers(node: ast.Try | ast.TryStar) -> bool:
    """Whether some handler does more than raise again."""
    for clause in node.handlers:
        last = clause.body[-1]
        if not _catches_shapes(clause) or not isinstance(last, ast.Raise):
            if _catches_shapes(clause):
                return True
    return False


def _report(vm: Machine, handler: Handler, found: int) -> None:
    """Every handler raises again: what it caught is an error after all."""
    error, node, frame = handler.errors[0]
    saved, vm.frame = vm.frame, frame
    try:
        fail(vm, error, node)
    finally:
        vm.frame = saved


def _finally_only(vm: Machine, node: ast.Try | ast.TryStar) -> None:
    from distml.interp.statements import execute_block

    after = vm.follow(lambda: execute_block(vm, node.body))
    _finish(vm, node, [] if after is None else [after])


def _finish(vm: Machine, node: ast.Try | ast.TryStar, ends: list[State]) -> None:
    from distml.interp.statements import execute_block

    if not ends:
        if node.finalbody:
            vm.follow(lambda: execute_block(vm, node.finalbody), vm.state.fork())
        raise PathEnd
    vm.state = join_states(vm, ends)
    execute_block(vm, node.finalbody)


def execute_with(vm: Machine, node: ast.With | ast.AsyncWith) -> None:
    """`with`: enters each manager; some of them catch exceptions."""
    catching = False
    managers: list[Value] = []
    for item in node.items:
        catching = _enter(vm, item, managers) or catching
    if not catching:
        _with_body(vm, node, managers)
        return
    from distml.interp.statements import execute_block

    handler = Handler(catches_shapes=True)
    entry = vm.state.fork()
    vm.handlers.append(handler)
    try:
        after = vm.follow(lambda: execute_block(vm, node.body))
    finally:
        vm.handlers.pop()
    ends = [entry, *handler.states]
    vm.state = join_states(vm, ends if after is None else [*ends, after])


def _with_body(vm: Machine, node: ast.With | ast.AsyncWith, managers: list[Value]) -> None:
    from distml.interp.statements import execute_block

    execute_block(vm, node.body)
    for manager in managers:
        leave = None if isinstance(manager, Opaque | Lib) else vm.attribute(manager, "__exit__")
        if leave is not None and not isinstance(leave, Opaque):
            vm.apply(leave, [Const(None)] * 3)


def _enter(vm: Machine, item: ast.withitem, managers: list[Value]) -> bool:
    """Enter one manager; whether it may swallow exceptions."""
    from distml.interp.expressions import evaluate

    manager = evaluate(vm, item.context_expr)
    managers.append(manager)
    value = _entered(vm, manager, item.context_expr)
    if item.optional_vars is not None:
        assign_target(vm, item.optional_vars, value)
    return _may_swallow(vm, manager, item.context_expr)


def _entered(vm: Machine, manager: Value, node: ast.expr) -> Value:
    if isinstance(manager, Ref):
        record = vm.record(manager)
        if isinstance(record, IteratorRecord):
            items = vm.iterate(manager)
            if isinstance(items, tuple):
                return items[0] if items else vm.opaque("value")
            return items.item
        enter = vm.attribute(manager, "__enter__") or vm.attribute(manager, "__aenter__")
        if enter is not None and not isinstance(enter, Opaque):
            return vm.apply(enter, [])
    return vm.opaque(vm.snippet(node), vm.origin(node))


def _may_swallow(vm: Machine, manager: Value, node: ast.expr) -> bool:
    text = ast.dump(node).lower()
    if "raises" in text or "suppress" in text or "expect" in text or "assertwarns" in text:
        return True
    if not isinstance(manager, Ref):
        return False
    leave = vm.attribute(manager, "__exit__")
    if leave is None or isinstance(leave, Opaque):
        return False
    before = vm.state.fork()
    result = vm.apply(leave, [vm.opaque("exception type"), vm.opaque("exception"), vm.opaque("traceback")])
    vm.state = before
    known = truth(vm, result)
    return known is not False
