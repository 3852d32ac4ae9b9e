"""Questions about constraints: is there a solution, does something follow, what can a condition be.

Answers are the same each time: what is tried is counted, time limits are the
last resort. A model is put into the constraints before it is given; a core is
made minimal by leaving out one constraint after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from distml.shapes import Dim, Symbol
from distml.solver.answers import (
    Constraint,
    Contradiction,
    Decision,
    Proved,
    Refuted,
    Satisfied,
    Unknown,
    Verdict,
)
from distml.solver.clock import Clock
from distml.solver.formula import (
    TRUE,
    Compare,
    Flag,
    Formula,
    atoms,
    both,
    compare,
    different,
    divisors,
    evaluate,
    flags,
    negate,
    rebuild,
    symbols,
)
from distml.solver.search import Model, Undecided, model_of
from distml.solver.simplify import simplified
from distml.solver.state import Conflict, State

__all__ = [
    "Constraint",
    "Contradiction",
    "Decision",
    "Proved",
    "Refuted",
    "Satisfied",
    "Unknown",
    "Verdict",
    "decide",
    "prove",
    "satisfy",
    "simplify",
]

KEPT = 4096
"""How many formulas are kept as they were made ready."""


def satisfy(
    constraints: Sequence[Constraint], seconds: float = 5.0, floor: int = 1
) -> Satisfied | Contradiction | Unknown:
    """Values for which all constraints hold, or a minimal core of constraints that cannot.

    A symbol that is a size (its `low` is not None) is at least `floor`. Values
    are small, those of symbols with a small serial first. What compares a
    dynamic size holds or not as it likes.
    """
    question = _Question(constraints, floor)
    clock = Clock(seconds)
    try:
        model = question.model(range(len(constraints)), seconds)
    except Conflict as conflict:
        core = question.minimal(sorted(conflict.deps), clock)
        return Contradiction(tuple(constraints[n] for n in core))
    except Undecided as reason:
        return Unknown(str(reason))
    except RecursionError:
        return Unknown("too deeply nested")
    return question.answer(model)


def prove(
    assumptions: Sequence[Constraint], goal: Formula, seconds: float = 5.0, floor: int = 1
) -> Proved | Refuted | Unknown:
    """Whether the goal holds wherever all assumptions do, and which of them that takes."""
    opposite = Constraint(negate(goal))
    answer = satisfy([*assumptions, opposite], seconds, floor)
    match answer:
        case Satisfied(model=model, flags=truths):
            return Refuted(model, truths)
        case Contradiction(core=core):
            used = tuple(c for c in core if c is not opposite)
            return Proved(used, vacuous=len(used) == len(core))
    return answer


def decide(assumptions: Sequence[Constraint], condition: Formula, seconds: float = 5.0, floor: int = 1) -> Decision:
    """What the condition can be where the assumptions hold (Algorithm 2 of "Gradual Tensor Shape Checking").

    "unreachable" if the assumptions cannot hold; the core then says which of them.
    """
    clock = Clock(seconds)
    holds = satisfy([*assumptions, Constraint(condition)], seconds / 2, floor)
    fails = satisfy([*assumptions, Constraint(negate(condition))], max(0.05, clock.left), floor)
    match holds, fails:
        case Satisfied(), Satisfied():
            return Decision("depends", holds, fails)
        case Satisfied(), Contradiction(core=core):
            return Decision("always", holds=holds, core=_among(assumptions, core))
        case Contradiction(core=core), Satisfied():
            return Decision("never", fails=fails, core=_among(assumptions, core))
        case Contradiction(), Contradiction():
            alone = satisfy(assumptions, max(0.05, clock.left), floor)
            core = alone.core if isinstance(alone, Contradiction) else tuple(assumptions)
            return Decision("unreachable", core=core)
    reason = next(a.reason for a in (holds, fails) if isinstance(a, Unknown))
    return Decision(
        "unknown",
        holds if isinstance(holds, Satisfied) else None,
        fails if isinstance(fails, Satisfied) else None,
        reason=reason,
    )


def _among(assumptions: Sequence[Constraint], core: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    return tuple(c for c in core if any(c is a for a in assumptions))


def simplify(
    constraints: Sequence[Constraint], seconds: float = 5.0, floor: int = 1, keep: Iterable[Symbol] | None = None
) -> list[Formula]:
    """The constraints said shortly: together they hold for the same values, sizes being at least `floor`.

    With `keep`, symbols that are not in it are left out where an equality says
    what they are; the result then holds for the values of `keep` for which
    there are others so that all constraints hold. `[FALSE]` if nothing satisfies them.
    """
    question = _Question(constraints, floor)
    kept = None if keep is None else frozenset(question.inside.get(s, s) for s in keep)
    try:
        formulas = simplified(question.formulas, seconds, kept)
    except RecursionError:
        return [c.formula for c in constraints]
    return [question.outside(f) for f in formulas]


@dataclass(frozen=True)
class _Question:
    """Constraints made ready: sizes at least `floor`, divisions not by zero, nothing dynamic."""

    constraints: Sequence[Constraint]
    inside: dict[Symbol, Symbol]
    formulas: list[Formula]

    def __init__(self, constraints: Sequence[Constraint], floor: int) -> None:
        every = {s: None for c in constraints for a in atoms(c.formula) for s in _symbols(a)}
        ordered = sorted(every, key=lambda s: (s.serial, s.name))
        inside = {s: Symbol(s.name, s.serial, floor) for s in ordered if s.low is not None and s.low < floor}
        mapping = {old: Dim.symbol(new) for old, new in inside.items()}
        object.__setattr__(self, "constraints", constraints)
        object.__setattr__(self, "inside", inside)
        ready = _stated if not inside else lambda formula: rebuild(formula, _ready(mapping))
        object.__setattr__(self, "formulas", [ready(c.formula) for c in constraints])

    def model(self, some: Iterable[int], seconds: float) -> Model:
        """Values that satisfy the constraints of these numbers; raises `Conflict` or `Undecided`."""
        state = State()
        for number in some:
            state.add(self.formulas[number], frozenset((number,)))
        return model_of(state, seconds)

    def minimal(self, core: list[int], clock: Clock) -> list[int]:
        """The core without what it can do without, as far as time allows."""
        for number in list(core):
            if number not in core or len(core) == 1 or not clock.left:
                continue
            rest = [n for n in core if n != number]
            try:
                self.model(rest, min(1.0, max(0.05, clock.left)))
            except Conflict as conflict:
                core = sorted(conflict.deps)
            except Undecided:
                continue
        return core

    def answer(self, model: Model) -> Satisfied | Unknown:
        """The model in the asker's symbols, if the constraints do hold for it."""
        numbers: dict[Symbol, int] = {}
        truths: dict[Flag, bool] = {}
        for constraint in self.constraints:
            for symbol in sorted(symbols(constraint.formula), key=lambda s: (s.serial, s.name)):
                own = self.inside.get(symbol, symbol)
                numbers[symbol] = model.numbers.get(own, own.low or 0)
            for flag in sorted(flags(constraint.formula), key=lambda f: (f.serial, f.name)):
                truths[flag] = model.flags.get(flag, False)
        found = {self.inside.get(s, s): n for s, n in numbers.items()}
        if all(evaluate(f, found, truths) for f in self.formulas):
            return Satisfied(numbers, truths)
        return Unknown("the values found do not satisfy the constraints")

    def outside(self, formula: Formula) -> Formula:
        """The formula in the asker's symbols, as it is written: their own bounds would decide it otherwise."""
        back = {new: Dim.symbol(old) for old, new in self.inside.items()}

        def leaf(atom: Compare | Flag) -> Formula:
            return atom if isinstance(atom, Flag) else Compare(atom.kind, atom.difference.substitute(back))

        return rebuild(formula, leaf)


def _symbols(atom: Compare | Flag) -> Iterable[Symbol]:
    return () if isinstance(atom, Flag) else atom.difference.symbols()


@lru_cache(maxsize=KEPT)
def _stated(formula: Formula) -> Formula:
    """A formula made ready whose symbols have their floor: the questions of one run share most of their constraints."""
    return rebuild(formula, _ready({}))


def _ready(mapping: dict[Symbol, Dim]) -> Callable[[Compare | Flag], Formula]:
    def leaf(atom: Compare | Flag) -> Formula:
        if isinstance(atom, Flag):
            return atom
        if atom.difference.is_dynamic:
            return TRUE
        difference = atom.difference.substitute(mapping)
        nonzero = (different(d, 0) for d in divisors(difference))
        return both(compare(atom.kind, difference), *nonzero)

    return leaf
