"""How control leaves a statement otherwise than at its end."""

from __future__ import annotations

from typing import NamedTuple

from distml.spmd.values import Place, Value


class Flow(NamedTuple):
    """`word` is return, break, continue, raise, exit (the end of the process) or cut (we follow no further)."""

    word: str
    place: Place
    value: Value | None = None


class LeftError(Exception):
    """An exception of the followed program, or its end, on its way out of an expression."""

    def __init__(self, flow: Flow) -> None:
        super().__init__(flow.word)
        self.flow = flow
