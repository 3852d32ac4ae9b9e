"""The store of one path: variables, heap records and facts under one roof.

A variable is keyed by (frame, name), a heap record by its address, a fact by
its symbol, middle or a tagged tuple. What finished modules left is in `base`,
which paths share and never write; a path owns only what it changed. Forking a
path copies that; where paths meet only entries that differ are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.interp.join import equal_records, join_records, join_values
from distml.interp.made import Made
from distml.interp.trace import Guard, Log, join_guards, join_logs
from distml.shapes import Middle, Symbol
from distml.values import Opaque, Record, Value, blended

if TYPE_CHECKING:
    from collections.abc import Hashable

    from distml.interp.machine import Machine


class Undefined:
    """What a deleted variable holds."""


UNDEFINED = Undefined()


class Changed:
    """What an unknown value has that it had before something unknown may have changed it: made anew when it is asked for."""


CHANGED = Changed()


class Global:
    """A module variable whose value, once functions run, is not the one the module left."""

    def __init__(self, name: str, serial: int) -> None:
        self.name = name
        self.serial = serial


class Level:
    """What was written since one fork: joining looks only at what two paths wrote apart."""

    __slots__ = ("changed", "depth", "parent")

    def __init__(self, parent: Level | None) -> None:
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.changed: set[Hashable] = set()


MAX_OWN = 96
"""A path with more entries of its own than this shares them, frozen, when it forks."""
MAX_LAYERS = 4


class State:
    """The store of one path: entries of its own over frozen layers that paths share."""

    __slots__ = ("base", "frozen", "guard", "level", "log", "store")

    def __init__(
        self,
        base: dict[Hashable, Any],
        store: dict[Hashable, Any] | None = None,
        level: Level | None = None,
        frozen: tuple[dict[Hashable, Any], ...] = (),
    ) -> None:
        self.base = base
        self.frozen = frozen
        self.store: dict[Hashable, Any] = {} if store is None else store
        self.level = Level(None) if level is None else level
        self.guard: Guard = ()
        self.log: Log | None = None

    def get(self, key: Hashable) -> Any:
        """The entry, None when there is none."""
        found = self.store.get(key)
        if found is None:
            for layer in self.frozen:
                found = layer.get(key)
                if found is not None:
                    break
            else:
                return self.base.get(key)
        return None if found is GONE else found

    def set(self, key: Hashable, value: Any) -> None:
        """Write an entry."""
        self.store[key] = value
        self.level.changed.add(key)

    def drop(self, key: Hashable) -> None:
        """Remove an entry, if it is there."""
        if self.frozen or key in self.base:
            self.store[key] = GONE
        else:
            self.store.pop(key, None)
        self.level.changed.add(key)

    def entries(self) -> dict[Hashable, Any]:
        """All entries but those of the base, newest first where there are several."""
        found: dict[Hashable, Any] = {}
        for layer in self.frozen[::-1]:
            found.update(layer)
        found.update(self.store)
        return {key: value for key, value in found.items() if value is not GONE}

    def fork(self) -> State:
        """A copy that can go its own way."""
        made = self._forked()
        made.guard, made.log = self.guard, self.log
        return made

    def _forked(self) -> State:
        parent = self.level
        self.level = Level(parent)
        if len(self.store) <= MAX_OWN:
            return State(self.base, self.store.copy(), Level(parent), self.frozen)
        self.frozen = (self.store, *self.frozen)
        if len(self.frozen) > MAX_LAYERS:
            merged: dict[Hashable, Any] = {}
            for layer in self.frozen[::-1]:
                merged.update(layer)
            self.frozen = (merged,)
        self.store = {}
        return State(self.base, None, Level(parent), self.frozen)

    def marked(self) -> Level:
        """The level here; what is written from now on is written apart from it."""
        level = self.level
        self.level = Level(level)
        return level


GONE = object()
"""What stands for an entry that was removed from above a frozen layer."""


def written_apart(left: State, right: State) -> tuple[set[Hashable], Level | None]:
    """What either path wrote since they parted, and the level they parted at."""
    return _apart(left.level, right.level)


def written_since(level: Level, state: State) -> set[Hashable]:
    """What a path wrote since it was at `level`."""
    return _apart(level, state.level)[0]


def _apart(a: Level | None, b: Level | None) -> tuple[set[Hashable], Level | None]:
    keys: set[Hashable] = set()
    while a is not b:
        if b is None or (a is not None and a.depth >= b.depth):
            assert a is not None
            keys |= a.changed
            a = a.parent
        else:
            keys |= b.changed
            b = b.parent
    return keys, a


def join_states(vm: Machine, states: list[State]) -> State:
    """The state that covers all of `states`; there is at least one."""
    result = states[0]
    for other in states[1:]:
        if other is not result:
            result = _join(vm, result, other)
    return result


def _join(vm: Machine, left: State, right: State) -> State:
    keys, ancestor = written_apart(left, right)
    level = Level(ancestor)
    level.changed = keys
    result = State(left.base, left.store.copy(), level, left.frozen)
    result.guard, result.log = join_guards(left.guard, right.guard), join_logs(left.log, right.log)
    over = []
    for key in keys:
        a, b = left.get(key), right.get(key)
        if a is b:
            if a is None and type(key) is tuple and type(key[0]) is int and not vm.has_frame(key[0]):
                over.append(key)  # a variable of a call that is over: no later join need look at it
            continue
        if b is None and type(key) is int:
            continue  # an object that was made on the left path only
        value = join_entry(vm, key, a, b)
        if value is None:
            result.drop(key)
        else:
            result.store[key] = value
    keys.difference_update(over)
    return result


def join_entry(vm: Machine, key: Hashable, a: Any, b: Any) -> Any:
    """What an entry is after two paths meet; None when it is no longer known.

    A variable or record that exists on one path only keeps its value: using it
    implies that path. A fact must hold on both.
    """
    if isinstance(key, Symbol | Middle):
        return a if a is not None and a == b else None
    if a is CHANGED or b is CHANGED:
        return CHANGED
    if a is None or b is None:
        _note_sometimes(vm, key)
        present = b if a is None else a
        if type(key) is tuple and (key[0] in _PATH_FACTS or _was_set(key, present)):
            return None
        return present
    if a is UNDEFINED or b is UNDEFINED:
        _note_sometimes(vm, key)
        return b if a is UNDEFINED else a
    if isinstance(a, Made):
        return a.or_by(b)
    if isinstance(a, Record):
        return equal_records(a, b) if a == b else join_records(vm, a, b)
    if isinstance(a, Value):
        return blended(a, b) if a == b else join_values(vm, a, b)
    if type(key) is tuple and key[0] in _PATH_FACTS:
        return a if a == b else None
    return a


def _note_sometimes(vm: Machine, key: Hashable) -> None:
    """A name that only one of two paths has set. In a function who reads it has come from there."""
    if type(key) is tuple and type(key[0]) is int and vm.has_frame(key[0]):
        frame = vm.frame_of(key[0])
        if frame.scope.is_module or frame.scope.is_class:
            frame.sometimes.add(key[1])


def _was_set(key: tuple[Any, ...], value: Any) -> bool:
    """An attribute of an unknown object that only one path set: elsewhere it is unknown."""
    return key[0] in ("attr", "item") and not isinstance(value, Opaque)


_PATH_FACTS = frozenset({"truth", "notnone", "kind"})
"""Tags of facts that hold only where every path established them."""
