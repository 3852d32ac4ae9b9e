"""What each variable, attribute, item, parameter and result can hold; it only ever grows."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Hashable, Iterable
from collections.abc import Set as AbstractSet
from itertools import repeat

from distml.training.values import NOTHING, Box, Foreign, Value, Values

MOST = 12
"""Values a place holds at most: what comes after them is not kept."""

ANY = "*"
"""The key of items that are reached by an unknown index."""


class Store:
    """Places by key, whether anything was added since the last look, and what was looked at since when."""

    def __init__(self) -> None:
        self._held: dict[Hashable, Values] = {}
        self._keys: dict[ast.AST, set[str | int]] = defaultdict(set)
        self.grew = False
        self.reads: set[Hashable] = set()
        """The keys that were read."""
        self.clock = 0
        self._grown: dict[Hashable, int] = {}
        """When each place last grew."""

    def mark(self, *key: Hashable) -> None:
        """Something that is read by this key is more than it was."""
        self.clock += 1
        self._grown[key] = self.clock

    def grown(self, keys: AbstractSet[Hashable], since: int) -> bool:
        """Whether one of some places grew since a time of the clock."""
        return any(map(since.__lt__, map(self._grown.get, keys, repeat(0))))

    def read(self, *key: Hashable) -> Values:
        """What the place with this key can hold."""
        self.reads.add(key)
        return self._held.get(key, NOTHING)

    def add(self, values: Iterable[Value], *key: Hashable) -> None:
        """The place with this key can hold `values` too."""
        held = self._held.get(key, NOTHING)
        if len(held) >= MOST:
            return
        new = [value for value in values if value not in held]
        if len(held) + len(new) > MOST:
            new = sorted(new, key=_rank)[: MOST - len(held)]
        if new:
            self._held[key] = held.union(new)
            self.grew = True
            self.mark(*key)

    def put(self, box: Box, key: str | int, values: Iterable[Value]) -> None:
        """An item of a box."""
        if key not in self._keys[box.node]:
            self._keys[box.node].add(key)
            self.mark("keys", box.node)
        self.add(values, "item", box.node, key)

    def item(self, box: Box, key: str | int = ANY) -> Values:
        """What an item of a box can be: that with this key and those of unknown key, or any."""
        keys = self.keys(box)
        wanted = keys if key == ANY else {key, ANY} & keys
        return frozenset(value for each in wanted for value in self.read("item", box.node, each))

    def keys(self, box: Box) -> frozenset[str | int]:
        """The keys of a box that are known."""
        self.reads.add(("keys", box.node))
        return frozenset(self._keys.get(box.node, ()))


def _rank(value: Value) -> tuple[bool, str, str, int, int]:
    """An order of values: which ones a full place keeps is the same in every run, and those that nobody knows come last."""
    node = getattr(value, "node", None) or getattr(getattr(value, "type", None), "node", None)
    text = str(getattr(value, "name", getattr(value, "value", getattr(node, "name", ""))))
    place = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    return text.startswith("?"), type(value).__name__, text, *place


def items(values: Iterable[Value], store: Store) -> Values:
    """What going through `values` gives."""
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Box):
            found |= store.item(value)
        elif isinstance(value, Foreign):
            found.add(value.step("[]"))
    return frozenset(found)
