"""Target constraints as formulas of the solver room, and its models as types.

A type is a code, 0 for `Dyn` and one more than the rank for a tensor type, and a pair for each dimension: whether it is
`Dyn`, and its size. The size of a `Dyn` is 1, so that a product of sizes is the product of those that are numbers. What
has only one possible value (a rank, a dimension that cannot be `Dyn`) is a constant, not an unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import mul

from oracles.calculus.constraints import Generated, Same, TypeVariable
from oracles.calculus.targets import (
    All,
    Atom,
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
)
from oracles.calculus.translate import Domains, Rank, translate
from oracles.calculus.types import Dyn, TensorType, Type, Unknown

from distml.shapes import Dim, Symbol
from distml.solver.decide import Constraint
from distml.solver.formula import (
    FALSE,
    TRUE,
    Flag,
    Formula,
    both,
    different,
    divisible,
    either,
    equal,
    implies,
    negate,
)

DYN_CODE = 0


@dataclass(frozen=True, slots=True)
class Size:
    """A dimension: whether it is `Dyn`, and its size, 1 if so."""

    is_dyn: Formula
    size: Dim


@dataclass(frozen=True, slots=True)
class Encoded:
    """A type: the codes that it can have, the one that it has, and as many dimensions as its greatest rank."""

    codes: frozenset[int]
    code: Dim
    sizes: tuple[Size, ...]

    def has_code(self, code: int) -> Formula:
        """That the type is `Dyn`, or of a rank."""
        return equal(self.code, code) if code in self.codes else FALSE


def code_of(rank: Rank) -> int:
    """The code of `Dyn` or of the tensor types of a rank."""
    return DYN_CODE if isinstance(rank, Unknown) else rank + 1


class Encoding:
    """The constraints of one program as formulas.

    `possible` are the ranks of its unknowns, `least` is the smallest number that is a dimension, 0 or 1. `constraints`
    are labeled with the declaration or the subterm that they are for.
    """

    def __init__(self, generated: Generated, possible: Domains, least: int) -> None:
        self.generated = generated
        self.least = least
        self._serial = 0
        self._types: dict[TypeVariable, Encoded] = {}
        self._defining: list[Formula] = []
        self._encode_types(possible)
        self.constraints = [Constraint(formula, "types") for formula in self._defining]
        for source, cause in generated.constraints:
            self.constraints.append(Constraint(self.formula(translate(source, possible)), cause))

    def _encode_types(self, possible: Domains) -> None:
        """Makes the symbols; an occurrence of a variable is the declared one under another name."""
        aliases = {c.one: c.other for c, _ in self.generated.constraints if isinstance(c, Same)}
        for unknown, ranks in sorted(possible.items(), key=lambda item: item[0].serial):
            if unknown not in aliases:
                self._types[unknown] = self._fresh(unknown, ranks)
        for alias, declared in aliases.items():
            self._types[alias] = self._types[declared]

    def _fresh(self, unknown: TypeVariable, ranks: frozenset[Rank]) -> Encoded:
        codes = frozenset(map(code_of, ranks))
        code = Dim.of(min(codes))
        if len(codes) > 1:
            code = Dim.symbol(Symbol(f"rank of {unknown}", self._next(), 0))
            self._defining.append(either(*(equal(code, c) for c in sorted(codes))))
        sizes = tuple(self._fresh_size(f"{unknown}.{index}") for index in range(max(codes) - 1))
        if DYN_CODE in codes:
            self._defining += [implies(equal(code, DYN_CODE), size.is_dyn) for size in sizes]
        return Encoded(codes, code, sizes)

    def _fresh_size(self, name: str) -> Size:
        size = Dim.symbol(Symbol(name, self._next(), self.least))
        is_dyn = Flag(f"{name} is Dyn", self._next())
        self._defining.append(implies(is_dyn, equal(size, 1)))
        return Size(is_dyn, size)

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def type_of(self, unknown: TypeVariable) -> Encoded:
        """How the type is encoded."""
        return self._types[unknown]

    def size_of(self, term: Term) -> Size:
        """How the dimension is encoded; one that the type never has is `Dyn`."""
        if isinstance(term, int):
            return Size(FALSE, Dim.of(term))
        sizes = self._types[term.type].sizes
        return sizes[term.index] if term.index < len(sizes) else Size(TRUE, Dim.of(1))

    def formula(self, target: Target) -> Formula:
        """The formula that holds for the encodings of exactly the solutions of the target constraint."""
        match target:
            case All(parts=parts):
                return both(*map(self.formula, parts))
            case Some(parts=parts):
                return either(*map(self.formula, parts))
            case Not(part=part):
                return negate(self.formula(part))
        return self._atom(target)

    def _atom(self, atom: Atom) -> Formula:
        match atom:
            case IsDyn(type=type_):
                return self._types[type_].has_code(DYN_CODE)
            case HasRank(type=type_, rank=rank):
                return self._types[type_].has_code(code_of(rank))
            case SameType(one=one, other=other):
                return self._same_type(self._types[one], self._types[other])
            case SizeIsDyn(size=size):
                return self.size_of(size).is_dyn
            case SameSize(one=left, other=right):
                return same_size(self.size_of(left), self.size_of(right))
            case Shifted(result=result, size=shifted, by=by):
                to, given = self.size_of(result), self.size_of(shifted)
                return both(negate(to.is_dyn), negate(given.is_dyn), equal(to.size, given.size + by))
            case SameProduct(left=lefts, right=rights):
                return equal(self._product(lefts), self._product(rights))
            case Multiple(of=of, divisors=divisors):
                return multiple(self._product(of), self._product(divisors))

    def _same_type(self, one: Encoded, other: Encoded) -> Formula:
        if one == other:
            return TRUE
        options = []
        for code in sorted(one.codes & other.codes):
            sizes = map(same_size, one.sizes[: max(code - 1, 0)], other.sizes)
            options.append(both(one.has_code(code), other.has_code(code), *sizes))
        return either(*options)

    def _product(self, terms: tuple[Term, ...]) -> Dim:
        return reduce(mul, (self.size_of(term).size for term in terms), Dim.of(1))

    def is_type(self, unknown: TypeVariable, type_: Type) -> Formula:
        """That the unknown is this type."""
        encoded = self._types[unknown]
        if isinstance(type_, Unknown):
            return encoded.has_code(DYN_CODE)
        dims = (Part(unknown, index) for index in range(type_.rank))
        sizes = (SizeIsDyn(d) if isinstance(s, Unknown) else SameSize(d, s) for d, s in zip(dims, type_.dims))
        return both(encoded.has_code(code_of(type_.rank)), *map(self._atom, sizes))

    def read(self, unknown: TypeVariable, values: Mapping[Symbol, int], flags: Mapping[Flag, bool]) -> Type:
        """The type that a model of the formulas gives to an unknown."""
        encoded = self._types[unknown]
        code = _number(encoded.code, values)
        if code == DYN_CODE:
            return Dyn
        sizes = encoded.sizes[: code - 1]
        return TensorType(
            tuple(
                Dyn if isinstance(size.is_dyn, Flag) and flags.get(size.is_dyn, False) else _number(size.size, values)
                for size in sizes
            )
        )


def _number(dim: Dim, values: Mapping[Symbol, int]) -> int:
    """The value of a constant or of one symbol; a symbol that a model leaves out can have any value."""
    if dim.constant is not None:
        return dim.constant
    (symbol,) = dim.symbols()
    return values.get(symbol, symbol.low or 0)


def same_size(one: Size, other: Size) -> Formula:
    """Both `Dyn` or one number. The sizes of two `Dyn` are equal, so it takes equal sizes in any case."""
    if one.is_dyn == FALSE or other.is_dyn == FALSE:
        return both(negate(one.is_dyn), negate(other.is_dyn), equal(one.size, other.size))
    alike = both(implies(one.is_dyn, other.is_dyn), implies(other.is_dyn, one.is_dyn))
    return both(alike, equal(one.size, other.size))


def multiple(of: Dim, divisor: Dim) -> Formula:
    """`of` is a multiple of `divisor`; of 0, only 0 is."""
    return either(both(equal(divisor, 0), equal(of, 0)), both(different(divisor, 0), divisible(of, divisor)))
