"""`try` and `with`: who catches what, and in which states."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from distml.interp.branches import pass_on, sheltered, unsure
from distml.interp.data_files import is_open_file
from distml.interp.findings import fail
from distml.interp.leaving import Leaving
from distml.interp.machine import Handler, PathEnd
from distml.interp.managers import execute_parts, generator_of
from distml.interp.names import assign_name
from distml.interp.patterns import assign_target
from distml.interp.state import State, join_states
from distml.interp.truth import truth
from distml.values import (
    Bound,
    Class,
    Const,
    Function,
    InstanceRecord,
    IteratorRecord,
    Lib,
    LibMethod,
    Opaque,
    Ref,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from distml.interp.machine import Machine

UNRELATED = frozenset(
    "ImportError ModuleNotFoundError KeyError AttributeError NameError KeyboardInterrupt OSError "
    "IOError FileNotFoundError PermissionError StopIteration NotImplementedError EOFError "
    "UnicodeDecodeError JSONDecodeError ZeroDivisionError OverflowError ConnectionError TimeoutError "
    "SystemExit GeneratorExit MemoryError PackageNotFoundError".split()
)
"""Exceptions that a shape mistake never is."""
_BUILT_IN = frozenset(name for name in dir(builtins) if name[0].isupper())
_PLAIN = frozenset(Lib(f"builtins.{name}") for name in ("Exception", "BaseException"))


def execute_try(vm: Machine, node: ast.Try | ast.TryStar) -> None:
    """`try`: the body, the handlers from every state it may raise in, `else`, `finally`."""
    if node.finalbody:
        leaving = Leaving(vm)
        _try_ending(vm, node, leaving)
        return
    _try(vm, node)


def _try(vm: Machine, node: ast.Try | ast.TryStar) -> None:
    """Everything but `finally`."""
    if not node.handlers:
        vm.language.execute_block(vm, node.body)
        return
    own = [_is_own(vm, clause) for clause in node.handlers]
    handler = Handler(any(_catches_shapes(h) for h, is_own in zip(node.handlers, own, strict=True) if not is_own))
    entry = vm.state.fork()
    passed: list[State] = []
    after = _body(vm, node.body, handler, passed)
    ends: list[State] = []
    if after is not None:
        vm.state = after
        normal = vm.follow(lambda: vm.language.execute_block(vm, node.orelse))
        if normal is not None:
            ends.append(normal)
    certain = after is None or not _is_given_its_values(vm)
    arrival = join_states(vm, [entry, *passed, *handler.states])
    returned = len(vm.frame.returns)
    if vm.handlers and not any(clause.type is None for clause in node.handlers):
        vm.handlers[-1].states.extend(handler.states)
    for clause, is_own in zip(node.handlers, own, strict=True):
        raised = join_states(vm, handler.states) if is_own and handler.states else arrival
        entered = unsure(vm, raised.fork(), "an exception is caught")
        state = vm.follow(lambda c=clause: _handle(vm, c, certain), entered)  # type: ignore[misc]
        if state is not None:
            ends.append(state)
            if isinstance(node, ast.TryStar):  # the next clause takes what is left of the group
                arrival = join_states(vm, [arrival, state])
    if len(vm.stack) > 1 and len(vm.frame.returns) > returned:
        vm.frame.doubtful = True
    around = any(not each.speculative for each in vm.handlers)  # may catch what a handler raises in its place
    if handler.errors and not ends and not around and not _recovers(node):
        _report(vm, handler)
    if not ends:
        raise PathEnd
    vm.state = join_states(vm, ends)


def _is_own(vm: Machine, clause: ast.ExceptHandler) -> bool:
    """Whether a clause catches only exceptions of the program's own, which nothing but its `raise` statements raise."""
    if clause.type is None or _name(clause.type) in _BUILT_IN:
        return False
    caught = vm.language.evaluate(vm, clause.type)
    types = caught.items if isinstance(caught, Tup) else (caught,)
    return all(isinstance(each, Class) and _is_plain(vm, each) for each in types)


def _is_plain(vm: Machine, cls: Value) -> bool:
    return cls in _PLAIN or (isinstance(cls, Class) and all(_is_plain(vm, base) for base in vm.at(cls.address).bases))


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


def _is_given_its_values(vm: Machine) -> bool:
    """Whether a caller in sight gives the running function its arguments: then unknown ones are no reason to raise."""
    return len(vm.stack) > 1 + vm.symbolic


def _body(vm: Machine, body: list[ast.stmt], handler: Handler, passed: list[State]) -> State | None:
    """Run the protected statements; an exception may come before or after each of them, also where none is seen."""
    vm.handlers.append(handler)
    try:
        for statement in body:
            vm.language.execute(vm, statement)
            passed.append(vm.state.fork())
    except PathEnd:
        return None
    finally:
        vm.handlers.pop()
    return vm.state


def _handle(vm: Machine, clause: ast.ExceptHandler, certain: bool) -> None:
    """The body of a handler. Unless `certain`, the protected code may end well: with the values that are known the handler may
    never run, and what cannot be done with them is no mistake.
    """
    if clause.name is not None:
        assign_name(vm, clause.name, vm.opaque(clause.name))
    attempt = Handler(catches_shapes=True, speculative=True)
    try:
        if not certain:
            vm.handlers.append(attempt)
        with sheltered(vm):  # whether it is caught here is mostly open
            vm.language.execute_block(vm, clause.body)
    finally:
        if not certain:
            vm.handlers.pop()
            pass_on(vm, (attempt,))


def _recovers(node: ast.Try | ast.TryStar) -> bool:
    """Whether some handler does more than raise again."""
    for clause in node.handlers:
        last = clause.body[-1]
        if not _catches_shapes(clause) or not isinstance(last, ast.Raise):
            if _catches_shapes(clause):
                return True
    return False


def _report(vm: Machine, handler: Handler) -> None:
    """Every handler raises again: what it caught is an error after all."""
    error, node, frame = handler.errors[0]
    saved, vm.frame = vm.frame, frame
    try:
        fail(vm, error, node)
    finally:
        vm.frame = saved


def _try_ending(vm: Machine, node: ast.Try | ast.TryStar, leaving: Leaving) -> None:
    """`try` with `finally`, which runs on every way out."""

    def last() -> None:
        vm.language.execute_block(vm, node.finalbody)

    after = vm.follow(lambda: _try(vm, node))
    before = vm.state
    ran = leaving.run(vm, last)
    if after is None:
        if not ran:
            vm.follow(last, before.fork())
        raise PathEnd
    vm.state = after
    last()


def execute_with(vm: Machine, node: ast.With | ast.AsyncWith) -> None:
    """`with`: enters each manager; some of them catch exceptions."""
    if any(generator_of(vm, item) is not None for item in node.items) and execute_parts(vm, node):
        return
    catching = False
    managers: list[Value] = []
    for item in node.items:
        catching = _enter(vm, item, managers) or catching
    if not catching:
        through = all(_lets_through(vm, *entered) for entered in zip(node.items, managers, strict=True))
        with sheltered(vm, not through):
            _with_body(vm, node, managers)
        return
    leaving, exits = Leaving(vm), _exits(vm, managers)
    handler = Handler(catches_shapes=True)
    passed = [vm.state.fork()]
    after = _body(vm, node.body, handler, passed)
    leaving.run(vm, lambda: _leave(vm, exits))
    normal = None if after is None else vm.follow(lambda: _leave(vm, exits), after)
    raised = vm.follow(lambda: _leave(vm, exits, "exception"), join_states(vm, [*passed, *handler.states]))
    if raised is not None and vm.handlers:
        vm.handlers[-1].states.append(raised.fork())
    ends = [state for state in (normal, raised) if state is not None]
    if not ends:
        raise PathEnd
    vm.state = join_states(vm, ends)


def _with_body(vm: Machine, node: ast.With | ast.AsyncWith, managers: list[Value]) -> None:
    exits = _exits(vm, managers)
    if not exits:
        vm.language.execute_block(vm, node.body)
        return
    leaving = Leaving(vm)
    after = vm.follow(lambda: vm.language.execute_block(vm, node.body))
    leaving.run(vm, lambda: _leave(vm, exits))
    if after is None:
        raise PathEnd
    vm.state = after
    _leave(vm, exits)


def _exits(vm: Machine, managers: list[Value]) -> list[Value]:
    return [leave for manager in reversed(managers) if (leave := _exit_of(vm, manager)) is not None]


def _leave(vm: Machine, exits: list[Value], exception: str | None = None) -> None:
    """Leave the block, with an exception or without one."""
    for leave in exits:
        vm.apply(leave, [Const(None) if exception is None else vm.opaque(exception) for _ in range(3)])


def _exit_of(vm: Machine, manager: Value) -> Value | None:
    leave = None if isinstance(manager, Opaque | Lib) else vm.attribute(manager, "__exit__")
    return None if isinstance(leave, Opaque) else leave


def _enter(vm: Machine, item: ast.withitem, managers: list[Value]) -> bool:
    """Enter one manager; whether it may swallow exceptions."""
    manager = vm.language.evaluate(vm, item.context_expr)
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
    if is_open_file(vm, manager):
        return manager
    return vm.opaque(vm.snippet(node), vm.origin(node))


_PASSING = frozenset(
    "builtins contextlib io jax keras numpy os tempfile tensorflow threading time torch tqdm warnings".split()
)
_CATCHING = frozenset({"suppress", "ExitStack", "AsyncExitStack"})


def _lets_through(vm: Machine, item: ast.withitem, manager: Value) -> bool:
    """Whether a manager certainly lets exceptions pass: one of a library that says so, one of the program in sight."""
    if isinstance(manager, Ref) and isinstance(vm.record(manager), InstanceRecord):
        return _exit_of(vm, manager) is not None
    if is_open_file(vm, manager):
        return True
    made = item.context_expr
    maker = vm.language.evaluate(vm, made.func) if isinstance(made, ast.Call) else manager
    if isinstance(maker, LibMethod):
        return maker.name.partition(".")[0] in _PASSING
    if not isinstance(maker, Lib):
        return False
    root, _, rest = maker.name.partition(".")
    return root in _PASSING and "test" not in rest and rest.rpartition(".")[2] not in _CATCHING


def _catches_at_yield(vm: Machine, node: ast.expr) -> bool:
    """Whether a manager is made by a generator in sight that may catch what is raised where it yields."""
    function = vm.language.evaluate(vm, node.func) if isinstance(node, ast.Call) else None
    function = function.function if isinstance(function, Bound) else function
    tries = ast.walk(function.node) if isinstance(function, Function) else ()
    return any(
        isinstance(part, ast.Yield | ast.YieldFrom)
        for each in tries
        if isinstance(each, ast.Try) and each.handlers
        for statement in each.body
        for part in ast.walk(statement)
    )


def _may_swallow(vm: Machine, manager: Value, node: ast.expr) -> bool:
    text = ast.dump(node).lower()
    if "raises" in text or "suppress" in text or "expect" in text or "assertwarns" in text:
        return True
    if not isinstance(manager, Ref):
        return False
    if isinstance(vm.record(manager), IteratorRecord):
        return _catches_at_yield(vm, node)
    leave = vm.attribute(manager, "__exit__")
    if leave is None or isinstance(leave, Opaque):
        return False
    before = vm.state.fork()
    result = vm.apply(leave, [vm.opaque("exception type"), vm.opaque("exception"), vm.opaque("traceback")])
    vm.state = before
    known = truth(vm, result)
    return known is not False
