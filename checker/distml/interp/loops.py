"""Loops: followed turn by turn while that is possible, widened otherwise.

A loop over known items, or one whose condition is decided, runs as the program
would, up to a bound on work. Beyond it, and for loops of unknown length, one turn
is run from a state that covers every turn: what the body changes is widened until
nothing changes any more, which happens after a few turns because every entry can
only climb from a value to a general one to an unknown one.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from distml.interp.branches import decided, sheltered, unsure
from distml.interp.iteration import fresh_item
from distml.interp.join import Wild, join_many, repeated, widen_records, widen_values
from distml.interp.likeness import is_steady
from distml.interp.machine import PathEnd
from distml.interp.one_value import items_of
from distml.interp.patterns import assign_target
from distml.interp.refine import refine
from distml.interp.scope import assigned_names
from distml.interp.several import Several, make_several
from distml.interp.state import State, join_entry, join_states, written_apart
from distml.interp.truth import truth
from distml.shapes import Middle, Symbol
from distml.values import Last, ListRecord, Many, Record, Ref, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from distml.interp.machine import Machine

MAX_TURNS = 256
FEW_TURNS = 16
HEAVY_TURN = 60
"""Of more than a few turns, one of more statements is not repeated when it left everything as it was."""
MAX_ROUNDS = 6
MAX_REPEATING = 2
"""Repetitions around another that still runs until nothing changes any more."""


class Loop:
    """A loop being run: the states that left its body early."""

    def __init__(self) -> None:
        self.began = 0
        """How old what a turn makes is not."""
        self.breaks: list[State] = []
        self.continues: list[State] = []
        self.goes_on = False
        """Whether some turn comes to its end, so that another may follow."""


def execute_break(vm: Machine, node: ast.Break) -> None:
    """Leave the loop."""
    if vm.loops:
        vm.loops[-1].breaks.append(vm.state)
    raise PathEnd


def execute_continue(vm: Machine, node: ast.Continue) -> None:
    """Go on with the next turn."""
    if vm.loops:
        vm.loops[-1].continues.append(vm.state)
    raise PathEnd


def _turn(vm: Machine, loop: Loop, run: Callable[[], None]) -> State | None:
    """Run the body once; the state at its end, None if no path gets there."""
    loop.began = vm.serial()
    after = vm.follow(run)
    ends = loop.continues if after is None else [*loop.continues, after]
    loop.continues = []
    return join_states(vm, ends) if ends else None


@contextmanager
def _open_ends(vm: Machine) -> Iterator[None]:
    """What a `break` or `continue` that may be met leaves open ends with the loop."""
    before = vm.frame.left_open
    try:
        yield
    finally:
        vm.frame.left_open = before


def execute_for(vm: Machine, node: ast.For | ast.AsyncFor) -> None:
    """`for target in iterable`."""
    with _open_ends(vm):
        _for(vm, node)


def _for(vm: Machine, node: ast.For | ast.AsyncFor) -> None:
    source = _Source(vm, vm.language.evaluate(vm, node.iter), node.iter)
    loop = Loop()
    vm.loops.append(loop)
    try:
        items = source.items()
        run = _for_known if isinstance(items, tuple) else _for_unknown
        after = run(vm, node, loop, source)
    finally:
        vm.loops.pop()
    _leave(vm, node, loop, after)


class _Source:
    """What a `for` goes through. A list is read anew in each turn, so that what the body adds is met too."""

    def __init__(self, vm: Machine, value: Value, node: ast.expr) -> None:
        self.vm = vm
        self.value = value
        self._items = items_of(vm, value, node)
        self._record = self._list()

    def _list(self) -> Record | None:
        record = self.vm.record(self.value) if isinstance(self.value, Ref) else None
        return record if isinstance(record, ListRecord) else None

    def items(self) -> tuple[Value, ...] | Many:
        """The items, or one for all, as they are now."""
        return self._items if self._list() is self._record else self.vm.iterate(self.value)

    def any(self, start: int = 0) -> Many:
        """One for all items from a place on."""
        items = self.items()
        return items if isinstance(items, Many) else Many(join_many(self.vm, list(dict.fromkeys(items[start:]))))


def _for_known(vm: Machine, node: ast.For | ast.AsyncFor, loop: Loop, source: _Source) -> State | None:
    begun, steady, index = vm.steps, False, 0
    targets: set[Hashable] = {(vm.frame.ident, name) for name in assigned_names([node.target])}
    items = source.items()
    while isinstance(items, tuple):
        if index >= len(items):
            return vm.state
        if index > 1 and (steady or vm.steps - begun > vm.limits.loop_steps):
            break
        item = items[index]

        def run(item: Value = item) -> None:
            assign_target(vm, node.target, item)
            vm.language.execute_block(vm, node.body)

        before, turn_begun = vm.state.fork(), vm.steps
        after = _turn(vm, loop, run)
        if after is None:
            return None
        heavy = len(items) > FEW_TURNS and vm.steps - turn_begun > HEAVY_TURN
        steady = heavy and is_steady(before, after, targets)
        vm.state = after
        index += 1
        items = source.items()
    return _for_unknown(vm, node, loop, source, index)


def _for_unknown(
    vm: Machine, node: ast.For | ast.AsyncFor, loop: Loop, source: _Source, start: int = 0
) -> State | None:
    items = source.any(start)

    def run() -> None:
        assign_target(vm, node.target, fresh_item(vm, source.any(start)))
        vm.language.execute_block(vm, node.body)

    returned = len(vm.frame.returns)
    after = _fixpoint(vm, loop, run, lambda: True)
    if not (loop.goes_on or loop.breaks):
        # What follows, here and in the callers, is reached where there are no items, and nobody says that this may be.
        vm.exits += 1
    left_early = vm.frame.scope.is_generator or loop.breaks or len(vm.frame.returns) > returned
    if items.last is None or after is None or left_early:
        return after
    return _last_turns(vm, node, loop, items.last, after)


def _last_turns(vm: Machine, node: ast.For | ast.AsyncFor, loop: Loop, last: Last, after: State | None) -> State | None:
    """The turn for the last item, which is unlike the others, behind one that leaves what those leave; what was said of all is
    not said of it again."""

    def run(item: Value) -> None:
        assign_target(vm, node.target, item)
        vm.language.execute_block(vm, node.body)

    revealed = dict(vm.revealed)
    for item in (last.before, last.item):
        said = dict(vm.findings)
        if after is not None:
            vm.state = after
            after = _turn(vm, loop, partial(run, item))
    for key, finding in vm.findings.items():
        own = finding._replace(message=f"{finding.message}; {last.note}", hint=last.hint, fix=None)
        vm.findings[key] = said.get(key, own)
    vm.revealed.update(revealed)
    return after


def execute_while(vm: Machine, node: ast.While) -> None:
    """`while test`."""
    loop = Loop()
    with _open_ends(vm):
        vm.loops.append(loop)
        try:
            after = _while(vm, node, loop)
        finally:
            vm.loops.pop()
        _leave(vm, node, loop, after)


def _while(vm: Machine, node: ast.While, loop: Loop) -> State | None:
    begun = vm.steps
    always = isinstance(node.test, ast.Constant) and bool(node.test.value)
    for turn in range(MAX_TURNS):
        _, known, _ = decided(vm, node, node.test)
        if known is False:
            refine(vm, node.test, False)
            return vm.state
        if known is None or vm.steps - begun > vm.limits.loop_steps:
            break
        if always and turn > 2 and (vm.frame.scope.is_generator or not loop.breaks):
            break
        left = len(loop.breaks)
        after = _turn(vm, loop, lambda: vm.language.execute_block(vm, node.body))
        if after is None:
            return None
        vm.state = after
        if len(loop.breaks) > left:
            # Whether this iteration is the last is as open as for a test in the head that is not decided.
            break

    def run() -> None:
        if truth(vm, vm.language.evaluate(vm, node.test)) is False:
            raise PathEnd
        refine(vm, node.test, True)
        vm.language.execute_block(vm, node.body)

    after = _fixpoint(vm, loop, run, lambda: not always)
    if after is None or always:
        return None
    vm.state = unsure(vm, after, "the test fails") if loop.breaks else after
    known = truth(vm, vm.language.evaluate(vm, node.test))
    if known is True:
        return None
    refine(vm, node.test, False)
    return vm.state


def _fixpoint(vm: Machine, loop: Loop, run: Callable[[], None], may_end: Callable[[], bool]) -> State | None:
    """The state that covers the loop head on every turn; also what follows the loop.

    The first turn runs from the state at entry, so its mistakes are real; later
    ones run from states that cover more and more turns.
    """
    vm.repeating += 1
    try:
        return _rounds(vm, loop, run, may_end)
    finally:
        vm.repeating -= 1


def _rounds(vm: Machine, loop: Loop, run: Callable[[], None], may_end: Callable[[], bool]) -> State | None:
    head = vm.state
    wild = Wild(Several(vm, vm.serial()))
    first = len(loop.breaks)
    for attempt in range(MAX_ROUNDS):
        vm.state = unsure(vm, head.fork(), "the loop goes on")
        wild.began(vm.serial())
        breaks = len(loop.breaks)
        after = _turn(vm, loop, run)
        if after is None:
            return head if may_end() else None
        loop.goes_on = True
        widened = _widen(vm, head, after, wild, last=attempt == MAX_ROUNDS - 1)
        if widened is None:
            break
        if attempt:
            # An earlier round's way out is covered by this one's.
            del loop.breaks[first:breaks]
        head = widened
    return head if may_end() else None


def any_times(vm: Machine, run: Callable[[], object]) -> bool:
    """Run what is run an unknown number of times, or never: for the items of a comprehension, the calls of a callback.

    Whether what the last run gave stands for every run. Rounds inside of rounds multiply, so those inside of a few
    others run once.
    """
    head, wild, mark = vm.state, Wild(), vm.serial()
    after: State | None = None
    rounds = MAX_ROUNDS if vm.repeating < MAX_REPEATING else 1
    settled = False
    vm.repeating += 1
    try:
        for attempt in range(rounds):
            wild.mark = vm.serial()
            with sheltered(vm):
                after = vm.follow(run, unsure(vm, head.fork(), "it is run"))
            widened = None if after is None else _widen(vm, head, after, wild, last=attempt == rounds - 1)
            if widened is None:
                settled = True
                break
            head = widened
    finally:
        vm.repeating -= 1
    vm.state = head if after is None else join_states(vm, [head, after])
    make_several(vm, mark)
    return settled


def _widen(vm: Machine, head: State, after: State, wild: Wild, last: bool) -> State | None:
    """The next head; None when `after` is already covered."""
    keys, _ = written_apart(head, after)
    result = head.fork()
    changed = False
    vm.state = result
    for key in keys:
        if type(key) is int and head.get(key) is None and after.get(key) is not None:
            result.set(key, after.get(key))
    for key in keys:
        old, new = head.get(key), after.get(key)
        if old is new:
            continue
        value = _widen_entry(vm, key, old, new, wild, last)
        if vm.flow is not None and isinstance(value, Value) and not last:
            met = vm.flow.met(head, after, (old, new, value), result)
            if met is not value:
                changed = True
                result.set(key, met)
                continue
        if value is old or (value == old and value is not None):
            continue
        if value is None:
            changed = changed or (old is not None and isinstance(key, Symbol | Middle))
            result.drop(key)
        else:
            # What exists only inside the body does not change the head.
            changed = changed or old is not None
            result.set(key, value)
    return result if not wild.settled() or changed else None


def _widen_entry(vm: Machine, key: Hashable, old: Any, new: Any, wild: Wild, last: bool) -> Any:
    if isinstance(key, Symbol | Middle) or old is None or new is None:
        return join_entry(vm, key, old, new) if old is not None else _new_entry(vm, key, new, wild)
    if last and isinstance(old, Value):
        return old if old in wild else vm.opaque("loop value")
    if isinstance(old, Value) and isinstance(new, Value):
        return widen_values(vm, old, new, wild)
    if isinstance(old, Record) and isinstance(new, Record):
        return widen_records(vm, old, new, wild)
    return join_entry(vm, key, old, new)


def _new_entry(vm: Machine, key: Hashable, new: Any, wild: Wild) -> Any:
    """An entry the body made: facts of one turn do not hold at the head."""
    if isinstance(key, Symbol | Middle) or (type(key) is tuple and isinstance(key[0], str)):
        return None
    return repeated(vm, new, wild) if isinstance(new, Value) else new


def _leave(vm: Machine, node: ast.For | ast.AsyncFor | ast.While, loop: Loop, after: State | None) -> None:
    ends = list(loop.breaks)
    if after is not None:
        vm.state = after
        normal = vm.follow(lambda: vm.language.execute_block(vm, node.orelse))
        if normal is not None:
            ends.append(normal)
    if not ends:
        raise PathEnd
    vm.state = join_states(vm, ends)
