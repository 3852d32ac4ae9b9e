"""What is left for z3. The only module that loads it, when it is first needed.

A floor division becomes a number q with `d*q <= n < d*q + d`. z3 may take as
long as it likes on products; it is held to a number of steps, so that answers
are the same on every machine, and to a time limit, in case those are slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Timer
from typing import Any

from distml.shapes import Dim, Quotient, Symbol
from distml.solver.bounds import Deps, Interval
from distml.solver.clock import Clock
from distml.solver.formula import Both, Compare, Either, Flag, Formula, Negation

STEPS_A_SECOND = 2_000_000
"""Of z3's own count; about what it does in a second on a slow machine."""

PATIENCE = 10
"""Seconds on the clock for each of processor time that z3 may take: it counts the first kind only."""

SMALLER = 24
"""How often a model is tried to be made smaller, a symbol."""

Labeled = tuple[Formula, Deps]


@dataclass
class Residue:
    """What z3 said: values, or what the contradiction follows from, or why there is no answer."""

    numbers: dict[Symbol, int] = field(default_factory=dict)
    flags: dict[Flag, bool] = field(default_factory=dict)
    core: Deps | None = None
    reason: str = ""


def solve(facts: Iterable[Labeled], intervals: Mapping[Symbol, Interval], seconds: float, left: float) -> Residue:
    """Decide the facts, with symbols within their intervals.

    `seconds` sets how many steps are allowed, the same on every machine; `left` is how long they may take (processor time).
    """
    try:
        import z3
    except ImportError as error:
        return Residue(reason=f"z3 cannot be loaded: {error}")
    context = z3.Context()
    watchdog = Timer(left * PATIENCE + 0.2, context.interrupt)
    watchdog.daemon = True
    watchdog.start()
    try:
        return _Session(z3, context, seconds, left).solve(list(facts), intervals)
    except z3.Z3Exception as error:
        return Residue(reason=f"z3 gave up: {error}")
    finally:
        watchdog.cancel()


class _Session:
    """One question to z3, in a context of its own: names and counts start anew."""

    def __init__(self, z3: Any, context: Any, seconds: float, left: float) -> None:
        self.z3 = z3
        self.context = context
        self.clock = Clock(left)
        self.solver = z3.Solver(ctx=context)
        self.solver.set("rlimit", max(1, int(seconds * STEPS_A_SECOND)))
        self.numbers: dict[Symbol, Any] = {}
        self.flags: dict[Flag, Any] = {}
        self.quotients: dict[Quotient, Any] = {}

    def solve(self, facts: list[Labeled], intervals: Mapping[Symbol, Interval]) -> Residue:
        marks: dict[str, Deps] = {}
        for formula, deps in facts:
            self._assert(self._formula(formula), deps, marks)
        for symbol, number in list(self.numbers.items()):
            low, high, low_deps, high_deps = intervals[symbol]
            if isinstance(low, int):
                self._assert(number >= low, low_deps, marks)
            if isinstance(high, int):
                self._assert(number <= high, high_deps, marks)
        verdict = self._check()
        if verdict == self.z3.sat:
            return self._model(intervals)
        if verdict == self.z3.unsat:
            named = [marks[str(mark)] for mark in self.solver.unsat_core()]
            return Residue(core=frozenset().union(*named))
        return Residue(reason="z3 found no answer in time")

    def _check(self, *assumed: Any) -> Any:
        self.solver.set("timeout", max(1, int(self.clock.left * 1000 * PATIENCE)))
        return self.solver.check(*assumed)

    def _assert(self, term: Any, deps: Deps, marks: dict[str, Deps]) -> None:
        if not deps:
            self.solver.add(term)
            return
        name = f"fact!{len(marks)}"
        marks[name] = deps
        self.solver.assert_and_track(term, self.z3.Bool(name, self.context))

    def _model(self, intervals: Mapping[Symbol, Interval]) -> Residue:
        model = self.solver.model()
        found = {s: self._value(model, n) for s, n in self.numbers.items()}
        for symbol in sorted(self.numbers, key=lambda s: (s.serial, s.name)):
            model = self._smallest(symbol, intervals[symbol].low, model)
            found[symbol] = self._value(model, self.numbers[symbol])
            self.solver.add(self.numbers[symbol] == found[symbol])
        truths = {f: bool(model.eval(b, model_completion=True)) for f, b in self.flags.items()}
        return Residue(found, truths)

    def _value(self, model: Any, number: Any) -> int:
        return int(model.eval(number, model_completion=True).as_long())

    def _smallest(self, symbol: Symbol, low: float, model: Any) -> Any:
        """A model with the symbol as near to its lower bound, or to zero, as some tries get it."""
        number = self.numbers[symbol]
        floor = int(low) if isinstance(low, int) else 0
        for _ in range(SMALLER):
            best = self._value(model, number)
            if best <= floor or not self.clock.left:
                break
            middle = (floor + best) // 2
            if self._check(number >= floor, number <= middle) == self.z3.sat:
                model = self.solver.model()
            else:
                floor = middle + 1
        return model

    def _formula(self, formula: Formula) -> Any:
        z3 = self.z3
        match formula:
            case Compare(kind=kind, difference=difference):
                term = self._dim(difference)
                return term == 0 if kind == "==" else term != 0 if kind == "!=" else term >= 0
            case Flag():
                if formula not in self.flags:
                    self.flags[formula] = z3.Bool(f"flag!{len(self.flags)}", self.context)
                return self.flags[formula]
            case Negation(flag=flag):
                return z3.Not(self._formula(flag))
            case Both(parts=parts):
                return z3.And([self._formula(p) for p in parts] + [z3.BoolVal(True, self.context)])
            case Either(parts=parts):
                return z3.Or([self._formula(p) for p in parts] + [z3.BoolVal(False, self.context)])

    def _dim(self, dim: Dim) -> Any:
        total = self.z3.IntVal(0, self.context)
        for monomial, coefficient in dim.terms:
            product = self.z3.IntVal(coefficient, self.context)
            for atom, power in monomial:
                factor = self._number(atom) if isinstance(atom, Symbol) else self._quotient(atom)
                for _ in range(power):
                    product = product * factor
            total = total + product
        return total

    def _number(self, symbol: Symbol) -> Any:
        if symbol not in self.numbers:
            self.numbers[symbol] = self.z3.Int(f"n!{len(self.numbers)}", self.context)
        return self.numbers[symbol]

    def _quotient(self, atom: Quotient) -> Any:
        if atom not in self.quotients:
            whole = self.z3.Int(f"q!{len(self.quotients)}", self.context)
            self.quotients[atom] = whole
            above, below = self._dim(atom.numerator), self._dim(atom.denominator)
            rest = above - below * whole
            self.solver.add(self.z3.Implies(below > 0, self.z3.And(rest >= 0, rest < below)))
            self.solver.add(self.z3.Implies(below < 0, self.z3.And(rest <= 0, rest > below)))
        return self.quotients[atom]
