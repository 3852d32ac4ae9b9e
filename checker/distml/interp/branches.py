"""Branches whose condition is not decided.

In the function where an analysis starts, each branch is followed as one that
may run. Inside functions that it calls, arguments are what one caller passes, and
a condition that is not decided may well go with them: a caller that passes eight
columns also passes the format that expects eight. What fails there fails on a
path that this caller may never take, so it counts only if every branch fails. What
follows `if unknown: return` or `except Error: return` is such a branch, to the
end of the function.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.findings import fail
from distml.interp.machine import Handler, PathEnd
from distml.interp.state import State, join_states
from distml.interp.truth import truth
from distml.solver.formula import negate
from distml.values import Expr, Num, Opaque, ShapeSeq, Tensor, Union, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.interp.machine import Machine
    from distml.solver.formula import Formula


def either(vm: Machine, arms: Sequence[Callable[[], None]], doubtful: bool, conditions: Sequence[Formula] = ()) -> None:
    """Follow every arm from here and join what comes out; ends the path if nothing does.

    `conditions`, of a watched run, say when each arm is taken.
    """
    start = vm.state
    doubtful = doubtful and not conditions
    ends: list[State] = []
    attempts: list[Handler] = []
    returned = len(vm.frame.returns)
    for index, arm in enumerate(arms):
        attempt = Handler(catches_shapes=True, speculative=True)
        if doubtful:
            vm.handlers.append(attempt)
        entry = start.fork()
        if conditions:
            entry.guard = (*start.guard, conditions[index])
        try:
            after = vm.follow(arm, entry)
        finally:
            if doubtful:
                vm.handlers.pop()
        attempts.append(attempt)
        if after is not None:
            ends.append(after)
    if doubtful:
        pass_on(vm, attempts)
        vm.frame.doubtful = vm.frame.doubtful or len(vm.frame.returns) > returned
    if not ends:
        vm.state = start
        if doubtful and all(attempt.errors for attempt in attempts):
            raise_first(vm, attempts)
        raise PathEnd
    vm.state = join_states(vm, ends)


def decided(vm: Machine, node: ast.AST, test: ast.expr, value: Value) -> tuple[bool | None, tuple[Formula, ...]]:
    """Whether a condition holds, None when unknown; of a watched run also when each of the two arms is taken."""
    known = truth(vm, value)
    if vm.watcher is None:
        return known, ()
    known, condition = vm.watcher.visit(node, test, value, known)
    return known, (condition, negate(condition))


def perhaps(vm: Machine, run: Callable[[], object]) -> None:
    """Run what may as well not be run: neither its facts nor its end are certain afterwards."""
    start = vm.state
    after = vm.follow(run, start.fork())
    vm.state = start if after is None else join_states(vm, [start, after])


def pass_on(vm: Machine, attempts: Sequence[Handler]) -> None:
    """Exceptions of the program that crossed an attempt reach the handler around it."""
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


def in_doubt(vm: Machine, test: ast.expr) -> bool:
    """Whether an undecided condition may go with the arguments of the call it is in.

    One on the data of tensors or on random numbers does not.
    """
    if len(vm.stack) < 2:
        return False
    from distml.interp.expressions import evaluate

    for part in ast.walk(test):
        if isinstance(part, ast.Name):
            value = evaluate(vm, part)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            owner = evaluate(vm, part.value)
            value = owner if isinstance(owner, Tensor) else evaluate(vm, part)
        else:
            continue
        if isinstance(value, Opaque | Expr | Num | Union | ShapeSeq):
            return True
    return False
