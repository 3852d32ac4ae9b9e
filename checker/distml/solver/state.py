"""The cheap half of deciding: substitution, equalities, bounds.

A state takes facts, each with the constraints it follows from, and works until
nothing changes: facts that are decided go, equalities that single out a symbol
remove it everywhere else, facts of one symbol that are monotone become a bound,
bounds decide or narrow what is left. A contradiction is raised with the
constraints that it follows from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

from distml.shapes import Dim, Symbol
from distml.solver.bounds import NONE, Bound, Deps, Interval, Span, divides_plainly, span, threshold
from distml.solver.formula import (
    FALSE,
    TRUE,
    Both,
    Compare,
    Either,
    Flag,
    Formula,
    Negation,
    at_least,
    compare,
    different,
    divisors,
    flags,
    rebuild,
    symbols,
)
from distml.solver.remainder import progression

ROUNDS = 6
"""How often bounds may narrow each other: `x > y` and `y > x` would do so for ever."""

LONGEST = 8
"""A symbol that is a sum of more terms than this is not replaced by it."""


class Conflict(Exception):
    """No values satisfy the constraints of these numbers together."""

    def __init__(self, deps: Deps) -> None:
        super().__init__(deps)
        self.deps = deps


@dataclass(frozen=True, slots=True)
class Fact:
    """A formula and the constraints it follows from."""

    formula: Formula
    deps: Deps
    symbols: frozenset[Symbol]
    flags: frozenset[Flag]

    @staticmethod
    def of(formula: Formula, deps: Deps) -> Fact:
        """The fact, with what is in it looked up once."""
        return Fact(formula, deps, symbols(formula), flags(formula))


class State:
    """What is known: facts not yet decided, symbols and flags that are, bounds of the others.

    With `says` it is read afterwards: only symbols of the facts are in it, and those of `keep` stay, where that is given.
    """

    def __init__(self, keep: frozenset[Symbol] | None = None, says: bool = False) -> None:
        self.keep = keep
        self.says = says
        self.facts: list[Fact] = []
        self.solved: dict[Symbol, tuple[Dim, Deps]] = {}
        self.truths: dict[Flag, tuple[bool, Deps]] = {}
        self.intervals: dict[Symbol, Interval] = {}
        self._queue: deque[Fact] = deque()

    def fork(self) -> State:
        """A state that goes its own way."""
        other = State(self.keep, self.says)
        other.facts = list(self.facts)
        other.solved = dict(self.solved)
        other.truths = dict(self.truths)
        other.intervals = dict(self.intervals)
        other._queue = deque(self._queue)
        return other

    def add(self, formula: Formula, deps: Deps = NONE) -> None:
        """Take a fact, to be looked at by `settle`."""
        fact = Fact.of(formula, deps)
        for symbol in fact.symbols:
            if symbol not in self.intervals and symbol not in self.solved:
                self.intervals[symbol] = Interval.of(symbol)
        self._queue.append(fact)

    def settle(self) -> None:
        """Work until nothing changes; raises `Conflict`."""
        for _ in range(ROUNDS):
            while self._queue:
                self._take(self._rewritten(self._queue.popleft()))
            if not self._narrow():
                break
        while self._queue:
            self._take(self._rewritten(self._queue.popleft()))

    def _rewritten(self, fact: Fact) -> Fact:
        """The fact without symbols and flags that are known."""
        known = [s for s in fact.symbols if s in self.solved]
        sure = [f for f in fact.flags if f in self.truths]
        if not known and not sure:
            return fact
        mapping = {s: self.solved[s][0] for s in known}

        def leaf(atom: Compare | Flag) -> Formula:
            if isinstance(atom, Flag):
                return atom if atom not in self.truths else TRUE if self.truths[atom][0] else FALSE
            if any(divisor.substitute(mapping) == 0 for divisor in divisors(atom.difference)):
                return FALSE  # what divides by zero holds for no values
            return compare(atom.kind, atom.difference.substitute(mapping))

        deps = fact.deps.union(*(self.solved[s][1] for s in known), *(self.truths[f][1] for f in sure))
        return Fact.of(rebuild(fact.formula, leaf), deps)

    def _take(self, fact: Fact) -> None:
        formula = fact.formula
        if formula == FALSE:
            raise Conflict(fact.deps)
        match formula:
            case Both(parts=parts):
                self._queue.extend(Fact.of(p, fact.deps) for p in parts)
            case Flag() | Negation():
                self._set(fact)
            case Compare():
                if not self._solve(formula, fact) and not self._bound(formula, fact):
                    # A bound may have left the symbol only one value.
                    known = any(s in self.solved for s in fact.symbols)
                    (self._queue if known else self.facts).append(fact)
            case Either():
                self.facts.append(fact)

    def _set(self, fact: Fact) -> None:
        flag = fact.formula.flag if isinstance(fact.formula, Negation) else fact.formula
        assert isinstance(flag, Flag)
        self.truths[flag] = (not isinstance(fact.formula, Negation), fact.deps)
        self._requeue(lambda f: flag in f.flags)

    def _requeue(self, touched: Callable[[Fact], bool]) -> None:
        self._queue.extend(f for f in self.facts if touched(f))
        self.facts = [f for f in self.facts if not touched(f)]

    def _solve(self, formula: Compare, fact: Fact) -> bool:
        """Remove a symbol that the equality singles out, one that need not be kept if there is."""
        if formula.kind != "==":
            return False
        found = self._single(formula.difference) or self._multiple(formula.difference)
        if found is None or len(found[1].terms) > LONGEST:
            return False
        self._replace(*found, fact.deps)
        return True

    def _multiple(self, difference: Dim) -> tuple[Symbol, Dim] | None:
        """From `h % 8 == 0`, that h is `8*k`: every `(h + r) // 8` is a number of k's then."""
        found = None if self.says else progression(difference)
        if found is None:
            return None
        symbol, step, offset = found
        start = offset.constant
        low = None if start is None or symbol.low is None else -((start - symbol.low) // step)
        times = Symbol(f"{symbol.name}//{step}", symbol.serial, low)
        self.intervals[times] = Interval.of(times)
        return symbol, Dim.symbol(times) * step + offset

    def _single(self, difference: Dim) -> tuple[Symbol, Dim] | None:
        if self.keep is not None:
            hidden = [s for s in difference.symbols() if s not in self.keep]
            for symbol in sorted(set(hidden), key=lambda s: -s.serial):
                for monomial, coefficient in difference.terms:
                    if monomial == ((symbol, 1),) and abs(coefficient) == 1:
                        rest = difference - Dim.symbol(symbol) * coefficient
                        if symbol not in set(rest.symbols()):
                            return symbol, rest * -coefficient
        return difference.solve()

    def _replace(self, symbol: Symbol, value: Dim, deps: Deps) -> None:
        interval = self.intervals.pop(symbol)
        self.solved[symbol] = (value, deps)
        for other, (dim, its) in list(self.solved.items()):
            if other is not symbol and any(s is symbol for s in dim.symbols()):
                self.solved[other] = (dim.substitute({symbol: value}), its | deps)
        if isinstance(interval.low, int):
            self._queue.append(Fact.of(at_least(value, interval.low), deps | interval.low_deps))
        if isinstance(interval.high, int):
            self._queue.append(Fact.of(at_least(interval.high, value), deps | interval.high_deps))
        self._requeue(lambda f: symbol in f.symbols)

    def _bound(self, formula: Compare, fact: Fact) -> bool:
        """Turn a monotone fact of one symbol into a bound."""
        if len(fact.symbols) != 1 or formula.kind == "!=" or not divides_plainly(formula.difference):
            return False
        (symbol,) = fact.symbols
        wanted = [formula.difference] if formula.kind == ">=" else [formula.difference, -formula.difference]
        spans = [threshold(d, symbol.low) for d in wanted]
        known = [found for found in spans if found is not None]
        if known:
            self.narrow(symbol, (max(low for low, _ in known), min(high for _, high in known)), fact.deps)
        return None not in spans

    def narrow(self, symbol: Symbol, to: Span, deps: Deps) -> bool:
        """Learn that a symbol is within `to`; says whether that is news."""
        if symbol in self.solved:
            return False
        low, high, low_deps, high_deps = old = self.intervals[symbol]
        if to[0] > low:
            low, low_deps = to[0], deps
        if to[1] < high:
            high, high_deps = to[1], deps
        new = Interval(low, high, low_deps, high_deps)
        if new == old:
            return False
        self.intervals[symbol] = new
        if low > high:
            raise Conflict(new.deps)
        if low == high:
            self._replace(symbol, Dim.of(int(low)), new.deps)
        return True

    def _narrow(self) -> bool:
        """Decide facts by bounds, and narrow bounds by facts; says whether there is something new."""
        changed = False
        for fact in list(self.facts):
            if self._queue:
                return True
            rest, used = self._judge(fact)
            if rest != fact.formula:
                self.facts.remove(fact)
                self._queue.append(Fact.of(rest, fact.deps | used))
            elif isinstance(rest, Compare):
                changed = self._tighten(rest, fact.deps) or changed
        return changed or bool(self._queue)

    def _judge(self, fact: Fact) -> tuple[Formula, Deps]:
        """The fact without parts that bounds decide, and the constraints those follow from."""
        if isinstance(fact.formula, Compare):
            verdict = self._by_bounds(fact.formula)
            used = NONE if verdict == fact.formula else self._bound_deps(fact.symbols)
            return verdict, used
        rest = rebuild(fact.formula, lambda a: self._by_bounds(a) if isinstance(a, Compare) else a)
        return rest, NONE if rest == fact.formula else self._bound_deps(fact.symbols)

    def _bound_deps(self, some: Iterable[Symbol]) -> Deps:
        return NONE.union(*(self.intervals[s].deps for s in some))

    def _by_bounds(self, formula: Compare) -> Formula:
        low, high = span(formula.difference, self.intervals)
        if formula.kind == ">=":
            return TRUE if low >= 0 else FALSE if high < 0 else formula
        if low > 0 or high < 0:
            return FALSE if formula.kind == "==" else TRUE
        if low == high == 0:
            return TRUE if formula.kind == "==" else FALSE
        return formula

    def _tighten(self, formula: Compare, deps: Deps) -> bool:
        changed = False
        difference = formula.difference
        if formula.kind == "!=":
            return self._exclude(difference, deps)
        for dim in [difference] if formula.kind == ">=" else [difference, -difference]:
            for monomial, coefficient in dim.terms:
                if len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], Symbol):
                    changed = self._tighten_one(dim, monomial[0][0], coefficient, deps) or changed
                    if self._queue:
                        return True
        return changed

    def _tighten_one(self, dim: Dim, symbol: Symbol, coefficient: int, deps: Deps) -> bool:
        """From `c*x + rest >= 0`, a bound of x."""
        rest = dim - Dim.symbol(symbol) * coefficient
        most = span(rest, self.intervals)[1]
        if most == inf or most == -inf:
            return False
        limit: Bound = int(most)
        found: Span = (-(limit // coefficient), inf) if coefficient > 0 else (-inf, limit // -coefficient)
        return self.narrow(symbol, found, deps | self._bound_deps(set(rest.symbols())))

    def _exclude(self, difference: Dim, deps: Deps) -> bool:
        """From `x != c`, a bound where c is the end of one."""
        if len(set(difference.symbols())) != 1:
            return False
        (symbol,) = set(difference.symbols())
        low, high, low_deps, high_deps = self.intervals[symbol]
        for end, found, its in ((low, (low + 1, inf), low_deps), (high, (-inf, high - 1), high_deps)):
            if isinstance(end, int) and different(difference.substitute({symbol: Dim.of(end)}), 0) == FALSE:
                return self.narrow(symbol, found, deps | its)
        return False
