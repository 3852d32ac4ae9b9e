"""From source constraints to target constraints (the paper's Appendix E).

A disjunction over ranks has a part only for the ranks that an unknown can have (`Domains`), so nothing here knows a
greatest rank. Where the printed constraints and the typing rules differ, the rules are followed, since otherwise
solutions and migrations (Theorem 4.1) would differ; the functions say where that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TypeAlias

from oracles.calculus.constraints import (
    Bounded,
    Broadcast,
    CanReshape,
    Consistent,
    ConsistentSize,
    Convolved,
    Generated,
    Is,
    LeastUpper,
    Matches,
    Never,
    Precise,
    Same,
    Source,
    TypeVariable,
)
from oracles.calculus.targets import (
    HasRank,
    IsDyn,
    Multiple,
    Not,
    Part,
    SameProduct,
    SameSize,
    SameType,
    Shifted,
    SizeIsDyn,
    Some,
    Target,
    Term,
    every,
    some,
)
from oracles.calculus.types import Dyn, TensorType, Unknown

Rank: TypeAlias = int | Unknown
Domains: TypeAlias = Mapping[TypeVariable, frozenset[Rank]]
"""The ranks that each unknown type can have, `Dyn` for none."""


def domains(generated: Generated, ranks: Iterable[int]) -> Domains:
    """Which ranks each unknown can have, if a declaration that says `Dyn` has any of `ranks` or none."""
    bound: frozenset[Rank] = frozenset((Dyn, *ranks))
    found: dict[TypeVariable, frozenset[Rank]] = {}
    for constraint, _ in generated.constraints:
        match constraint:
            case Precise(less=less, more=more):
                found[more] = bound if isinstance(less, Unknown) else frozenset((less.rank,))
            case Same(one=one, other=other):
                found[one] = found[other]
            case Is(one=one, type=type_):
                found[one] = frozenset((type_.rank,))
            case Convolved(result=result):
                found[result] = frozenset((4,))
            case Broadcast(operands=operands, types=types):
                _broadcast_domains(found, operands, types)
            case LeastUpper(result=result, one=one, other=other):
                found[result] = frozenset(
                    b if a == b else Dyn for a, b in product(found[one], found[other]) if a == b or Dyn in (a, b)
                )
    for unknown in (*generated.declared.values(), *generated.terms):
        found.setdefault(unknown, frozenset((Dyn,)))
    return found


def _broadcast_domains(
    found: dict[TypeVariable, frozenset[Rank]],
    operands: tuple[TypeVariable, TypeVariable],
    types: tuple[TypeVariable, TypeVariable],
) -> None:
    pairs = list(product(found.get(types[0], {Dyn}), found.get(types[1], {Dyn})))
    broadcast = [
        (a, b) if isinstance(a, Unknown) or isinstance(b, Unknown) else (max(a, b), max(a, b)) for a, b in pairs
    ]
    for unknown, options in zip(operands, zip(*broadcast)):
        found[unknown] = frozenset(options)


def translate(source: Source, ranks: Domains) -> Target:
    """The target constraint that says the same."""
    match source:
        case Precise(less=less, more=more):
            return _precise(less, more)
        case Bounded(type=type_):
            return some(*(_ranked(type_, rank) for rank in _ordered(ranks[type_])))
        case Same(one=one, other=other):
            return SameType(one, other)
        case Is(one=one, type=type_):
            return every(HasRank(one, type_.rank), *(map(_is_size, _parts(one, type_.rank), type_.dims)))
        case CanReshape(argument=argument, target=target):
            return some(*(_can_reshape(argument, rank, target) for rank in _ordered(ranks[argument])))
        case Matches(type=type_, rank=rank):
            return some(IsDyn(type_), HasRank(type_, rank))
        case ConsistentSize(size=size, type=type_, index=index):
            return some(SizeIsDyn(Part(type_, index)), SameSize(Part(type_, index), size))
        case Convolved():
            return _convolved(source)
        case Never():
            return Some(())
    return _of_sum(source, ranks)


def _of_sum(source: Broadcast | Consistent | LeastUpper, ranks: Domains) -> Target:
    match source:
        case Broadcast(types=(left, right)):
            pairs = product(_ordered(ranks[left]), _ordered(ranks[right]))
            return some(*(_broadcast(source, *pair) for pair in pairs))
        case Consistent(one=one, other=other):
            dynamic: list[Target] = [IsDyn(one), IsDyn(other)]
            return some(*dynamic, *(_all_consistent(one, other, rank) for rank in _common(ranks, one, other)))
        case LeastUpper(result=result, one=one, other=other):
            unknown = every(some(IsDyn(one), IsDyn(other)), IsDyn(result))
            return some(unknown, *(_all_lubs(result, one, other, rank) for rank in _common(ranks, one, other)))


def _precise(less: TensorType | Unknown, more: TypeVariable) -> Target:
    """Zero, one or more equations: `Dyn` says nothing, a number is kept."""
    if isinstance(less, Unknown):
        return every()
    parts = _parts(more, less.rank)
    return every(HasRank(more, less.rank), *(SameSize(p, s) for p, s in zip(parts, less.dims) if isinstance(s, int)))


def _can_reshape(argument: TypeVariable, rank: Rank, target: TensorType) -> Target:
    """Whether an argument of this rank can take the target's shape.

    The printed constraints lack the argument without a `Dyn` for a static target of rank 4, and allow a multiple in
    either direction for a target with a `Dyn`; see `types.can_reshape` for why one direction is right.
    """
    if isinstance(rank, Unknown):
        return IsDyn(argument)
    parts = _parts(argument, rank)
    has_dyn = some(*map(SizeIsDyn, parts))
    if target.is_static:
        exact = every(*(Not(SizeIsDyn(part)) for part in parts), SameProduct(parts, target.known))
        return every(HasRank(argument, rank), some(exact, every(has_dyn, Multiple(target.known, parts))))
    return every(HasRank(argument, rank), some(has_dyn, Multiple(parts, target.known)))


def _convolved(source: Convolved) -> Target:
    """The result of a convolution. For the formula of its sides see `types.calc_conv`."""
    given, result = _parts(source.argument, 4), _parts(source.result, 4)
    sides = (_side(result[i], given[i], source.kernel[i - 2]) for i in (2, 3))
    return every(HasRank(source.result, 4), SameSize(result[0], given[0]), SameSize(result[1], source.c_out), *sides)


def _side(result: Part, given: Part, kernel: int) -> Target:
    return some(every(SizeIsDyn(result), SizeIsDyn(given)), Shifted(result, given, 1 - kernel))


def _broadcast(source: Broadcast, left: Rank, right: Rank) -> Target:
    """Broadcasting types of these two ranks.

    The printed constraints lack sizes that differ and are not 1, among them a `Dyn` and a number, which the paper's own
    example has: there both stay as they are, and consistency decides.
    """
    (one, other), (first, second) = source.operands, source.types
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return every(_ranked(first, left), _ranked(second, right), SameType(one, first), SameType(other, second))
    rank = max(left, right)
    firsts: list[Term] = [1] * (rank - left) + [*_parts(first, left)]
    seconds: list[Term] = [1] * (rank - right) + [*_parts(second, right)]
    ranked = (HasRank(first, left), HasRank(second, right), HasRank(one, rank), HasRank(other, rank))
    lefts = map(_stretched, _parts(one, rank), firsts, seconds)
    return every(*ranked, *lefts, *map(_stretched, _parts(other, rank), seconds, firsts))


def _stretched(result: Part, size: Term, opposite: Term) -> Target:
    is_one = SameSize(size, 1)
    return some(every(is_one, SameSize(result, opposite)), every(Not(is_one), SameSize(result, size)))


def _all_consistent(one: TypeVariable, other: TypeVariable, rank: int) -> Target:
    sizes = map(_consistent_sizes, _parts(one, rank), _parts(other, rank))
    return every(HasRank(one, rank), HasRank(other, rank), *sizes)


def _consistent_sizes(one: Part, other: Part) -> Target:
    return some(SizeIsDyn(one), SizeIsDyn(other), SameSize(one, other))


def _all_lubs(result: TypeVariable, one: TypeVariable, other: TypeVariable, rank: int) -> Target:
    sizes = map(_lub, _parts(result, rank), _parts(one, rank), _parts(other, rank))
    return every(HasRank(one, rank), HasRank(other, rank), HasRank(result, rank), *sizes)


def _lub(result: Part, one: Part, other: Part) -> Target:
    return some(
        every(SameSize(result, one), SameSize(one, other)),
        every(SameSize(result, other), SizeIsDyn(one)),
        every(SameSize(result, one), SizeIsDyn(other)),
    )


def _is_size(part: Part, size: int | Unknown) -> Target:
    return SizeIsDyn(part) if isinstance(size, Unknown) else SameSize(part, size)


def _ranked(type_: TypeVariable, rank: Rank) -> Target:
    return IsDyn(type_) if isinstance(rank, Unknown) else HasRank(type_, rank)


def _parts(type_: TypeVariable, rank: int) -> tuple[Part, ...]:
    return tuple(Part(type_, index) for index in range(rank))


def _common(ranks: Domains, one: TypeVariable, other: TypeVariable) -> list[int]:
    return sorted(rank for rank in ranks[one] & ranks[other] if isinstance(rank, int))


def _ordered(ranks: frozenset[Rank]) -> list[Rank]:
    """Unknown rank first, then by number: what is made of them must not depend on the order of a set."""
    return sorted(ranks, key=lambda rank: -1 if isinstance(rank, Unknown) else rank)
