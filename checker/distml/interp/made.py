"""What made a value, as the state keeps it while a `FlowLog` (`interp/flow_log`) looks on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable


class Flow(NamedTuple):
    """The entry of the state that says what made an object or an unknown value, for one log of the calls."""

    log: int
    value: Hashable


class Made(frozenset[tuple[int, str]]):
    """The calls that may have made a value, each with the place among its results ("" where there is one)."""
