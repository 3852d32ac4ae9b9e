"""Intervals of dimensions, and the thresholds of those that only grow.

An interval knows which constraints each end comes from. A dimension of one
symbol is monotone if no step of the symbol can take it the other way; that is
read off its structure: `(n + 3)//4` grows by 0 or 1 a step, `n - n//2` too.
Then `dim >= 0` says no more than a bound of the symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import NamedTuple

from distml.shapes import Dim, Quotient, Symbol
from distml.shapes.dim import Atom
from distml.solver.formula import value
from distml.solver.remainder import split

Deps = frozenset[int]
"""Numbers of the constraints that something follows from."""

NONE: Deps = frozenset()
Bound = int | float
"""An integer, or an infinity where there is no bound."""

Span = tuple[Bound, Bound]
FARTHEST = 2**64
"""Thresholds beyond this are not looked for."""


class Interval(NamedTuple):
    """The values a symbol can have, and the constraints that either end follows from."""

    low: Bound
    high: Bound = inf
    low_deps: Deps = NONE
    high_deps: Deps = NONE

    @property
    def deps(self) -> Deps:
        """What the whole interval follows from."""
        return self.low_deps | self.high_deps

    @staticmethod
    def of(symbol: Symbol) -> Interval:
        """What the symbol itself says."""
        return Interval(-inf if symbol.low is None else symbol.low)


def span(dim: Dim, intervals: Mapping[Symbol, Interval]) -> Span:
    """Bounds of the dimension from those of its symbols; not always the tightest."""
    low, high = _sum_span(dim, intervals)
    remainders, rest = split(dim)
    if remainders:
        below, above = _sum_span(rest, intervals)
        for factor, _, denominator in remainders:
            ends = (0, factor * _largest_remainder(denominator, intervals))
            below, above = below + min(ends), above + max(ends)
        low, high = max(low, below), min(high, above)
    return low, high


def _largest_remainder(denominator: Dim, intervals: Mapping[Symbol, Interval]) -> Bound:
    low, high = span(denominator, intervals)
    return high - 1 if low >= 1 else inf


def _sum_span(dim: Dim, intervals: Mapping[Symbol, Interval]) -> Span:
    low: Bound = 0
    high: Bound = 0
    for monomial, coefficient in dim.terms:
        product: Span = (coefficient, coefficient)
        for atom, power in monomial:
            product = _times(product, _raised(_atom_span(atom, intervals), power))
        low, high = low + product[0], high + product[1]
    return low, high


def _atom_span(atom: Atom, intervals: Mapping[Symbol, Interval]) -> Span:
    if isinstance(atom, Symbol):
        return intervals[atom][:2]
    low, high = span(atom.denominator, intervals)
    if low < 1:
        return -inf, inf
    above, below = span(atom.numerator, intervals)[::-1]
    return (
        _floor(below, high if below >= 0 else low),
        _floor(above, low if above >= 0 else high),
    )


def _floor(a: Bound, b: Bound) -> Bound:
    """`a // b` for positive b, either maybe infinite."""
    if isinstance(a, float):
        return a
    if isinstance(b, float):
        return 0 if a >= 0 else -1
    return a // b


def _times(a: Span, b: Span) -> Span:
    products = [_product(x, y) for x in a for y in b]
    return min(products), max(products)


def _product(a: Bound, b: Bound) -> Bound:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 0 or b == 0:
        return 0
    return inf if (a > 0) == (b > 0) else -inf


def _raised(base: Span, power: int) -> Span:
    result = base
    for _ in range(power - 1):
        result = _times(result, base)
    if power % 2 == 0 and base[0] < 0:
        result = (0, result[1])
    return result


def steps(dim: Dim, low: int | None) -> Span:
    """By how much a dimension of one symbol, at least `low`, changes when the symbol grows by one."""
    least: Bound = 0
    most: Bound = 0
    for monomial, coefficient in dim.terms:
        if not monomial:
            continue
        below, above = _monomial_steps(monomial, low)
        ends = (_product(below, coefficient), _product(above, coefficient))
        least, most = least + min(ends), most + max(ends)
    return least, most


def _monomial_steps(monomial: tuple[tuple[Atom, int], ...], low: int | None) -> Span:
    if len(monomial) == 1 and monomial[0][1] == 1:
        return _atom_steps(monomial[0][0], low)
    grows = low is not None and all(_grows_from_zero(atom, low) for atom, _ in monomial)
    return (0, inf) if grows else (-inf, inf)


def _grows_from_zero(atom: Atom, low: int) -> bool:
    """Whether the atom is at least zero from the start and never gets smaller."""
    if isinstance(atom, Symbol):
        return low >= 0
    if _atom_steps(atom, low)[0] < 0:
        return False
    return at(Dim(((((atom, 1),), 1),)), low) >= 0


def _atom_steps(atom: Atom, low: int | None) -> Span:
    if isinstance(atom, Symbol):
        return 1, 1
    divisor = atom.denominator.constant
    if not divisor:
        return -inf, inf
    least, most = steps(atom.numerator, low)
    if divisor < 0:
        least, most, divisor = -most, -least, -divisor
    return _floor(least, divisor), -_floor(-most, divisor)


def at(dim: Dim, number: int) -> int:
    """What a dimension of one symbol is where the symbol is `number`."""
    return value(dim, dict.fromkeys(dim.symbols(), number))


def threshold(dim: Dim, low: int | None) -> Span | None:
    """The values of its one symbol, at least `low`, where `dim >= 0`; None if the dimension is not monotone.

    The dimension divides by nothing but integers other than zero. An empty
    span says that there are none.
    """
    least, most = steps(dim, low)
    if least >= 0:
        start = _first(lambda n: at(dim, n) >= 0, low)
        return None if start is None else (start, inf)
    if most <= 0:
        start = _first(lambda n: at(dim, n) < 0, low)
        return None if start is None else (-inf, start - 1)
    return None


def _first(reached: Callable[[int], bool], low: int | None) -> Bound | None:
    """The least number from `low` on for which something holds that holds from there on; None if too far."""
    start = 0 if low is None else low
    if reached(start):
        if low is not None:
            return -inf
        step = 1
        while reached(start - step):
            step *= 2
            if step > FARTHEST:
                return None
        below, above = start - step, start
    else:
        step = 1
        while not reached(start + step):
            step *= 2
            if step > FARTHEST:
                return None
        below, above = start, start + step
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if reached(middle) else (middle, above)
    return above


def divides_plainly(dim: Dim) -> bool:
    """Whether everything that is divided by is an integer other than zero."""
    return all(
        (atom.denominator.constant or 0) != 0 and divides_plainly(atom.numerator)
        for monomial, _ in dim.terms
        for atom, _ in monomial
        if isinstance(atom, Quotient)
    )
