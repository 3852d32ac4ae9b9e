"""What is asked of the solver, and what it answers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal

from distml.shapes import Symbol
from distml.solver.formula import Flag, Formula


@dataclass(frozen=True, slots=True)
class Constraint:
    """A formula that has to hold; `label` is the asker's, to know it again in a core."""

    formula: Formula
    label: Hashable = None


@dataclass(frozen=True)
class Satisfied:
    """All constraints hold for these values, which were put in to see."""

    model: dict[Symbol, int]
    flags: dict[Flag, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Contradiction:
    """The constraints of `core` cannot all hold, though any of them left out the others may."""

    core: tuple[Constraint, ...]


@dataclass(frozen=True)
class Unknown:
    """Not decided, and why."""

    reason: str


@dataclass(frozen=True)
class Proved:
    """The goal holds wherever the assumptions of `core` do.

    With `vacuous` they never do, whatever the goal.
    """

    core: tuple[Constraint, ...]
    vacuous: bool = False


@dataclass(frozen=True)
class Refuted:
    """The assumptions hold for these values and the goal does not."""

    model: dict[Symbol, int]
    flags: dict[Flag, bool] = field(default_factory=dict)


Verdict = Literal["always", "never", "depends", "unreachable", "unknown"]


@dataclass(frozen=True)
class Decision:
    """What a condition can be where the assumptions hold.

    `holds` and `fails` are values that show it, where there are any; `core` are
    the assumptions that leave only one answer, `reason` says why there is none.
    """

    verdict: Verdict
    holds: Satisfied | None = None
    fails: Satisfied | None = None
    core: tuple[Constraint, ...] = ()
    reason: str = ""
