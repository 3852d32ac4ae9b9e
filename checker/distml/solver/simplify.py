"""Says a set of constraints shortly: solved equalities, bounds, and what does not follow from the rest."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from distml.shapes import Dim, Symbol
from distml.solver.clock import Clock
from distml.solver.formula import FALSE, TRUE, Either, Formula, Negation, at_least, either, equal, negate
from distml.solver.search import Undecided, model_of
from distml.solver.state import Conflict, State

COSTLY = 24
"""Of more facts than this, none is asked whether it follows from the others."""


EACH = 0.5
"""Seconds for each such question."""


def simplified(formulas: Sequence[Formula], seconds: float, keep: frozenset[Symbol] | None) -> list[Formula]:
    """Formulas that together hold where all of `formulas` do, sizes being what their symbols say."""
    clock = Clock(seconds)
    state = State(keep, says=True)
    try:
        for number, formula in enumerate(formulas):
            state.add(formula, frozenset((number,)))
        state.settle()
    except Conflict:
        return [FALSE]
    found = [*_solved(state, keep), *_bounds(state), *_flags(state), *(f.formula for f in state.facts)]
    return _independent(found, clock)


def _solved(state: State, keep: frozenset[Symbol] | None) -> list[Formula]:
    solved = sorted(state.solved.items(), key=lambda item: (item[0].serial, item[0].name))
    return [equal(Dim.symbol(s), dim) for s, (dim, _) in solved if keep is None or s in keep]


def _bounds(state: State) -> list[Formula]:
    found: list[Formula] = []
    for symbol, (low, high, _, _) in sorted(state.intervals.items(), key=lambda item: (item[0].serial, item[0].name)):
        if low != -inf:
            found.append(at_least(Dim.symbol(symbol), int(low)))
        if high != inf:
            found.append(at_least(int(high), Dim.symbol(symbol)))
    return found


def _flags(state: State) -> list[Formula]:
    truths = sorted(state.truths.items(), key=lambda item: (item[0].serial, item[0].name))
    return [flag if truth else Negation(flag) for flag, (truth, _) in truths]


def _independent(formulas: list[Formula], clock: Clock) -> list[Formula]:
    """Without those that the others imply; the last are looked at first, they are the longest."""
    left = [f for f in dict.fromkeys(formulas) if f != TRUE]
    if len(left) > COSTLY:
        return left
    for formula in reversed(list(left)):
        rest = [f for f in left if f is not formula]
        shorter = _shortened(formula, rest, clock)
        left = [shorter if f is formula else f for f in left if f is not formula or shorter != TRUE]
    return left if FALSE not in left else [FALSE]


def _shortened(formula: Formula, rest: list[Formula], clock: Clock) -> Formula:
    """What the formula adds to the rest: nothing, or only the alternatives that are possible."""
    if _impossible([*rest, negate(formula)], clock):
        return TRUE
    if isinstance(formula, Either):
        return either(*(p for p in formula.parts if not _impossible([*rest, p], clock)))
    return formula


def _impossible(formulas: list[Formula], clock: Clock) -> bool:
    state = State()
    for formula in formulas:
        state.add(formula)
    try:
        model_of(state, min(EACH, clock.left))
    except Conflict:
        return True
    except Undecided:
        return False
    return False
