"""What one rank does on one path: what it communicates, how conditions came out, where it left; and the shared decisions."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from distml.spmd.values import NOTHING_TOLD, Local, Place, Scalar, Told

Site = tuple[int, ...]
"""The calls that lead to a node, and the node."""


UNCOUNTED = -2
"""So many iterations has a loop over what may have as many members as anything else, such as a progress bar."""


class Event(NamedTuple):
    """A communication. `peer` is the other side of a message, `turns` is the number of turns of a loop that communicates."""

    name: str
    place: Place
    chain: tuple[Place, ...]
    root: int | None = None
    shape: tuple[str, ...] | None = None
    peer: int | None = None
    turns: int | None = None
    first: Event | None = None
    """Of an event that stands for the further turns of a loop (`turns` is -1 where it goes through an unknown range, and
    `UNCOUNTED` where nothing says how many there are): what the first of them begins with."""


class Turn(NamedTuple):
    """A condition that came out one way; `inside` is what depends on it, `at` the number of events before."""

    site: Site
    place: Place
    chain: tuple[Place, ...]
    outcome: bool
    inside: tuple[ast.AST, ...]
    at: int
    local: Local | None
    loop: bool = False
    guess: str = ""
    """What the outcome hung on where nobody knows it: it was decided, alike on all ranks."""


class Exit(NamedTuple):
    """A `return`, `break`, `continue`, `raise` or end of the process."""

    word: str
    place: Place
    chain: tuple[Place, ...]
    at: int


class Touch(NamedTuple):
    """A rank writes a file, or looks for it; `path` says which one, `at` is the number of events before."""

    place: Place
    site: Site
    path: str
    writes: bool
    at: int
    chain: tuple[Place, ...]


class Note(NamedTuple):
    """Something to be said of a place whatever the other rank does."""

    code: str
    place: Place
    message: str
    related: tuple[tuple[str, Place], ...] = ()
    hint: str | None = None


@dataclass(slots=True)
class Trace:
    """In the order in which things happen."""

    events: list[Event] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    handed: list[tuple[Place, ...]] = field(default_factory=list)
    """Ways to calls that are not followed and were given what communicates: they may call it."""
    told: list[Place] = field(default_factory=list)
    """Watched calls that are given what comes from this rank's part of the data."""
    touched: list[Touch] = field(default_factory=list)
    given: set[Site] = field(default_factory=set)
    """Calls of libraries that are not known to read files, and whose results are used."""
    joins: bool = False
    """Whether ranks that are done earlier wait for the others."""
    broken: bool = False
    """Whether an exception passed a context manager, which then did not come to its second half."""
    misnamed: bool = False
    """Whether what only a name says is the rank of this process was given as a root: then it is that of the root."""
    cut: bool = False
    """Whether it ended before the program does: in an exception, or in a loop whose end was not found."""


class Choices:
    """How the conditions that nobody knows come out on one path: alike on all ranks.

    A condition whose value was made on this rank alone (`Local`) is decided for each rank by itself. Where two ranks
    come to the same place with different unknown values, the second takes the outcome of the first, unless the two say
    that one value is equal to different constants: `rank == last` is true on one rank at most.
    """

    def __init__(self, given: dict[str, bool]) -> None:
        self.given = given
        self.made = dict(given)
        self.order: list[str] = []
        self._sites: dict[tuple[Site, int], tuple[bool, dict[str, Scalar]]] = {}

    def decide(self, text: str, site: Site, visit: int, rank: int | None, told: Told = NOTHING_TOLD) -> bool:
        """The outcome of a condition; `rank` is given where this rank decides by itself."""
        bare, negated = _canonical(text)
        if rank is not None:
            bare = f"rank {rank}: {bare}"
        known = self._sites.get((site, visit))
        if known is not None and rank is None:
            first, equal = known
            return first != any(equal.get(name, constant) != constant for name, constant in told[first])
        if bare not in self.made:
            self.made[bare] = not negated
            self.order.append(bare)
        elif bare in self.given and bare not in self.order:
            self.order.append(bare)
        outcome = self.made[bare] != negated
        self._sites.setdefault((site, visit), (outcome, dict(told[outcome])))
        return outcome

    def alternatives(self) -> list[tuple[tuple[str, bool], dict[str, bool]]]:
        """For each decision that was free on this path, the other outcome with all that was decided before it."""
        found = []
        before: dict[str, bool] = {}
        for text in self.order:
            if text not in self.given:
                found.append(((text, not self.made[text]), {**before, text: not self.made[text]}))
            before[text] = self.made[text]
        return found


def _canonical(text: str) -> tuple[str, bool]:
    negated = False
    while text.startswith("not "):
        text, negated = text[4:], not negated
    return text, negated
