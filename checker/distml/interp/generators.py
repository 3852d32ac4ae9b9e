"""Generators: what a call of one hands out, and what its body, which runs piece by piece, does to everything else.

A body is followed when the generator is made. What it hands out then holds for as long as what it read is as it was.
"""

from __future__ import annotations

import ast
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.correspondence import unknowns_in
from distml.interp.join import Wild, join_many, join_values, widen_records, widen_values
from distml.interp.recording import start_recording, stop_recording
from distml.interp.several import Several
from distml.interp.state import written_since
from distml.values import NONE, Function, IteratorRecord, Record, Ref, Tup, Value, alternatives

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from distml.interp.frames import Frame
    from distml.interp.machine import Machine

_HANDED_OUT = "values handed out"
"""A variable that no program can name: paths join it like any other, so that a number of items is known where all agree."""
_LIKE = "values like those handed out"
MAX_HANDED_OUT = 1024


def hand_out(vm: Machine, *values: Value, counted: bool = True) -> None:
    """`yield` of values one after another; if not `counted`, of an unknown number of values like these."""
    frame = vm.frame
    frame.yields.extend(values)
    for value in values:
        if any(isinstance(each, int) for each in unknowns_in(value)):
            _liken(vm, frame, value)
    if frame.outside is not None:
        frame.outside.pause(vm)
    before = vm.variable(frame.ident, _HANDED_OUT)
    known = counted and isinstance(before, Tup) and len(before.items) < MAX_HANDED_OUT
    vm.assign(frame.ident, _HANDED_OUT, Tup((*before.items, *values)) if known else vm.opaque("items"))  # type: ignore[union-attr]


def _liken(vm: Machine, frame: Frame, value: Value) -> None:
    """Keep one value that is like all that was handed out, with objects that stand for those made anew each time."""
    before = vm.variable(frame.ident, _LIKE)
    several = Several(vm, vm.loops[0].began if vm.loops else sys.maxsize)
    several.standing = frame.standing
    made = several.in_place(NONE if before is None else before, value, frame.ident)
    several.settle()
    vm.assign(frame.ident, _LIKE, made if before is None else join_values(vm, before, made))


def _any(vm: Machine, frame: Frame) -> Value:
    """One value for all that was handed out."""
    found = vm.variable(frame.ident, _LIKE)
    return join_many(vm, list(dict.fromkeys(frame.yields))) if found is None or not frame.standing else found


def handed_out(vm: Machine, frame: Frame) -> tuple[Value, ...] | None:
    """What a body that has ended handed out in this order, None where that depends on the path."""
    found = vm.variable(frame.ident, _HANDED_OUT)
    options = () if found is None else alternatives(found)
    paths = [each.items for each in options if isinstance(each, Tup)]
    if len(paths) < max(len(options), 1) or len({len(items) for items in paths}) > 1:
        return None
    return tuple(join_many(vm, each) for each in zip(*paths, strict=True))


class Outside:
    """The state that a generator begins in. Its body runs piece by piece while it is consumed, so that what
    it changes outside may at any later time be as before, as at its end, or anything between."""

    def __init__(self, vm: Machine, since: int) -> None:
        self.since = since
        self.before = vm.state.fork()
        self.level = vm.state.marked()
        self.wild = Wild(dynamic=True)
        self.paused: dict[Hashable, Value | Record] = {}

    def pause(self, vm: Machine) -> None:
        """Its body waits at a `yield`: what it has changed by then may be changed back before its end."""
        for key, old, new in self._changed(vm):
            self.paused[key] = _both(vm, self.paused.get(key, old), new, self.wild)

    def blur(self, vm: Machine) -> tuple[Hashable, ...]:
        """Widen everything older that its body changed, and say what that is."""
        changed = [*self._changed(vm)]
        for key, old, new in changed:
            vm.state.set(key, _both(vm, self.paused.get(key, old), new, self.wild))
        return tuple(key for key, _, _ in changed)

    def _changed(self, vm: Machine) -> Iterator[tuple[Hashable, Value | Record, Value | Record]]:
        """Everything older that has been written since, as it was and as it is."""
        for key in written_since(self.level, vm.state):
            address = key[0] if type(key) is tuple else key
            old, new = self.before.get(key), vm.state.get(key)
            if type(address) is int and address < self.since and _covered(old, new):
                yield key, old, new


def _covered(old: object, new: object) -> bool:
    """Whether both can be covered by one: an object's records, or a variable's values."""
    return any(isinstance(old, kind) and isinstance(new, kind) for kind in (Record, Value))


def _both(vm: Machine, old: Value | Record, new: Value | Record, wild: Wild) -> Value | Record:
    if isinstance(old, Record) and isinstance(new, Record):
        return widen_records(vm, old, new, wild)
    assert isinstance(old, Value) and isinstance(new, Value)
    return widen_values(vm, old, new, wild)


class Body(NamedTuple):
    """A generator that does something with what it is sent: its function and arguments, and what was made of it."""

    function: Function
    bound: dict[str, Value]
    record: Record


class Later:
    """What the body of a generator, which is still to run, has read and changes: each with the value it may meet and set."""

    def __init__(self, vm: Machine, reads: Iterable[Hashable], changes: Iterable[Hashable]) -> None:
        self.reads = tuple((key, vm.state.get(key)) for key in reads)
        self.changes = tuple((key, vm.state.get(key)) for key in changes)
        self.body: Body | None = None

    def goes_on(self, vm: Machine, record: Record | None) -> Record | None:
        """What is left to give, unknown where what the body read has changed since; as it is asked for, the body runs on, and
        what it changes may be as it sets it, whatever was set since."""
        for key, value in self.changes:
            now = vm.state.get(key)
            if now is not value and now != value and _covered(value, now):
                vm.state.set(key, _both(vm, value, now, Wild(dynamic=True)))
        return record if self.is_as_before(vm) else IteratorRecord(None)

    def is_as_before(self, vm: Machine) -> bool:
        """Whether what the body read is as it was."""
        return all((now := vm.get(key)) is value or now == value for key, value in self.reads)

    def again(
        self, vm: Machine, key: Callable[[Hashable], Hashable], value: Callable[[Value], Value], record: Record
    ) -> Later:
        """That of a generator like this one, made by a call like the one that made it, with its keys and values renamed."""
        made = Later(vm, [key(each) for each, _ in self.reads], [key(each) for each, _ in self.changes])
        if self.body is not None:
            bound = {name: value(each) for name, each in self.body.bound.items()}
            made.body = Body(self.body.function, bound, record)
        return made


def made_of(vm: Machine, made: Value, reads: Iterable[Hashable], changes: Iterable[Hashable]) -> Value:
    """The generator `made`, whose body has read and changes these entries."""
    if isinstance(made, Ref):
        own = [key for key in reads if _assigned(key) and key != made.address]
        vm.generated[made.address] = Later(vm, own, changes)
    return made


def drawing_on(vm: Machine, made: Value, sources: Iterable[Value]) -> Value:
    """The iterator `made` of a library, which goes on with these."""
    if not vm.generated or not isinstance(made, Ref) or not isinstance(vm.at(made.address), IteratorRecord):
        return made
    later = [vm.generated[each.address] for each in sources if isinstance(each, Ref) and each.address in vm.generated]
    if later and made.address not in vm.generated:
        vm.generated[made.address] = Later(vm, (), dict.fromkeys(key for each in later for key, _ in each.changes))
    return made


def reads_of(vm: Machine, value: Value, frame: int) -> bool:
    """Whether a value is a generator, or a tuple with one, whose body reads variables of a frame."""
    parts = value.items if isinstance(value, Tup) else alternatives(value)
    made = [vm.generated.get(each.address) for each in parts if isinstance(each, Ref)] if vm.generated else ()
    return any(type(key) is tuple and key[0] == frame for later in made if later for key, _ in later.reads)


def _assigned(key: Hashable) -> bool:
    """Whether an entry is a variable, an object or a part of one: the others are learned, and stay so."""
    return type(key) is int or (type(key) is tuple and (type(key[0]) is int or key[0] in ("attr", "item")))


@contextmanager
def made_later(vm: Machine, waits: bool = False) -> Iterator[list[Value]]:
    """Follow what runs piece by piece later, and may wait in between; the iterator that comes of it is put into the list."""
    found: list[Value] = []
    recording, outside = start_recording(vm), Outside(vm, vm.serial())
    waiting = vm.waiting
    vm.waiting = [*waiting, outside] if waits else waiting
    try:
        yield found
    finally:
        stop_recording(vm, recording)
        vm.waiting = waiting
    changes = outside.blur(vm)
    for each in found:
        made_of(vm, each, recording.reads, changes)


_AWAITED = "distml_awaited"
"""The mark of a call that is awaited where it is written."""


def note_awaited(node: ast.expr) -> None:
    """What this call gives is awaited at once."""
    if isinstance(node, ast.Call):
        setattr(node, _AWAITED, True)


def coroutine(vm: Machine, node: ast.AST, run: Callable[[], Value]) -> Value:
    """What the call of a coroutine function gives: its result where it is awaited at once, else what runs later."""
    if getattr(node, _AWAITED, False):
        return run()
    with made_later(vm, waits=True) as made:
        made.append(vm.allocate(IteratorRecord((run(),))))
    return made[0]


def awaited(vm: Machine, value: Value) -> Value:
    """`await value`: others may run meanwhile, and see what is changed so far."""
    for outside in vm.waiting:
        outside.pause(vm)
    found = []
    for each in alternatives(value):
        record = vm.record(each) if isinstance(each, Ref) else None
        items = record.items if isinstance(record, IteratorRecord) else (each,)
        found.append(items[0] if items else vm.opaque("awaited"))
    return join_many(vm, found)


class Entry:
    """The call of a generator function."""

    def __init__(self, vm: Machine, frame: Frame) -> None:
        self.frame = frame
        vm.assign(frame.ident, _HANDED_OUT, Tup(()))
        self.outside = frame.outside = Outside(vm, frame.ident)

    def generator(self, vm: Machine, items: tuple[Value, ...] | None, *, endless: bool = False) -> Value:
        """What the call gives: `items`, or an unknown number of all that was handed out; no end of them if `endless`."""
        changes = self.outside.blur(vm)
        item = None if items is not None else _any(vm, self.frame)
        record = IteratorRecord(items, item, endless=endless)
        made = made_of(vm, vm.allocate(record), () if vm.recording is None else vm.recording.reads, changes)
        function = self.frame.function
        if isinstance(made, Ref) and function is not None and self.frame.scope.is_told:
            vm.generated[made.address].body = Body(function, self.frame.arguments, record)
        return made
