"""Summaries: a call that was followed once is not followed again.

A summary answers a call whose arguments are those of the recorded call but for which unknowns they are, while what
the recorded call read is, with the same unknowns in their places, what it would read now. It is recalled by
replaying what the call changed, with what it made renamed, so that two calls never share one new object or one new
symbol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from distml.interp.correspondence import Correspondence, Unknown, unknowns_in, youngest
from distml.interp.lessons import settled_again
from distml.interp.recording import around, note_failed, note_raised, stop_recording
from distml.interp.rename import Renaming
from distml.interp.state import written_since
from distml.interp.unsettled import forget_children
from distml.shapes import Dim, Symbol
from distml.values import Const, Function, Lib, Opaque, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Hashable

    from distml.interp.machine import Machine
    from distml.interp.recording import Around, Recording

MAX_SUMMARIES = 24
"""How many summaries of alike calls one function keeps."""
MAX_CHANGES = 2000
"""A call that changes more is cheaper to follow again than to replay."""


class Summary(NamedTuple):
    """What one followed call read, changed and gave, and how many exits of the program it had.

    `around` is where it was followed, if something failed in it. `raises` says that an exception may have left it,
    `unfollowed` that a call in it was not followed.
    """

    around: Around | None
    raises: bool
    unfollowed: bool
    exits: int
    reads: dict[Hashable, Any]
    changes: dict[Hashable, Any]
    gone: tuple[Hashable, ...]
    forgotten: tuple[Opaque, ...]
    result: Value
    mark: int
    objects: int
    arguments: tuple[Value, ...]


def _key(vm: Machine, function: Function, bound: dict[str, Value]) -> Hashable:
    # By name: what was given stands before what is left to defaults.
    kinds = tuple([(name, _kind(value)) for name, value in bound.items()])
    # A function that is analyzed for itself decides other conditions by data than one that is called.
    alone = vm.symbolic and len(vm.stack) == 1
    repeating = vm.repeating > 0
    return (id(function.node), function.frame, function.owner, alone, repeating, vm.symbolic, vm.running_later, kinds)


def _kind(value: Value) -> Hashable:
    """What alike values share, at a glance."""
    if isinstance(value, Const | Lib):
        return (value,)
    if isinstance(value, Tensor):
        return (type(value), value.shape.rank)
    if isinstance(value, Tup):
        return tuple([_kind(item) for item in value.items])
    return type(value).__name__


def recall(vm: Machine, function: Function, bound: dict[str, Value]) -> Value | None:
    """The result of a call like this one, its effects replayed; None when there was none."""
    for summary in vm.memo.get(_key(vm, function, bound), ()):
        if summary.around is not None and summary.around != around(vm):
            continue
        if summary.raises and any(not handler.speculative for handler in vm.handlers):
            continue
        pairs = _paired(vm, summary, tuple(bound.values()))
        if pairs is not None:
            return _replay(vm, summary, pairs)
    return None


def _paired(vm: Machine, summary: Summary, arguments: tuple[Value, ...]) -> Correspondence | None:
    """Which unknowns of the recorded call are which now; None where something else differs."""
    pairs, state = Correspondence(), vm.state
    if not pairs.match(summary.arguments, arguments):
        return None
    renaming: Renaming | None = None
    for key, value in summary.reads.items():
        if not pairs.stays(key):
            return None
        if renaming is None:
            renaming = Renaming(vm, summary.mark, (), summary.objects, pairs)
        if not pairs.match(value, state.get(renaming.key(key))):
            return None
    return pairs if pairs.holds(lambda value: _mentioned(vm, value)) else None


def _mentioned(vm: Machine, value: Any) -> frozenset[Unknown]:
    known = vm.mentioned.get(id(value))
    if known is None:
        # The value is kept too: no other one may get its number.
        known = vm.mentioned[id(value)] = (value, frozenset(unknowns_in(value)))
    return known[1]


def _replay(vm: Machine, summary: Summary, pairs: Correspondence) -> Value:
    vm.exits += summary.exits
    renaming = Renaming(vm, summary.mark, summary.changes, summary.objects, pairs)
    if vm.recording is not None:
        for key in summary.reads:
            now = renaming.key(key)
            vm.recording.read(now, vm.state.get(now))
        if summary.raises:
            note_raised(vm)
        if summary.around is not None:
            note_failed(vm, len(vm.handlers))
    for parent in summary.forgotten:
        forget_children(vm, renaming.entry(parent))
    for key in summary.gone:
        vm.state.drop(renaming.key(key))
    for key, value in summary.changes.items():
        _change(vm, renaming, key, value)
    for key in [key for key in summary.changes if key in vm.generated] if vm.generated else ():
        vm.generated[renaming.key(key)] = vm.generated[key].again(
            vm, renaming.key, renaming.value, vm.at(renaming.key(key))
        )
    result = renaming.value(summary.result)
    if summary.unfollowed:
        vm.unfollowed = vm.serial()
    return result


def _change(vm: Machine, renaming: Renaming, key: Hashable, value: Any) -> None:
    now, entry = renaming.key(key), renaming.entry(value)
    if vm.symbolic and type(now) is Symbol and isinstance(entry, Dim):
        entry = settled_again(vm, now, entry)
    elif type(now) is tuple and now[0] in ("attr", "item"):
        vm.note_child(now)
    elif type(key) is int and key != now and key in vm.views:
        vm.views[now] = renaming.entry(vm.views[key])
    vm.state.set(now, entry)


def remember(vm: Machine, function: Function, bound: dict[str, Value], recording: Recording, result: Value) -> None:
    """Keep the summary of a call that came back."""
    stop_recording(vm, recording)
    if vm.reshapes != recording.reshapes or recording.escaped:
        # Which names hold a tensor that is changed in place is not the same for every caller.
        return
    written = written_since(recording.level, vm.state)
    found = {key: vm.state.get(key) for key in written}
    changes = _reachable({key: value for key, value in found.items() if value is not None}, recording.mark, result)
    if len(changes) > MAX_CHANGES:
        return
    summary = Summary(
        recording.around if recording.failed else None,
        recording.raises,
        vm.unfollowed > recording.mark,
        vm.exits - recording.exits,
        recording.reads,
        changes,
        tuple(key for key, value in found.items() if value is None and youngest(key) <= recording.mark),
        tuple(recording.forgotten),
        result,
        recording.mark,
        recording.objects,
        tuple(bound.values()),
    )
    kept = vm.memo.setdefault(_key(vm, function, bound), [])
    if len(kept) < MAX_SUMMARIES:
        kept.append(summary)


def _reachable(changes: dict[Hashable, Any], mark: int, result: Value) -> dict[Hashable, Any]:
    """The changes less those of what a call made and let go: nothing that outlives it leads there. More than `MAX_CHANGES` are
    not all looked for.
    """
    owners: dict[Unknown, list[Hashable]] = {}
    kept: dict[Hashable, Any] = {}
    waiting: list[Any] = [result]
    for key, value in changes.items():
        young = [each for each in _named(key) if (each if isinstance(each, int) else each.serial) > mark]
        if not young:
            kept[key] = value
            waiting.append(value)
        for each in young:
            owners.setdefault(each, []).append(key)
    while waiting and owners and len(kept) <= MAX_CHANGES:
        for unknown in unknowns_in(waiting.pop()):
            for key in owners.pop(unknown, ()):
                if key not in kept:
                    kept[key] = changes[key]
                    waiting += (key, changes[key])
    return kept


def _named(key: Hashable) -> tuple[Unknown, ...]:
    """What a key of the store is about."""
    if type(key) is int:
        return (key,)
    if type(key) is tuple and type(key[0]) is int:
        return (key[0],)
    return tuple(unknowns_in(key))
