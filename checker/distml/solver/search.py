"""The other half: splitting into independent parts, trying cases and small values, then z3.

Facts that share no symbol are decided apart. In each part the alternatives of
`or` are tried in turn, and symbols are given small values in the order of their
serials, both within a budget. Only a part that is still open then goes to z3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import inf

from distml.shapes import Dim, Symbol
from distml.solver import residue
from distml.solver.bounds import NONE, Deps
from distml.solver.clock import Clock
from distml.solver.formula import Either, Flag, value
from distml.solver.state import Conflict, Fact, State

BUDGET = 160
"""States that are tried for one part before z3 is asked."""

VALUES = 40
"""Values that are tried for one symbol."""


class Undecided(Exception):
    """No answer, and why."""


@dataclass
class Model:
    """Values of symbols and flags."""

    numbers: dict[Symbol, int]
    flags: dict[Flag, bool]


class Budget(Clock):
    """How much may still be spent: time, and states to try."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.states = BUDGET

    def step(self) -> None:
        """Spend a state; raises `Undecided` where none is left."""
        self.states -= 1
        if self.states < 0 or not self.left:
            raise Undecided("too many cases")


def model_of(state: State, seconds: float) -> Model:
    """Values that satisfy all facts of the state; raises `Conflict` or `Undecided`."""
    clock = Budget(seconds)
    state.settle()
    model = Model({}, {f: truth for f, (truth, _) in state.truths.items()})
    undecided: Undecided | None = None
    for part in parts(state.facts):
        try:
            found = _decide_part(_sub(state, part), clock)
        except Undecided as reason:
            undecided = reason
            continue
        model.numbers.update(found.numbers)
        model.flags.update(found.flags)
    if undecided is not None:
        raise undecided
    return _completed(state, model)


def parts(facts: Iterable[Fact]) -> list[list[Fact]]:
    """The facts in groups that share no symbol and no flag, in the order of their first ones."""
    groups: list[tuple[set[Hashable], list[int]]] = []
    every = list(facts)
    for number, fact in enumerate(every):
        keys: set[Hashable] = {*fact.symbols, *fact.flags}
        members = [number]
        apart = []
        for group in groups:
            if keys.isdisjoint(group[0]):
                apart.append(group)
            else:
                keys |= group[0]
                members += group[1]
        groups = [*apart, (keys, members)]
    return [[every[n] for n in sorted(members)] for _, members in sorted(groups, key=lambda g: min(g[1]))]


def _sub(state: State, facts: list[Fact]) -> State:
    sub = State(state.keep, state.says)
    sub.facts = facts
    sub.intervals = {s: state.intervals[s] for f in facts for s in f.symbols}
    return sub


def _decide_part(sub: State, clock: Budget) -> Model:
    clock.states = BUDGET
    try:
        return _explore(sub.fork(), clock)
    except Undecided:
        pass
    if not clock.left:
        raise Undecided("the time is over")
    found = residue.solve([(f.formula, f.deps) for f in sub.facts], sub.intervals, clock.seconds, clock.left)
    if found.core is not None:
        raise Conflict(found.core)
    if found.reason:
        raise Undecided(found.reason)
    return _completed(sub, Model(found.numbers, found.flags))


def _explore(state: State, clock: Budget) -> Model:
    clock.step()
    state.settle()
    if not state.facts:
        return _completed(state, Model({}, {}))
    choices = [(f, f.formula) for f in state.facts if isinstance(f.formula, Either)]
    if choices:
        return _split(state, *min(choices, key=lambda choice: len(choice[1].parts)), clock)
    return _enumerate(state, clock)


def _split(state: State, choice: Fact, alternatives: Either, clock: Budget) -> Model:
    """Try each alternative of an `or`."""
    deps = choice.deps
    undecided: Undecided | None = None
    for case in alternatives.parts:
        branch = state.fork()
        branch.facts = [f for f in branch.facts if f is not choice]
        branch.add(case, choice.deps)
        try:
            return _explore(branch, clock)
        except Conflict as conflict:
            deps |= conflict.deps
        except Undecided as reason:
            undecided = reason
    if undecided is not None:
        raise undecided
    raise Conflict(deps)


def _enumerate(state: State, clock: Budget) -> Model:
    """Try values of the first symbol, from its lower bound on."""
    symbol = min((s for f in state.facts for s in f.symbols), key=lambda s: (s.serial, s.name))
    interval = state.intervals[symbol]
    if not isinstance(interval.low, int):
        raise Undecided("no bounds")
    deps: Deps = interval.deps
    undecided = interval.high - interval.low >= VALUES
    for number in range(interval.low, int(min(interval.high, interval.low + VALUES - 1)) + 1):
        branch = state.fork()
        try:
            branch.narrow(symbol, (number, number), NONE)
            return _explore(branch, clock)
        except Conflict as conflict:
            deps |= conflict.deps
        except Undecided:
            undecided = True
            clock.step()
    if undecided:
        raise Undecided("no model among small numbers")
    raise Conflict(deps)


def _completed(state: State, model: Model) -> Model:
    """The model with what facts no longer speak of: bounds, solved symbols."""
    numbers = dict(model.numbers)
    for symbol, interval in state.intervals.items():
        if symbol not in numbers and symbol not in state.solved:
            numbers[symbol] = int(interval.low if interval.low != -inf else min(interval.high, 0))
    for symbol, (dim, _) in state.solved.items():
        numbers[symbol] = _value(dim, numbers)
    known = {f: truth for f, (truth, _) in state.truths.items()}
    return Model(numbers, {**known, **model.flags})


def _value(dim: Dim, numbers: dict[Symbol, int]) -> int:
    for symbol in dim.symbols():
        numbers.setdefault(symbol, symbol.low or 0)
    try:
        return value(dim, numbers)
    except ZeroDivisionError:
        return 0
