"""Summaries: a call that was followed once is not followed again.

A summary holds for equal arguments while everything the call read is as it was. It
is recalled by replaying what the call changed, with what it made renamed, so
that two calls never share one new object or one new symbol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from distml.interp.rename import Renaming
from distml.interp.state import written_since
from distml.values import Function, Value, object_mark

if TYPE_CHECKING:
    from collections.abc import Hashable

    from distml.interp.machine import Machine
    from distml.interp.state import Level

MAX_SUMMARIES = 24
"""How many summaries one function keeps."""


MAX_CHANGES = 200
"""A call that changes more is cheaper to follow again than to replay."""


class Summary(NamedTuple):
    """What one followed call read, changed and gave, and how many exits of the program it had."""

    caught: bool
    exits: int
    reads: dict[Hashable, Any]
    changes: dict[Hashable, Any]
    result: Value
    mark: int
    objects: int
    arguments: tuple[Value, ...]


class Recording(NamedTuple):
    """A call that is being followed: what to restore and compare with at its end."""

    outer_reads: dict[Hashable, Any] | None
    outer_mark: int
    mark: int
    exits: int
    level: Level
    objects: int
    reshapes: int


def _key(vm: Machine, function: Function, bound: dict[str, Value]) -> Hashable:
    return (id(function.node), function.frame, function.owner, tuple(bound.items()), vm.symbolic)


def recall(vm: Machine, function: Function, bound: dict[str, Value]) -> Value | None:
    """The result of an equal call, its effects replayed; None when there was none."""
    for summary in vm.memo.get(_key(vm, function, bound), ()):
        if summary.caught == vm.caught and _still_holds(vm, summary):
            return _replay(vm, summary, tuple(bound.values()))
    return None


def _still_holds(vm: Machine, summary: Summary) -> bool:
    state = vm.state
    for key, value in summary.reads.items():
        current = state.get(key)
        if current is not value and current != value:
            return False
    return True


def _replay(vm: Machine, summary: Summary, arguments: tuple[Value, ...]) -> Value:
    vm.exits += summary.exits
    renaming = Renaming(vm, summary.mark, summary.changes, summary.objects)
    renaming.take(summary.arguments, arguments)
    for key, value in summary.reads.items():
        renaming.take(value, vm.state.get(key))
    if vm.reads is not None:
        for key, value in summary.reads.items():
            vm.reads.setdefault(key, value)
    for key, value in summary.changes.items():
        vm.state.set(renaming.key(key), renaming.entry(value))
    return renaming.value(summary.result)


def start_recording(vm: Machine) -> Recording:
    """Begin to note what a call reads."""
    mark = vm.serial()
    recording = Recording(vm.reads, vm.mark, mark, vm.exits, vm.state.marked(), object_mark(), vm.reshapes)
    vm.reads, vm.mark = {}, mark
    return recording


def stop_recording(vm: Machine, recording: Recording) -> dict[Hashable, Any]:
    """End it; what the call read of older things, the caller read too."""
    reads = vm.reads or {}
    vm.reads, vm.mark = recording.outer_reads, recording.outer_mark
    if vm.reads is not None:
        for key, value in reads.items():
            vm.reads.setdefault(key, value)
    return reads


def remember(vm: Machine, function: Function, bound: dict[str, Value], recording: Recording, result: Value) -> None:
    """Keep the summary of a call that came back."""
    reads = stop_recording(vm, recording)
    written = written_since(recording.level, vm.state)
    if len(written) > MAX_CHANGES or vm.reshapes != recording.reshapes:
        # Which names hold a tensor that is changed in place is not the same for every caller.
        return
    changes = {key: vm.state.get(key) for key in written}
    changes = {key: value for key, value in changes.items() if value is not None}
    summary = Summary(
        vm.caught,
        vm.exits - recording.exits,
        reads,
        changes,
        result,
        recording.mark,
        recording.objects,
        tuple(bound.values()),
    )
    kept = vm.memo.setdefault(_key(vm, function, bound), [])
    if len(kept) < MAX_SUMMARIES:
        kept.append(summary)
