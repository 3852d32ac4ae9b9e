"""Target constraints, and when a solution satisfies them (the paper's Figure 4 and the table below Figure 5).

Where the paper introduces fresh variables, `v = TensorType(ζ1, ..., ζn)`, here are the rank of `v` and its dimensions by
index. A solution is then a type for each unknown and nothing else, which is what makes solutions and migrations
correspond one to one: fresh variables of an alternative that is not taken could have any value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from oracles.calculus.constraints import TypeVariable
from oracles.calculus.types import Dyn, Size, TensorType, Type, Unknown, divides


@dataclass(frozen=True, slots=True)
class Part:
    """ζ: the dimension `index` of a type; `Dyn` where the type is."""

    type: TypeVariable
    index: int


Term: TypeAlias = Part | int
"""A dimension of a type, or a number."""


@dataclass(frozen=True, slots=True)
class IsDyn:
    """`v = Dyn`."""

    type: TypeVariable


@dataclass(frozen=True, slots=True)
class HasRank:
    """`v = TensorType(ζ1, ..., ζ_rank)`, the ζ being its parts."""

    type: TypeVariable
    rank: int


@dataclass(frozen=True, slots=True)
class SameType:
    """`v = v'`."""

    one: TypeVariable
    other: TypeVariable


@dataclass(frozen=True, slots=True)
class SizeIsDyn:
    """`ζ = Dyn`."""

    size: Term


@dataclass(frozen=True, slots=True)
class SameSize:
    """`ζ = ζ'` or `ζ = n`: both `Dyn`, or one number."""

    one: Term
    other: Term


@dataclass(frozen=True, slots=True)
class Shifted:
    """`ζ = ζ' + n`, both numbers. The grammar has `ζ' · n + n'`; nothing needs a factor."""

    result: Term
    size: Term
    by: int


@dataclass(frozen=True, slots=True)
class SameProduct:
    """The products of the dimensions that are numbers are equal. The grammar can say so only by `mod` both ways."""

    left: tuple[Term, ...]
    right: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Multiple:
    """`(∏ of) mod (∏ divisors) = 0`, the products of the dimensions that are numbers. Of 0, only 0 is a multiple."""

    of: tuple[Term, ...]
    divisors: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class All:
    """Conjunction; `True` without parts."""

    parts: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Disjunction; nothing satisfies it without parts."""

    parts: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    part: Target


Atom: TypeAlias = IsDyn | HasRank | SameType | SizeIsDyn | SameSize | Shifted | SameProduct | Multiple
Target: TypeAlias = Atom | All | Some | Not
Solution: TypeAlias = Mapping[TypeVariable, Type]


def every(*parts: Target) -> Target:
    """The conjunction of the parts."""
    return parts[0] if len(parts) == 1 else All(parts)


def some(*parts: Target) -> Target:
    """The disjunction of the parts."""
    return parts[0] if len(parts) == 1 else Some(parts)


def satisfies(solution: Solution, target: Target) -> bool:
    """`solution ⊨ target`."""
    match target:
        case All(parts=parts):
            return all(satisfies(solution, part) for part in parts)
        case Some(parts=parts):
            return any(satisfies(solution, part) for part in parts)
        case Not(part=part):
            return not satisfies(solution, part)
    return _satisfies_atom(solution, target)


def _satisfies_atom(solution: Solution, atom: Atom) -> bool:
    match atom:
        case IsDyn(type=type_):
            return solution[type_] is Dyn
        case HasRank(type=type_, rank=rank):
            value = solution[type_]
            return isinstance(value, TensorType) and value.rank == rank
        case SameType(one=one, other=other):
            return solution[one] == solution[other]
        case SizeIsDyn(size=size):
            return size_of(solution, size) is Dyn
        case SameSize(one=left, other=right):
            return size_of(solution, left) == size_of(solution, right)
        case Shifted(result=result, size=shifted, by=by):
            number = size_of(solution, shifted)
            return isinstance(number, int) and size_of(solution, result) == number + by
        case SameProduct(left=lefts, right=rights):
            return _product(solution, lefts) == _product(solution, rights)
        case Multiple(of=of, divisors=divisors):
            return divides(_product(solution, divisors), _product(solution, of))


def size_of(solution: Solution, term: Term) -> Size:
    """What a solution says a dimension is; `Dyn` if the type has no such dimension, which other constraints exclude."""
    if isinstance(term, int):
        return term
    type_ = solution[term.type]
    return Dyn if isinstance(type_, Unknown) or term.index >= type_.rank else type_.dims[term.index]


def _product(solution: Solution, terms: tuple[Term, ...]) -> int:
    sizes = (size_of(solution, term) for term in terms)
    return prod(size for size in sizes if isinstance(size, int))
