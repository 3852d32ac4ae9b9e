"""Branches whose condition is not decided.

Such a condition may go with what is not known: with the arguments of the call it
is in, since a caller that passes eight columns also passes the format that expects
eight, or with what runs the program. What fails there fails on a path that may
never be taken, so it counts only if every branch fails. What follows `if unknown:
return` or `except Error: return` is such a branch, to the end of the function; what
follows an exit of the program is one to the end of the program (`interp/exits`).
Conditions on data and on random numbers come out both ways: each branch is taken.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING

from distml.interp.findings import fail
from distml.interp.library import QUESTIONS
from distml.interp.machine import Handler, PathEnd
from distml.interp.one_value import asked
from distml.interp.recording import note_raised
from distml.interp.state import State, join_states
from distml.ops.registry import find_op
from distml.solver.formula import Flag, negate
from distml.values import Claimed, Expr, Lib, Num, Opaque, ShapeSeq, Tensor, Union, Value, believed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from distml.interp.machine import Machine
    from distml.solver.formula import Formula


def either(vm: Machine, arms: Sequence[Callable[[], None]], free: bool, conditions: Sequence[Formula] = ()) -> None:
    """Follow every arm from here and join what comes out; ends the path if nothing does.

    `free` says that data decide which arm is taken, so that each is; `conditions`, of a watched run, when each is.
    """
    start = vm.state
    doubtful = not free and not conditions
    exits = vm.exits
    ends: list[State] = []
    attempts: list[Handler] = []
    returned, left = len(vm.frame.returns), _left(vm)
    for index, arm in enumerate(arms):
        attempt = Handler(catches_shapes=True, speculative=True)
        if doubtful:
            vm.handlers.append(attempt)
        entry = start.fork()
        if conditions:
            entry.guard = (*start.guard, conditions[index])
        vm.undecided += 1
        try:
            after = vm.follow(arm, entry)
        finally:
            vm.undecided -= 1
            if doubtful:
                vm.handlers.pop()
        attempts.append(attempt)
        if after is not None:
            ends.append(after)
    returns = len(vm.frame.returns) > returned
    vm.frame.gated = vm.frame.gated or returns
    if doubtful:
        pass_on(vm, attempts)
        vm.frame.doubtful = vm.frame.doubtful or returns
        vm.frame.left_open = vm.frame.left_open or _left(vm) > left
    if free:
        # Other data go past an exit that is taken here.
        vm.exits = exits
    if not ends:
        vm.state = start
        if doubtful and all(attempt.errors for attempt in attempts):
            raise_first(vm, attempts)
        raise PathEnd
    vm.state = join_states(vm, ends)
    vm.frame.passed = None


def _left(vm: Machine) -> int:
    """How many paths have left the loop, or this iteration of it, so far."""
    return len(vm.loops[-1].breaks) + len(vm.loops[-1].continues) if vm.loops else 0


def decided(vm: Machine, node: ast.AST, test: ast.expr) -> tuple[Value, bool | None, tuple[Formula, ...]]:
    """What a condition is and whether it holds, None when unknown; of a watched run also when each of the two arms is taken."""
    before = None if vm.watcher is None else vm.watcher.enter(node)
    value = vm.language.evaluate(vm, test)
    known = asked(vm, value, test)
    if vm.watcher is None:
        return value, known, ()
    known, condition = vm.watcher.visit(node, test, value, known, before)
    return value, known, (condition, negate(condition))


def unsure(vm: Machine, path: State, what: str) -> State:
    """Say of a path that it may not be taken: what fails on it is then no failure of the whole run that is watched."""
    if vm.watcher is not None:
        path.guard = (*path.guard, Flag(what, vm.serial()))
    return path


@contextmanager
def sheltered(vm: Machine, shelters: bool = True) -> Iterator[None]:
    """Code that may not be run, or whose exceptions something unknown may catch: what the program raises ends nothing."""
    vm.sheltered += shelters
    try:
        yield
    finally:
        vm.sheltered -= shelters


def perhaps(vm: Machine, run: Callable[[], object]) -> None:
    """Run what may as well not be run: neither its facts nor its end are certain afterwards."""
    start = vm.state
    with sheltered(vm):
        after = vm.follow(run, unsure(vm, start.fork(), "it is run"))
    vm.state = start if after is None else join_states(vm, [start, after])


def pass_on(vm: Machine, attempts: Sequence[Handler]) -> None:
    """Exceptions of the program that crossed an attempt reach the handler around it."""
    if any(attempt.states for attempt in attempts):
        note_raised(vm)
    if vm.handlers:
        for attempt in attempts:
            vm.handlers[-1].states.extend(attempt.states)


def raise_first(vm: Machine, attempts: Sequence[Handler]) -> None:
    """Everything failed: the first failure is one of the program."""
    error, node, frame = attempts[0].errors[0]
    saved, vm.frame = vm.frame, frame
    try:
        fail(vm, error, node)
    finally:
        vm.frame = saved


def by_data(vm: Machine, test: ast.expr, value: Value) -> bool:
    """Whether the data of arrays or random numbers decide a condition that came out as `value`, neither true nor false.

    Any other may go with what is not known: sizes, types, the machine, whatever a function that nobody sees looks
    at. In a called function the data may go with the arguments too (a caller that passes one number passes a
    zero): only what is drawn there is free.
    """
    if isinstance(value, _UNKNOWN):
        return False
    called = len(vm.stack) > (2 if vm.symbolic else 1)
    asked = _draws(vm, test)
    if called and not asked:
        return False
    owners: set[ast.AST] = set()
    for part in ast.walk(test):
        if isinstance(part, ast.Call):
            owners.add(part.func)
            if _asks_unseen(vm, part.func):
                return False
        if isinstance(part, ast.Attribute):
            owners.add(part.value)
        if isinstance(part, ast.Name):
            found = vm.language.evaluate(vm, part)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            owner = vm.language.evaluate(vm, part.value)
            found = owner if isinstance(owner, Tensor) else vm.language.evaluate(vm, part)
        else:
            continue
        if part in owners or isinstance(part, ast.Attribute):
            # What is asked of an array takes it for one, as its annotation does.
            found = believed(found)
        if isinstance(found, _UNKNOWN) or (isinstance(found, Lib) and part not in owners):
            return False
        asked = asked or isinstance(found, Tensor)
    return asked


def _draws(vm: Machine, test: ast.expr) -> bool:
    """Whether a condition itself asks for a random number."""
    calls = [part.func for part in ast.walk(test) if isinstance(part, ast.Call)]
    asked = [vm.language.evaluate(vm, function) for function in calls if isinstance(function, ast.Name | ast.Attribute)]
    return any(isinstance(each, Lib) and each.name.startswith(_RANDOM) for each in asked)


_RANDOM = ("random.", "numpy.random.", "torch.rand")
_UNKNOWN = (Opaque, Expr, Num, Union, ShapeSeq, Claimed)
_OF_TYPES = frozenset(
    {*(f"builtins.{name}" for name in ("isinstance", "issubclass", "hasattr", "callable")), *QUESTIONS}
)


def _asks_unseen(vm: Machine, callee: ast.expr) -> bool:
    """Whether a condition asks for a type, or a function of a library that has no rule."""

    root = callee
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    function = vm.language.evaluate(vm, callee)
    if not isinstance(function, Lib):
        return False
    known = vm.language.special(function.name) is not None or find_op(function.name) is not None
    return not known or function.name in _OF_TYPES
