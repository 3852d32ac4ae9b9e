"""What made a value, as the state keeps it while a `FlowLog` (`interp/flow_log`) looks on."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple


class Flow(NamedTuple):
    """The entry of the state that says what made an object or an unknown value, for one log of the calls."""

    log: int
    value: Hashable


Calls = frozenset[tuple[int, str]]
"""The calls that may have made a value, each with the place among its results ("" where there is one)."""


@dataclass(slots=True, frozen=True)
class Made:
    """The entry of a value that calls may have made."""

    calls: Calls

    def or_by(self, other: Made) -> Made:
        """Of a value that may be either of two."""
        return Made(self.calls | other.calls)
