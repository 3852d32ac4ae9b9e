"""What a watched path went through: the conditions it is under and what was demanded on it.

Only analyses that ask for more than findings watch (`distml migrate`, `distml branches`); a
check leaves guards and logs empty. A guard is a conjunction of the conditions of the
branches that a path took. A log is a linked list that forks share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.shapes import Origin
from distml.solver.answers import Constraint
from distml.solver.formula import TRUE, Formula, both, either, implies, negate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet


Guard = tuple["Formula", ...]


class Demand(NamedTuple):
    """Something that must hold for the program to go on beyond a place.

    `learned` marks an equation that the interpreter has put into its facts, so that
    later demands no longer show the symbol it is about.
    """

    formula: Formula
    guard: Guard
    place: Origin
    code: str
    text: str
    learned: bool = False
    notes: tuple[tuple[str, Origin], ...] = ()

    def constraint(self, held: AbstractSet[Formula] = frozenset()) -> Constraint:
        """What the demand says of inputs that meet the conditions of `held`: it is of those only that meet its guard."""
        under = [condition for condition in self.guard if condition not in held]
        return Constraint(implies(both(*under), self.formula) if under else self.formula, self)


class RunOver(Exception):
    """The watched run cannot succeed, whatever its inputs are."""

    def __init__(self, demand: Demand) -> None:
        super().__init__(demand.text)
        self.demand = demand


class Log:
    """The last demand of a path, and the log before it."""

    __slots__ = ("demand", "length", "parent")

    def __init__(self, demand: Demand, parent: Log | None) -> None:
        self.demand = demand
        self.parent = parent
        self.length: int = 1 if parent is None else parent.length + 1

    def is_in(self, log: Log | None) -> bool:
        """Whether a path with this log has gone by here."""
        while log is not None and log.length > self.length:
            log = log.parent
        return log is self


def demands(log: Log | None) -> list[Demand]:
    """The demands of a log, oldest first."""
    found = [entry.demand for entry in _backwards(log)]
    found.reverse()
    return found


def _backwards(log: Log | None) -> Iterator[Log]:
    while log is not None:
        yield log
        log = log.parent


def join_logs(left: Log | None, right: Log | None) -> Log | None:
    """The log of two paths that meet: what both shared, then what each added.

    Every demand carries its own guard, so that one of either path stays true of its path only.
    """
    a, b = left, right
    added: list[Demand] = []
    while a is not b:
        if b is not None and (a is None or b.length >= a.length):
            added.append(b.demand)
            b = b.parent
        else:
            assert a is not None
            a = a.parent
    result = left
    for demand in reversed(added):
        result = Log(demand, result)
    return result


def join_guards(left: Guard, right: Guard) -> Guard:
    """What holds where either path comes from: the shared conditions, and one or the other rest."""
    if left == right:
        return left
    count = 0
    while count < min(len(left), len(right)) and left[count] == right[count]:
        count += 1
    shared, a, b = left[:count], left[count:], right[count:]
    if not a or not b or (len(a) == len(b) == 1 and a[0] == negate(b[0])):
        return shared
    rest = either(both(*a), both(*b))
    return shared if rest == TRUE else (*shared, rest)
