"""Remainders in polynomials: finding `n % 4` in `n - 4*(n//4)`.

Dimensions have no operator for remainders, `%` is written out where it is
computed. People read, and intervals are tighter for, the remainder.
"""

from __future__ import annotations

from typing import NamedTuple

from distml.shapes import Dim, Quotient, Symbol


class Remainder(NamedTuple):
    """`factor * (numerator % denominator)`."""

    factor: int
    numerator: Dim
    denominator: Dim


def quotients(dim: Dim) -> list[Quotient]:
    """The floor divisions that are factors of terms, each once; not those inside others."""
    found: dict[Quotient, None] = {}
    for monomial, _ in dim.terms:
        for atom, _ in monomial:
            if isinstance(atom, Quotient):
                found[atom] = None
    return list(found)


def split(dim: Dim) -> tuple[list[Remainder], Dim]:
    """The remainders in `dim`, and the rest: together they are `dim` again.

    A floor division is taken for part of a remainder only where the rest gets shorter by it.
    """
    found: list[Remainder] = []
    for quotient in quotients(dim):
        remainder = _remainder(dim, quotient)
        if remainder is None:
            continue
        rest = dim - remainder.numerator * remainder.factor + _written_out(quotient) * remainder.factor
        if _length(rest) < _length(dim) - 1:
            found.append(remainder)
            dim = rest
    return found, dim


def progression(difference: Dim) -> tuple[Symbol, int, Dim] | None:
    """From `difference == 0`: a symbol that is `step*k + offset` for whatever k, if it says no more than a remainder.

    `(h + p) % 8 == 3` makes h `8*k + 3 - p`.
    """
    remainders, rest = split(difference)
    if len(remainders) != 1 or rest.constant is None:
        return None
    factor, numerator, denominator = remainders[0]
    step, wanted = denominator.constant, -rest.constant * factor
    if abs(factor) != 1 or step is None or not 0 <= wanted < step:
        return None
    single = (numerator - wanted).solve()
    if single is None:
        return None
    symbol, value = single
    return symbol, step, value


def _length(dim: Dim) -> int:
    return sum(1 for monomial, _ in dim.terms if monomial)


def _written_out(quotient: Quotient) -> Dim:
    return Dim(((((quotient, 1),), 1),)) * quotient.denominator


def _remainder(dim: Dim, quotient: Quotient) -> Remainder | None:
    """The multiple of `numerator % denominator` in which all of `quotient` is used up."""
    cofactor = Dim.of(0)
    for monomial, coefficient in dim.terms:
        powers = dict(monomial)
        power = powers.pop(quotient, 0)
        if power > 1:
            return None
        if power:
            cofactor = cofactor + Dim(((tuple(powers.items()), -coefficient),))
    factor = (cofactor // quotient.denominator).constant if cofactor.terms else None
    if not factor or quotient.denominator * factor != cofactor:
        return None
    return Remainder(factor, quotient.numerator, quotient.denominator)
