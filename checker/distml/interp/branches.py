"""Branches whose condition is not decided.

At the level of a module, each branch is followed as one that may run. Inside
functions, arguments are what one caller passes, and a condition that is not
decided may well go with them: a caller that passes eight columns also passes
the format that expects eight. What fails there fails on a path that this caller
may never take, so it counts only if every branch fails. What follows `if
unknown: return` or `except Error: return` is such a branch, to the end of the
function; what follows an exit of the program is one everywhere (`interp/exits`).
Conditions on random numbers are no such conditions, nor are those on the data of tensors in the function where an
analysis starts.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.findings import fail
from distml.interp.machine import Handler, PathEnd
from distml.interp.state import State, join_states
from distml.interp.truth import truth
from distml.ops.registry import find_op
from distml.solver.formula import Flag, negate
from distml.values import Claimed, Expr, Lib, Num, Opaque, ShapeSeq, Tensor, Union, Value, believed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.interp.findings import FindingKey
    from distml.interp.machine import Machine
    from distml.solver.formula import Formula


class Undecided(NamedTuple):
    """What is known of a condition that is not decided.

    `free`: data decide it, so that each arm is taken. `doubtful`: an arm may be one that is never taken.
    """

    free: bool
    doubtful: bool


def either(
    vm: Machine, arms: Sequence[Callable[[], None]], condition: Undecided, conditions: Sequence[Formula] = ()
) -> None:
    """Follow every arm from here and join what comes out; ends the path if nothing does.

    `conditions`, of a watched run, say when each arm is taken.
    """
    start = vm.state
    doubtful = condition.doubtful and not conditions
    exits = Exits(vm)
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
        exits.after_arm(vm, condition.free)
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


def unsure(vm: Machine, path: State, what: str) -> State:
    """Say of a path that it may not be taken: what fails on it is then no failure of the whole run that is watched."""
    if vm.watcher is not None:
        path.guard = (*path.guard, Flag(what, vm.serial()))
    return path


def perhaps(vm: Machine, run: Callable[[], object]) -> None:
    """Run what may as well not be run: neither its facts nor its end are certain afterwards."""
    start = vm.state
    after = vm.follow(run, unsure(vm, start.fork(), "it is run"))
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


class Exits:
    """Which arms of a branch end the program: what the others report is behind that exit, whichever came first."""

    def __init__(self, vm: Machine) -> None:
        self.count, self.found = vm.exits, set(vm.findings)
        self.others: set[FindingKey] = set()

    def after_arm(self, vm: Machine, free: bool) -> None:
        """Note what an arm reported; with data deciding, its exit hides nothing."""
        if free:
            vm.exits = self.count
        elif vm.exits > self.count:
            for key in self.others:
                vm.findings.pop(key, None)
        self.others = vm.findings.keys() - self.found


def undecided(vm: Machine, test: ast.expr, value: Value) -> Undecided:
    """What is known of a condition that came out as `value`, which is neither true nor false.

    Data of tensors and random numbers come out both ways. Anything else may go with what runs the program or with
    the arguments of the call it is in: what is not known, sizes, types, whatever a function that nobody sees
    looks at. In a called function the data may go with the arguments too (a caller that passes one number passes a
    zero): only what is drawn there is free. In a module the first of these is what a run may choose, and each arm
    one that some run takes; a test of types is none that a run may choose.
    """
    if any(isinstance(part, ast.Call) and _asks_unseen(vm, part.func) for part in ast.walk(test)):
        return Undecided(free=False, doubtful=True)
    free = not isinstance(value, _UNKNOWN) and _by_data(vm, test)
    return Undecided(free, not free and len(vm.stack) > 1)


def _by_data(vm: Machine, test: ast.expr) -> bool:
    """Whether an array or a random number is asked, and nothing that is not known."""
    from distml.interp.expressions import evaluate

    called = len(vm.stack) > (2 if vm.symbolic else 1)
    drawn = _draws(vm, test)
    if called and not drawn:
        return False
    owners: set[ast.AST] = set()
    for part in ast.walk(test):
        if isinstance(part, ast.Call):
            owners.add(part.func)
        if isinstance(part, ast.Attribute):
            owners.add(part.value)
        if isinstance(part, ast.Name):
            found = evaluate(vm, part)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            owner = evaluate(vm, part.value)
            found = owner if isinstance(owner, Tensor) else evaluate(vm, part)
        else:
            continue
        if part in owners or isinstance(part, ast.Attribute):
            # What is asked of an array takes it for one, as its annotation does.
            found = believed(found)
        if isinstance(found, _UNKNOWN) or (isinstance(found, Lib) and part not in owners):
            return False
        drawn = drawn or isinstance(found, Tensor)
    return drawn


def _draws(vm: Machine, test: ast.expr) -> bool:
    """Whether a condition itself asks for a random number."""
    from distml.interp.expressions import evaluate

    calls = [part.func for part in ast.walk(test) if isinstance(part, ast.Call)]
    asked = [evaluate(vm, function) for function in calls if isinstance(function, ast.Name | ast.Attribute)]
    return any(isinstance(each, Lib) and each.name.startswith(_RANDOM) for each in asked)


_RANDOM = ("random.", "numpy.random.", "torch.rand")
_UNKNOWN = (Opaque, Expr, Num, Union, ShapeSeq, Claimed)
_OF_TYPES = frozenset("isinstance issubclass hasattr callable".split())


def _asks_unseen(vm: Machine, callee: ast.expr) -> bool:
    """Whether a condition asks for a type, or a function of a library that has no rule."""
    from distml.interp.expressions import evaluate
    from distml.interp.special import SPECIAL

    root = callee
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    function = evaluate(vm, callee)
    if not isinstance(function, Lib):
        return False
    known = function.name in SPECIAL or find_op(function.name) is not None
    return not known or function.name.removeprefix("builtins.") in _OF_TYPES
