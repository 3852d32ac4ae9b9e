"""The store of one path: variables, heap records and facts under one roof.

A variable is keyed by (frame, name), a heap record by its address, a fact by
its symbol, middle or a tagged tuple. What finished modules left is in `base`,
which paths share and never write; a path owns only what it changed. Forking a
path copies that; where paths meet only entries that differ are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.interp.join import join_records, join_values
from distml.shapes import Middle, Symbol
from distml.values import Opaque, Record, Value

if TYPE_CHECKING:
    from collections.abc import Hashable

    from distml.interp.machine import Machine


class Undefined:
    """What a deleted variable holds."""


UNDEFINED = Undefined()


class Level:
    """What was written since one fork: joining looks only at what two paths wrote apart."""

    __slots__ = ("changed", "depth", "parent")

    def __init__(self, parent: Level | None) -> None:
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.changed: set[Hashable] = set()


class State:
    """The store of one path."""

    __slots__ = ("base", "level", "store")

    def __init__(
        self,
        base: dict[Hashable, Any],
        store: dict[Hashable, Any] | None = None,
        level: Level | None = None,
    ) -> None:
        self.base = base
        self.store: dict[Hashable, Any] = {} if store is None else store
        self.level = Level(None) if level is None else level

    def get(self, key: Hashable) -> Any:
        """The entry, None when there is none."""
        found = self.store.get(key)
        return self.base.get(key) if found is None else found

    def set(self, key: Hashable, value: Any) -> None:
        """Write an entry."""
        self.store[key] = value
        self.level.changed.add(key)

    def drop(self, key: Hashable) -> None:
        """Remove an entry, if it is there."""
        if self.store.pop(key, None) is not None:
            self.level.changed.add(key)

    def fork(self) -> State:
        """A copy that can go its own way."""
        parent = self.level
        self.level = Level(parent)
        return State(self.base, self.store.copy(), Level(parent))


def written_apart(left: State, right: State) -> tuple[set[Hashable], Level | None]:
    """What either path wrote since they parted, and the level they parted at."""
    keys: set[Hashable] = set()
    a: Level | None = left.level
    b: Level | None = right.level
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
    joined = left.store.copy()
    level = Level(ancestor)
    level.changed = keys
    for key in keys:
        a, b = left.get(key), right.get(key)
        if a is b:
            continue
        value = join_entry(vm, key, a, b)
        if value is None:
            joined.pop(key, None)
        else:
            joined[key] = value
    return State(left.base, joined, level)


def join_entry(vm: Machine, key: Hashable, a: Any, b: Any) -> Any:
    """What an entry is after two paths meet; None when it is no longer known.

    A variable or record that exists on one path only keeps its value: using it
    implies that path. A fact must hold on both.
    """
    if isinstance(key, Symbol | Middle):
        return a if a is not None and a == b else None
    if a is None or b is None:
        present = b if a is None else a
        if type(key) is tuple and (key[0] in _PATH_FACTS or _was_set(key, present)):
            return None
        return present
    if a is UNDEFINED or b is UNDEFINED:
        return b if a is UNDEFINED else a
    if isinstance(a, Record):
        return a if a == b else join_records(vm, a, b)
    if isinstance(a, Value):
        return a if a == b else join_values(vm, a, b)
    if type(key) is tuple and key[0] in _PATH_FACTS:
        return a if a == b else None
    return a


def _was_set(key: tuple[Any, ...], value: Any) -> bool:
    """An attribute of an unknown object that only one path set: elsewhere it is unknown."""
    return key[0] in ("attr", "item") and not isinstance(value, Opaque)


_PATH_FACTS = frozenset({"truth", "notnone", "kind"})
"""Tags of facts that hold only where every path established them."""
