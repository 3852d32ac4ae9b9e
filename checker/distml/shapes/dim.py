"""Dimensions: integers, symbols and normalised polynomials with floor division.

A dimension is a sum of integer multiples of monomials; a monomial is a product
of atoms; an atom is a symbol or a floor division that could not be carried
out. Two dimensions that are equal as polynomials are equal as Python objects,
so `(h + 2) // 2` and `h // 2 + 1` compare equal. Where a dimension came from
(its `origin`) is carried along and never takes part in comparisons.
"""

from __future__ import annotations

from functools import reduce
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

from distml.shapes.quotient import Quotient
from distml.shapes.symbol import Origin, Symbol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


Atom = Symbol | Quotient
Monomial = tuple[tuple[Atom, int], ...]
Terms = tuple[tuple[Monomial, int], ...]

MAX_TERMS = 24
"""A dimension of more terms than this is not worth its cost."""
MAX_WEIGHT = 256
"""Nor is one that is written with more atoms."""


def _atom_key(atom: Atom) -> tuple[Any, ...]:
    return (0, atom.serial, atom.name) if isinstance(atom, Symbol) else atom.key


def _term_key(term: tuple[Monomial, int]) -> tuple[Any, ...]:
    monomial = term[0]
    return (-sum(power for _, power in monomial), tuple((_atom_key(a), p) for a, p in monomial))


class Dim:
    """One dimension: a normalised polynomial with integer coefficients.

    `Dim.of(3)` and `Dim.symbol(s)` make the simple ones; `+ - * // %` with
    other dimensions or integers make the rest. Floor division follows Python's
    (towards minus infinity); by zero it gives a number nothing is known of.
    """

    __slots__ = ("_hash", "origin", "terms")

    def __init__(self, terms: Terms, origin: Origin | None = None) -> None:
        self.terms = terms
        self.origin = origin
        self._hash = hash(terms)

    @staticmethod
    def of(value: int | Dim, origin: Origin | None = None) -> Dim:
        """The constant dimension `value`; a dimension is returned as it is."""
        if isinstance(value, Dim):
            return value
        return Dim((((), int(value)),) if value else (), origin)

    @staticmethod
    def symbol(symbol: Symbol, origin: Origin | None = None) -> Dim:
        """The dimension that is just `symbol`."""
        return Dim(((((symbol, 1),), 1),), origin)

    @property
    def constant(self) -> int | None:
        """The value, when the dimension is an integer."""
        terms = self.terms
        if not terms:
            return 0
        if len(terms) == 1 and not terms[0][0]:
            return terms[0][1]
        return None

    @property
    def key(self) -> tuple[Any, ...]:
        """Orders dimensions by their structure."""
        return tuple((*_term_key(term), term[1]) for term in self.terms)

    def at(self, origin: Origin | None) -> Dim:
        """The same dimension, said to come from `origin`."""
        return Dim(self.terms, origin)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dim):
            return self.terms == other.terms
        return isinstance(other, int) and self.constant == other

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        value = self.constant
        return _render(self.terms) if value is None else str(value)

    def __add__(self, other: int | Dim) -> Dim:
        other = Dim.of(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        left, right = self.constant, other.constant
        if left is not None and right is not None:
            return Dim.of(left + right)
        return Dim(_combine([*self.terms, *other.terms]))

    def __radd__(self, other: int | Dim) -> Dim:
        return self + other

    def __neg__(self) -> Dim:
        return Dim(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: int | Dim) -> Dim:
        left, right = self.constant, other if type(other) is int else Dim.of(other).constant
        if left is not None and right is not None and right:
            return Dim.of(left - right)
        return self + (-Dim.of(other))

    def __rsub__(self, other: int | Dim) -> Dim:
        return Dim.of(other) - self

    def __mul__(self, other: int | Dim) -> Dim:
        other = Dim.of(other)
        if other == 1:
            return self
        if self == 1:
            return other
        return Dim(_combine([(_times(m, n), c * d) for m, c in self.terms for n, d in other.terms]))

    def __rmul__(self, other: int | Dim) -> Dim:
        return self * other

    def __floordiv__(self, other: int | Dim) -> Dim:
        return _floor_divide(self, Dim.of(other))

    def __rfloordiv__(self, other: int | Dim) -> Dim:
        return Dim.of(other) // self

    def __mod__(self, other: int | Dim) -> Dim:
        return self - (self // other) * other

    def __rmod__(self, other: int | Dim) -> Dim:
        return Dim.of(other) % self

    def symbols(self) -> Iterator[Symbol]:
        """Every symbol, also those inside floor divisions; may repeat."""
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                if isinstance(atom, Symbol):
                    yield atom
                else:
                    yield from atom.symbols

    @property
    def weight(self) -> int:
        """How many symbols and floor divisions the dimension is written with."""
        return sum(1 if isinstance(atom, Symbol) else atom.weight for monomial, _ in self.terms for atom, _ in monomial)

    @property
    def is_small(self) -> bool:
        """Whether it is worth its cost; else a new symbol had better stand for it."""
        return len(self.terms) <= MAX_TERMS and self.weight <= MAX_WEIGHT

    @property
    def lone(self) -> Symbol | None:
        """The symbol, if the dimension is one and nothing else."""
        if len(self.terms) != 1 or self.terms[0][1] != 1 or len(self.terms[0][0]) != 1:
            return None
        atom, power = self.terms[0][0][0]
        return atom if power == 1 and isinstance(atom, Symbol) else None

    @property
    def is_dynamic(self) -> bool:
        """Whether a dynamic symbol is in it: then it is consistent with every size."""
        return any(symbol.dynamic for symbol in self.symbols())

    def substitute(self, values: Mapping[Symbol, Dim]) -> Dim:
        """The dimension with each symbol of `values` replaced; keeps the origin."""
        if not any(s in values for s in self.symbols()):
            return self
        total = Dim.of(0)
        for monomial, coefficient in self.terms:
            product = Dim.of(coefficient)
            for atom, power in monomial:
                factor = _substitute_atom(atom, values)
                for _ in range(power):
                    product = product * factor
            total = total + product
        return total.at(self.origin)

    @property
    def low(self) -> int | None:
        """A lower bound from the symbols' own bounds, None when there is none."""
        bound = _low(self.terms)
        if bound is not None:
            return bound
        bounded = _without_subtracted_symbols(self)
        bound = None if bounded is self else _low(bounded.terms)
        if bound is None:
            relaxed, scale = _without_subtracted_quotients(bounded)
            bound = None if scale == 1 else _low(relaxed.terms)
            bound = None if bound is None else -(-bound // scale)
        return bound

    @property
    def is_nonzero(self) -> bool:
        """Whether no assignment of its symbols makes the dimension zero.

        Decided by sign (all terms of one sign and a constant) and by
        divisibility (`2*n + 1`); False means "not proved".
        """
        constant = self.constant
        if constant is not None:
            return constant != 0
        if self.is_dynamic:
            return False
        low, high = self.low, (-self).low
        if (low is not None and low > 0) or (high is not None and high > 0):
            return True
        rest = [c for m, c in self.terms if m]
        offset = sum(c for m, c in self.terms if not m)
        return offset % reduce(gcd, rest) != 0

    def differs(self, other: int | Dim) -> bool:
        """Whether the two can never be equal."""
        left, right = self.constant, Dim.of(other).constant
        return left != right if left is not None and right is not None else (self - other).is_nonzero

    def solve(self) -> tuple[Symbol, Dim] | None:
        """For `self == 0`: a symbol and what it must be, if one can be singled out.

        The symbol stands alone with coefficient 1 or -1 and nowhere else; the
        youngest such symbol is chosen, so inputs outlive what is made of them.
        """
        counts: dict[Symbol, int] = {}
        for symbol in self.symbols():
            counts[symbol] = counts.get(symbol, 0) + 1
        best: tuple[Symbol, int] | None = None
        for monomial, coefficient in self.terms:
            if len(monomial) != 1 or abs(coefficient) != 1:
                continue
            atom, power = monomial[0]
            if power != 1 or not isinstance(atom, Symbol) or counts[atom] != 1:
                continue
            if best is None or atom.serial > best[0].serial:
                best = (atom, coefficient)
        if best is None:
            return None
        symbol, coefficient = best
        rest = self - Dim.symbol(symbol) * coefficient
        return symbol, (-rest if coefficient == 1 else rest)


def _combine(terms: list[tuple[Monomial, int]]) -> Terms:
    if len(terms) > 1:
        sums: dict[Monomial, int] = {}
        for monomial, coefficient in terms:
            sums[monomial] = sums.get(monomial, 0) + coefficient
        terms = [(m, c) for m, c in sums.items() if c]
        if len(terms) > 1:
            terms.sort(key=_term_key)
    elif terms and not terms[0][1]:
        return ()
    return tuple(terms)


def _times(left: Monomial, right: Monomial) -> Monomial:
    if not left:
        return right
    if not right:
        return left
    powers: dict[Atom, int] = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: _atom_key(item[0])))


def _floor_divide(a: Dim, b: Dim) -> Dim:
    divisor, value = b.constant, a.constant
    if divisor == 0:
        # No run of the program gets beyond this: the result may as well be any number.
        return Dim(((((Quotient.of(a, b), 1),), 1),))
    if divisor is not None and value is not None:
        return Dim.of(value // divisor)
    if divisor is not None and divisor < 0:
        return _floor_divide(-a, -b)  # the same number, and the solver takes what it divides by for positive
    if divisor == 1:
        return a
    if divisor is not None:
        return _divide_by_constant(a, divisor)
    exact = _divide_exactly(a, b) if a.terms else a
    return exact if exact is not None else Dim(((((Quotient.of(a, b), 1),), 1),))


def _divide_by_constant(a: Dim, divisor: int) -> Dim:
    whole = Dim(_combine([(m, c // divisor) for m, c in a.terms if c // divisor]))
    rest = Dim(_combine([(m, c % divisor) for m, c in a.terms if c % divisor]))
    if rest.constant is not None:
        return whole + rest.constant // divisor
    common = gcd(divisor, *(c for m, c in rest.terms if m))
    if common > 1:  # (8*k + 7) // 16 is k // 2
        return whole + Dim(tuple((m, c // common) for m, c in rest.terms if c // common)) // (divisor // common)
    nested = _nested_quotient(rest, divisor)
    return whole + (Dim(((((Quotient.of(rest, Dim.of(divisor)), 1),), 1),)) if nested is None else nested)


def _nested_quotient(rest: Dim, divisor: int) -> Dim | None:
    """`(x // a + k) // b` is `(x + k*a) // (a*b)` for positive a and b, as `divisor` is."""
    offset = sum(c for m, c in rest.terms if not m)
    proper = [(m, c) for m, c in rest.terms if m]
    if len(proper) != 1 or proper[0][1] != 1 or len(proper[0][0]) != 1:
        return None
    atom, power = proper[0][0][0]
    if power != 1 or not isinstance(atom, Quotient):
        return None
    inner = atom.denominator.constant
    if inner is None or inner <= 0:
        return None
    return (atom.numerator + offset * inner) // (inner * divisor)


def _divide_exactly(a: Dim, b: Dim) -> Dim | None:
    """`a / b` when it is a polynomial, by division on leading terms."""
    quotient, rest = Dim.of(0), a
    lead, lead_coefficient = b.terms[0]
    for _ in range(len(a.terms) + 1):
        if not rest.terms:
            return quotient
        monomial, coefficient = rest.terms[0]
        factor = _cancel(monomial, lead)
        if factor is None or coefficient % lead_coefficient:
            return None
        step = Dim(((factor, coefficient // lead_coefficient),))
        quotient = quotient + step
        rest = rest - step * b
    return None


def _cancel(monomial: Monomial, by: Monomial) -> Monomial | None:
    powers = dict(monomial)
    for atom, power in by:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        if left:
            powers[atom] = left
        else:
            del powers[atom]
    return tuple(sorted(powers.items(), key=lambda item: _atom_key(item[0])))


def _substitute_atom(atom: Atom, values: Mapping[Symbol, Dim]) -> Dim:
    if isinstance(atom, Symbol):
        return values.get(atom) or Dim.symbol(atom)
    denominator = atom.denominator.substitute(values)
    if denominator.constant == 0:
        return Dim(((((atom, 1),), 1),))
    return atom.numerator.substitute(values) // denominator


def _low(terms: Terms) -> int | None:
    total = 0
    for monomial, coefficient in terms:
        bound = _monomial_low(monomial)
        if not monomial:
            total += coefficient
        elif coefficient > 0 and bound is not None:
            total += coefficient * bound
        else:
            return None
    return total


def _without_subtracted_symbols(dim: Dim) -> Dim:
    """What is at most `dim`: symbols that are taken away are as large as they can be."""
    for monomial, coefficient in dim.terms:
        atom = monomial[0][0] if coefficient < 0 and len(monomial) == 1 and monomial[0][1] == 1 else None
        if isinstance(atom, Symbol) and atom.high is not None:
            dim = dim + (atom.high - Dim.symbol(atom)) * coefficient
    return dim


def _without_subtracted_quotients(dim: Dim) -> tuple[Dim, int]:
    """A multiple of what is at most `dim`, and how many times: `- n // 2` is at least `- n / 2`."""
    subtracted: dict[Monomial, Quotient] = {}
    for monomial, coefficient in dim.terms:
        atom = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
        if coefficient < 0 and isinstance(atom, Quotient) and (atom.denominator.constant or 0) > 0:
            subtracted[monomial] = atom
    scale = reduce(lcm, (atom.denominator.constant or 1 for atom in subtracted.values()), 1)
    total = Dim.of(0)
    for monomial, coefficient in dim.terms:
        quotient = subtracted.get(monomial)
        if quotient is None:
            total = total + Dim(((monomial, coefficient * scale),))
        else:
            total = total + quotient.numerator * (coefficient * scale // (quotient.denominator.constant or 1))
    return total, scale


def _monomial_low(monomial: Monomial) -> int | None:
    product = 1
    for atom, power in monomial:
        low = atom.low if isinstance(atom, Symbol) else _quotient_low(atom)
        if low is None or low < 0:
            return 0 if power % 2 == 0 and len(monomial) == 1 else None
        product *= low**power
    return product


def _quotient_low(atom: Quotient) -> int | None:
    low, divisor = atom.numerator.low, atom.denominator.constant
    if low is None or low < 0:
        return None if low is None or divisor is None or divisor <= 0 else low // divisor
    if divisor is not None and divisor > 0:
        return low // divisor
    bound = atom.denominator.low
    return 0 if bound is not None and bound >= 0 else None


def _render(terms: Terms) -> str:
    if not terms:
        return "0"
    out = ""
    for monomial, coefficient in terms:
        factors = [_power(atom, power) for atom, power in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        sign = "-" if coefficient < 0 else "+"
        text = "*".join(factors)
        if out:
            out += f" {sign} {text}"
        else:
            out = f"-{text}" if sign == "-" else text
    return out


def _power(atom: Atom, power: int) -> str:
    text = repr(atom)
    if isinstance(atom, Quotient):
        text = f"({text})"
    return text if power == 1 else f"{text}**{power}"
