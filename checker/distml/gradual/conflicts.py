"""Why a trial failed: the place that cannot succeed, and the places that leave it no choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.interp.trace import Demand

if TYPE_CHECKING:
    from distml.gradual.trial import Bench, Trial

MAX_SUSPECTS = 16
"""How many earlier demands are tried, newest first."""


class Conflict(NamedTuple):
    """One of the lines that contradict each other."""

    message: str
    path: str
    line: int


def conflicts_of(bench: Bench, trial: Trial) -> tuple[Conflict, ...]:
    """The lines that contradict each other, in the order of the program.

    Where the solver found the contradiction they are its core. Where the run stopped at a line,
    an earlier demand belongs to it if, left out, that line no longer fails.
    """
    if trial.core:
        return shown(trial.core)
    if trial.failure is None:
        return ()
    guilty = [d for d in _suspects(trial) if _matters(bench, trial, d)]
    return shown((*reversed(guilty), trial.failure))


def _suspects(trial: Trial) -> list[Demand]:
    """Demands from which the interpreter learned something, newest first."""
    said = [c.label for c in trial.constraints if isinstance(c.label, Demand)]
    taught = {_where(d) for d in said if d.learned}
    found = [d for d in said if not d.learned and d.code and _where(d) in taught]
    return list(reversed(found))[:MAX_SUSPECTS]


def _where(demand: Demand) -> tuple[str, int, int]:
    return (demand.place.path, demand.place.line, demand.place.column)


def _matters(bench: Bench, trial: Trial, suspect: Demand) -> bool:
    excused = trial.plan.excused | {(*_where(suspect), suspect.code)}
    other = bench.run(trial.plan._replace(excused=excused))
    return other.failure is None or trial.failure is None or _where(other.failure) != _where(trial.failure)


def shown(demands: tuple[Demand, ...]) -> tuple[Conflict, ...]:
    """The places of demands, and where the numbers in them come from."""
    found = [Conflict(d.text, d.place.path, d.place.line) for d in demands]
    for demand in demands:
        found += [Conflict(text, origin.path, origin.line) for text, origin in demand.notes[:2]]
    return tuple(dict.fromkeys(found))
