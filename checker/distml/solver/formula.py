"""Formulas over dimensions: comparisons, unknown Booleans, and, or, not.

Formulas are immutable and equal when they are written alike. Make them with
the functions below: what integers, normalized polynomials and the lower bounds
of symbols decide is decided at once, the rest is brought into one form
(differences without a common factor, negation only before an unknown Boolean).

A comparison that divides by zero holds for no values, nor does its negation:
no run of a program gets beyond such a division.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from types import MappingProxyType
from typing import Literal

from distml.shapes import Dim, Quotient, Symbol
from distml.shapes.dim import Atom
from distml.solver.text import compare_text

Kind = Literal["==", "!=", ">="]


@dataclass(frozen=True, slots=True)
class Compare:
    """`difference kind 0`."""

    kind: Kind
    difference: Dim


@dataclass(frozen=True, slots=True)
class Flag:
    """An unknown Boolean."""

    name: str
    serial: int


@dataclass(frozen=True, slots=True)
class Negation:
    """The flag is false. Other formulas have a negation of their own kind."""

    flag: Flag


@dataclass(frozen=True, slots=True)
class Both:
    """All parts hold; without parts, true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one part holds; without parts, false."""

    parts: tuple[Formula, ...]


Formula = Compare | Flag | Negation | Both | Either

TRUE = Both(())
FALSE = Either(())


def equal(a: int | Dim, b: int | Dim) -> Formula:
    """`a == b`"""
    return compare("==", Dim.of(a) - b)


def different(a: int | Dim, b: int | Dim) -> Formula:
    """`a != b`"""
    return compare("!=", Dim.of(a) - b)


def at_least(a: int | Dim, b: int | Dim) -> Formula:
    """`a >= b`"""
    return compare(">=", Dim.of(a) - b)


def less(a: int | Dim, b: int | Dim) -> Formula:
    """`a < b`"""
    return compare(">=", Dim.of(b) - a - 1)


def divisible(a: int | Dim, by: int | Dim) -> Formula:
    """`a % by == 0`"""
    return equal(Dim.of(a) % by, 0)


def compare(kind: Kind, difference: Dim) -> Formula:
    """`difference kind 0`, decided if it can be, otherwise in its one form."""
    if difference.is_dynamic:
        return Compare(kind, difference)
    if kind == ">=":
        return _at_least_zero(difference)
    if difference.is_nonzero:
        return FALSE if kind == "==" else TRUE
    if not difference.terms:
        return TRUE if kind == "==" else FALSE
    difference = _without_positive_factors(difference)
    content = gcd(*(c for _, c in difference.terms))
    if difference.terms[0][1] < 0:
        content = -content
    return Compare(kind, Dim(tuple((m, c // content) for m, c in difference.terms)))


def _at_least_zero(difference: Dim) -> Formula:
    low, high = difference.low, (-difference).low
    if low is not None and low >= 0:
        return TRUE
    if high is not None and high > 0:
        return FALSE
    difference = _without_positive_factors(difference)
    content = gcd(*(c for m, c in difference.terms if m))
    # The number is rounded down: `4*n >= 9` says `n >= 9/4`, thus `n >= 3`.
    divided = Dim(tuple((m, c // content) for m, c in difference.terms if m or c // content))
    return _at_least_zero(divided) if divided != difference else Compare(">=", divided)


def _without_positive_factors(difference: Dim) -> Dim:
    """The sign stays what it is if factors of every term that are at least 1 are left out."""
    common: dict[Atom, int] = dict(difference.terms[0][0])
    for monomial, _ in difference.terms[1:]:
        powers = dict(monomial)
        common = {atom: min(power, powers[atom]) for atom, power in common.items() if atom in powers}
    positive = tuple((atom, power) for atom, power in common.items() if _is_positive(atom))
    if not positive or (len(difference.terms) == 1 and len(positive) == len(difference.terms[0][0])):
        return difference
    return difference // Dim(((positive, 1),))


def _is_positive(atom: Atom) -> bool:
    low = atom.low if isinstance(atom, Symbol) else Dim(((((atom, 1),), 1),)).low
    return low is not None and low >= 1


def both(*formulas: Formula) -> Formula:
    """All of them hold."""
    parts: dict[Formula, None] = {}
    for formula in formulas:
        for part in formula.parts if isinstance(formula, Both) else (formula,):
            if part == FALSE:
                return FALSE
            parts[part] = None
    if any(not isinstance(p, Either) and negate(p) in parts for p in parts):
        return FALSE
    return next(iter(parts)) if len(parts) == 1 else Both(tuple(parts)) if parts else TRUE


def either(*formulas: Formula) -> Formula:
    """At least one of them holds."""
    parts: dict[Formula, None] = {}
    for formula in formulas:
        for part in formula.parts if isinstance(formula, Either) else (formula,):
            if part == TRUE:
                return TRUE
            parts[part] = None
    if any(_is_total(p) and negate(p) in parts for p in parts):
        return TRUE
    return next(iter(parts)) if len(parts) == 1 else Either(tuple(parts)) if parts else FALSE


def _is_total(formula: Formula) -> bool:
    """Whether the formula or its negation holds, whatever the values: nothing in it divides by what may be zero."""
    match formula:
        case Compare(difference=difference):
            return not any(divisors(difference))
        case Flag() | Negation():
            return True
    return False


def negate(formula: Formula) -> Formula:
    """The opposite."""
    match formula:
        case Compare(kind=">=", difference=difference):
            return compare(">=", -difference - 1)
        case Compare(kind=kind, difference=difference):
            return Compare("!=" if kind == "==" else "==", difference)
        case Flag():
            return Negation(formula)
        case Negation(flag=flag):
            return flag
        case Both(parts=parts):
            return either(*map(negate, parts))
        case Either(parts=parts):
            return both(*map(negate, parts))


def implies(a: Formula, b: Formula) -> Formula:
    """`b` holds wherever `a` does."""
    return either(negate(a), b)


def atoms(formula: Formula) -> Iterator[Compare | Flag]:
    """The comparisons and unknown Booleans in it; may repeat."""
    match formula:
        case Compare() | Flag():
            yield formula
        case Negation(flag=flag):
            yield flag
        case Both(parts=parts) | Either(parts=parts):
            for part in parts:
                yield from atoms(part)


def symbols(formula: Formula) -> frozenset[Symbol]:
    """Every symbol in it."""
    return frozenset(s for a in atoms(formula) if isinstance(a, Compare) for s in a.difference.symbols())


def flags(formula: Formula) -> frozenset[Flag]:
    """Every unknown Boolean in it."""
    return frozenset(a for a in atoms(formula) if isinstance(a, Flag))


def divisors(dim: Dim) -> Iterator[Dim]:
    """Everything in it that is divided by and may be zero."""
    for monomial, _ in dim.terms:
        for atom, _ in monomial:
            if isinstance(atom, Quotient):
                yield from divisors(atom.numerator)
                yield from divisors(atom.denominator)
                if not atom.denominator.is_nonzero:
                    yield atom.denominator


def rebuild(formula: Formula, leaf: Callable[[Compare | Flag], Formula]) -> Formula:
    """The formula with `leaf` of each comparison and each unknown Boolean, decided anew."""
    match formula:
        case Compare() | Flag():
            return leaf(formula)
        case Negation(flag=flag):
            return negate(leaf(flag))
        case Both(parts=parts):
            return both(*(rebuild(p, leaf) for p in parts))
        case Either(parts=parts):
            return either(*(rebuild(p, leaf) for p in parts))


def substitute(formula: Formula, mapping: Mapping[Symbol, Dim]) -> Formula:
    """The formula with each symbol of `mapping` replaced, decided anew."""

    def leaf(atom: Compare | Flag) -> Formula:
        if isinstance(atom, Flag):
            return atom
        replaced = atom.difference.substitute(mapping)
        return atom if replaced is atom.difference else compare(atom.kind, replaced)

    return rebuild(formula, leaf)


def value(dim: Dim, values: Mapping[Symbol, int]) -> int:
    """The number that a dimension is.

    Raises ZeroDivisionError where it divides by zero, KeyError where `values` lacks a symbol.
    """
    total = 0
    for monomial, coefficient in dim.terms:
        for atom, power in monomial:
            if isinstance(atom, Symbol):
                coefficient *= values[atom] ** power
            else:
                coefficient *= (value(atom.numerator, values) // value(atom.denominator, values)) ** power
        total += coefficient
    return total


def evaluate(formula: Formula, values: Mapping[Symbol, int], flags: Mapping[Flag, bool] = MappingProxyType({})) -> bool:
    """Whether the formula holds for these numbers and Booleans.

    Raises KeyError where a symbol or a flag has no value.
    """
    match formula:
        case Compare(kind=kind, difference=difference):
            try:
                number = value(difference, values)
            except ZeroDivisionError:
                return False
            return number >= 0 if kind == ">=" else (number == 0) == (kind == "==")
        case Flag():
            return flags[formula]
        case Negation(flag=flag):
            return not flags[flag]
        case Both(parts=parts):
            return all(evaluate(p, values, flags) for p in parts)
        case Either(parts=parts):
            return any(evaluate(p, values, flags) for p in parts)


def show(formula: Formula, names: Callable[[Symbol], str] | None = None) -> str:
    """The formula as text, which Python would read the same way: `b*t % 8 == 0 and (x == 1 or x == y)`."""
    names = names or (lambda symbol: symbol.name)
    match formula:
        case Compare(kind=kind, difference=difference):
            return compare_text(kind, difference, names)
        case Flag(name=name):
            return name
        case Negation(flag=flag):
            return f"not {flag.name}"
        case Both(parts=parts):
            return _joined(parts, " and ", names) or "True"
        case Either(parts=parts):
            return _joined(parts, " or ", names) or "False"


def _joined(parts: Iterable[Formula], word: str, names: Callable[[Symbol], str]) -> str:
    shown = ((p, show(p, names)) for p in parts)
    return word.join(f"({text})" if isinstance(p, (Both, Either)) else text for p, text in shown)
