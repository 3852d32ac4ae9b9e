"""`with` and `try`, and generators that are context managers."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from distml.spmd import names
from distml.spmd.calls import SUSPENDED, called
from distml.spmd.expressions import value
from distml.spmd.flow import Flow, LeftError
from distml.spmd.library import JOINED, MAKES, UNSYNCED
from distml.spmd.run import Run
from distml.spmd.trace import Event, Note
from distml.spmd.values import Function, Instance, Known, Library, Partial, Place, Scope, Unknown, Value, derived, key

_EVERYWHERE = frozenset(
    "ImportError ModuleNotFoundError AttributeError KeyError ValueError TypeError NotImplementedError AssertionError "
    "NameError StopIteration KeyboardInterrupt SystemExit IndexError".split()
)
"""Exceptions that come from the program or its user, and so to all ranks alike."""


def block(run: Run, scope: Scope, node: ast.With | ast.AsyncWith, position: int) -> Flow | None:
    """`with`, from its item at `position` on."""
    if position == len(node.items):
        return run.language.execute(run, scope, node.body)
    item = node.items[position]
    manager = value(run, scope, item.context_expr)
    flows: list[Flow | None] = []

    def inside(given: Value) -> None:
        if item.optional_vars is not None:
            run.language.assign(run, scope, item.optional_vars, given)
        flows.append(block(run, scope, node, position + 1))

    place = Place(scope.source, item.context_expr)
    if isinstance(manager, Partial) and isinstance(manager.function, Library) and manager.function.name == SUSPENDED:
        _through(run, manager.positional[0], inside, place)
    elif isinstance(manager, Instance):
        _entered(run, scope, manager, inside, place)
    elif (isinstance(manager, Unknown) and (manager.type == JOINED or "Join(" in manager.key)) or _expects_failure(
        manager
    ):
        with run.silent():
            inside(manager)
    elif isinstance(manager, Unknown) and manager.type == UNSYNCED:
        run.unsynced += 1
        inside(manager)
        run.unsynced -= 1
    else:
        inside(derived(f"{key(manager)}.__enter__()", manager) if not isinstance(manager, Unknown) else manager)
    return flows[0] if flows else None


def _expects_failure(manager: Value) -> bool:
    """Whether the body is expected to fail, as in tests."""
    return re.search(r"\b(?:raises|assertRaises\w*)\(", key(manager)) is not None


def _through(run: Run, function: Value, inside: Callable[[Value], None], place: Place) -> None:
    if not isinstance(function, Function) or isinstance(function.node, ast.Lambda):
        return
    run.resume.append(inside)
    try:
        with run.calling(place, function.node):
            flow = run.language.execute(run, function.scope, function.node.body)
    except LeftError:
        run.trace.broken = True
        raise
    finally:
        run.resume.pop()
    if flow is not None and flow.word in ("raise", "exit", "cut"):
        raise LeftError(flow)


def _entered(run: Run, scope: Scope, manager: Instance, inside: Callable[[Value], None], place: Place) -> None:
    given: Value = manager
    for name in ("__enter__", "__aenter__"):
        if names.class_member(run, manager.cls, name) is not None:
            given = called(run, scope, names.attribute(run, manager, name, place), [], {}, place)
    inside(given)
    for name in ("__exit__", "__aexit__"):
        if names.class_member(run, manager.cls, name) is not None:
            nothing: list[Value] = [Known(None), Known(None), Known(None)]
            called(run, scope, names.attribute(run, manager, name, place), nothing, {}, place)


def resume(run: Run, scope: Scope, given: Value) -> Value:
    """`yield`: where a generator is a context manager, the body of the `with` runs now."""
    if run.resume:
        chain, run.chain = run.chain, run.chain[:-1]
        inside = run.resume[-1]
        run.resume.append(_nothing)
        try:
            inside(given)
        finally:
            run.resume.pop()
            run.chain = chain
    return Known(None)


def _nothing(_given: Value) -> None:
    """A generator inside of a body is not one of its context managers."""


def attempt(run: Run, scope: Scope, node: ast.Try | ast.TryStar) -> Flow | None:
    """`try`: nothing is raised but what the program raises itself."""
    before = len(run.trace.events)
    run.checked += bool(node.handlers)
    try:
        flow = run.language.execute(run, scope, node.body)
    finally:
        run.checked -= bool(node.handlers)
    if run.sampling:
        for handler in node.handlers:
            run.language.execute(run, scope, handler.body)
    else:
        _probe(run, scope, node, before)
    if flow is not None and flow.word == "raise" and node.handlers:
        flow = run.language.execute(run, scope, node.handlers[0].body)
    elif flow is None:
        flow = run.language.execute(run, scope, node.orelse)
    last = run.language.execute(run, scope, node.finalbody)
    return last or flow


def _probe(run: Run, scope: Scope, node: ast.Try | ast.TryStar, before: int) -> None:
    """Handlers that communicate: only the ranks with the exception are there."""
    facts = run.facts(scope.source)
    usual = {event.name for event in run.trace.events[before:]}
    if len(run.trace.events) - before >= len(node.body):
        return  # nothing but collectives is tried: what fails, fails for all, and this is the way around it
    for handler in node.handlers:
        if run.muted or not any(facts.speaks(each) for each in handler.body) or _everywhere(handler):
            continue
        sampled = _sampled(run, scope, handler.body)
        caught = [each for each in sampled if each.name not in MAKES and each.peer is None and each.turns is None]
        if caught:
            usual |= {event.name for event in _sampled(run, scope, node.body)}
        event = next((each for each in caught if each.name not in usual), None)
        if event is not None:
            _say(run, handler, event.name, (*event.chain[len(run.chain) :], event.place)[0])


def _sampled(run: Run, scope: Scope, body: list[ast.stmt]) -> list[Event]:
    """What statements may communicate, on whatever path; nothing of it is kept."""
    with run.sample() as found:
        run.language.execute(run, scope, body)
    return found


def _say(run: Run, handler: ast.ExceptHandler, name: str, place: Place) -> None:
    caught = ast.unparse(handler.type) if handler.type else "any exception"
    run.note(
        Note(
            "SPM302",
            place,
            f"`{name}` in a handler of {caught}: one rank alone may raise it, and the others do not get here",
            (),
            "record the exception, all-reduce a flag after the `try`, then act on it on all ranks",
        )
    )


def _everywhere(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return False
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return all(ast.unparse(kind).rpartition(".")[2] in _EVERYWHERE for kind in kinds)
