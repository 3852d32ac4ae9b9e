"""Unknown integers, and where numbers were born."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from distml.shapes.dim import Dim


class Origin(NamedTuple):
    """Where a number was born: what to call it, and the place in the source."""

    text: str
    path: str
    line: int
    column: int


MAX_NAME = 80
"""Characters of a name that is made of other names, as in `max(n, max(n, k))`: it must not grow with each turn of a loop."""


class Symbol:
    """An unknown integer. `low` is the least value it can have, `high` the largest, None when unknown.

    Identity is the object's: two symbols of one name are two unknowns. `serial`
    orders symbols so that output does not depend on memory addresses. A `dynamic`
    symbol is the dimension Dyn of gradual types: it is consistent with every size
    and may be another one each time it is looked at, so nothing is learned of it.
    """

    __slots__ = ("dynamic", "high", "low", "name", "serial")

    def __init__(
        self, name: str, serial: int, low: int | None = 0, dynamic: bool = False, high: Dim | None = None
    ) -> None:
        self.name = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
        self.serial = serial
        self.low = low
        self.dynamic = dynamic
        self.high = high

    def __repr__(self) -> str:
        return self.name
