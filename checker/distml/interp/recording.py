"""What happens while a call is followed: what it reads, and what leaves it beside its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from distml.interp.correspondence import youngest
from distml.values import Opaque, object_mark

if TYPE_CHECKING:
    from collections.abc import Hashable

    from distml.interp.machine import Machine
    from distml.interp.state import Level


class Around(NamedTuple):
    """What a failure meets around a call: who catches it, and whether the path is taken for sure."""

    caught: bool
    certain: bool
    speculative: bool


class Recording:
    """A call that is being followed: what to restore and compare with at its end, and what happened meanwhile."""

    def __init__(self, vm: Machine) -> None:
        self.outer = vm.recording
        self.mark = vm.serial()
        self.reads: dict[Hashable, Any] = {}
        self.level: Level = vm.state.marked()
        self.exits = vm.exits
        self.objects = object_mark()
        self.reshapes = vm.reshapes
        self.handlers = len(vm.handlers)
        self.around = around(vm)
        self.failed = self.escaped = self.raises = False
        self.forgotten: dict[Opaque, None] = {}

    def read(self, key: Hashable, value: Any) -> None:
        """Note what an entry was when it was read first, if it is older than the call."""
        if key not in self.reads and youngest(key) <= self.mark:
            self.reads[key] = value

    def forget(self, parent: Opaque) -> None:
        """Note that the attributes of a value became unknown, if it is older than the call: those of others are changes."""
        if parent.serial <= self.mark:
            self.forgotten[parent] = None


def around(vm: Machine) -> Around:
    """What a failure here would meet."""
    doubtful = bool(vm.exits) or any(active.doubtful for active in vm.stack)
    return Around(vm.caught, not doubtful, any(handler.speculative for handler in vm.handlers))


def note_raised(vm: Machine) -> None:
    """An exception of the program goes to the innermost handler: it leaves the calls that were begun inside that."""
    recording = vm.recording
    while recording is not None and recording.handlers >= len(vm.handlers):
        recording.raises = True
        recording = recording.outer


def note_failed(vm: Machine, handler: int) -> None:
    """A call of a library failed: `handler` is the place of the one that gets it, or how many there are for none."""
    recording = vm.recording
    while recording is not None:
        recording.failed = True
        recording.escaped |= handler < recording.handlers
        recording = recording.outer


def start_recording(vm: Machine) -> Recording:
    """Begin to note what a call reads."""
    vm.recording = Recording(vm)
    return vm.recording


def stop_recording(vm: Machine, recording: Recording) -> None:
    """End it; what the call read of older things, the caller read too."""
    outer = vm.recording = recording.outer
    if outer is not None:
        for key, value in recording.reads.items():
            outer.read(key, value)
        for parent in recording.forgotten:
            outer.forget(parent)
