"""The migrations of a program: its more precise, well-typed versions, found by solving (the paper's Section 4).

`Migrations` answers the paper's questions in its order: is there any, which ranks can an input have, is there a static
one, if not which dimensions can only be `Dyn`, and is there one that meets arithmetic constraints.

Theorem 4.1 says that solutions and migrations are order-isomorphic. Two things in its statement need a reading. The
constraints bound ranks, so the migrations that correspond are those whose ranks are within the bound. And the order of
solutions is that of the unknowns `x` and `[e]`: those for operands that broadcasting changed do not grow with precision
(see `types.apply_broadcasting`), though they too are determined by the declared types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeAlias

from oracles.calculus.constraints import Cause, TypeVariable, generate
from oracles.calculus.encode import Encoded, Encoding, Size, code_of
from oracles.calculus.programs import Program
from oracles.calculus.targets import Solution
from oracles.calculus.translate import Rank, domains
from oracles.calculus.types import Dyn, TensorType, Type, Unknown, precision

from distml.solver.decide import Constraint, Contradiction, Satisfied, satisfy
from distml.solver.formula import Formula, both, either, equal, negate

if TYPE_CHECKING:
    from oracles.calculus.constraints import Generated

Verdict: TypeAlias = Literal["empty", "dynamic", "static"]

PAPER_RANKS = range(1, 5)
"""The ranks that the paper looks at."""


class Undecided(Exception):
    """The solver could not answer; the text says why."""


class Migrations:
    """The migrations of `program` in which inputs declared `Dyn` stay so or have one of `ranks`.

    `least` is the smallest number that is a dimension: 0 in the paper, 1 where tensors without elements do not count.
    Every question may raise `Undecided`, after at most `seconds` for each answer of the solver.
    """

    def __init__(
        self, program: Program, ranks: Iterable[int] = PAPER_RANKS, least: int = 0, seconds: float = 5.0
    ) -> None:
        self.program = program
        self.least = least
        self.seconds = seconds
        self.generated: Generated = generate(program)
        self.ranks = tuple(ranks)
        self.possible = domains(self.generated, self.ranks)
        self.encoding = Encoding(self.generated, self.possible, least)

    def solution(self, *extra: Formula) -> Solution | None:
        """A solution of the constraints that meets the extra ones as well: a type for each unknown."""
        constraints = [*self.encoding.constraints, *(Constraint(formula, "extra") for formula in extra)]
        answer = satisfy(constraints, self.seconds, 0)
        if isinstance(answer, Contradiction):
            return None
        if not isinstance(answer, Satisfied):
            raise Undecided(answer.reason)
        made = self.generated
        unknowns = (*made.declared.values(), *made.terms, *made.operands)
        return {unknown: self.encoding.read(unknown, answer.model, answer.flags) for unknown in unknowns}

    def migration(self, *extra: Formula) -> Program | None:
        """A migration that meets the extra constraints, if there is one (Algorithm 1)."""
        found = self.solution(*extra)
        return None if found is None else self.apply(found)

    def apply(self, solution: Solution) -> Program:
        """The program with each declaration as the solution has it (the isomorphism of Theorem 4.1)."""
        declared = self.generated.declared
        return self.program.annotated([solution[declared[one.name]] for one in self.program.declarations])

    def solution_of(self, migration: Program) -> Solution | None:
        """The solution that belongs to a version of the program (the isomorphism's inverse); None if it is none."""
        return self.solution(self.is_version(migration))

    def is_version(self, version: Program) -> Formula:
        """That the declared types are those of `version`."""
        declared = self.generated.declared
        return both(*(self.encoding.is_type(declared[one.name], one.type) for one in version.declarations))

    def conflict(self) -> tuple[Cause, ...]:
        """The declarations and subterms that contradict each other; nothing where there is a migration.

        Here every input may have every rank, so that a declaration whose rank does not fit is among them.
        """
        declared = {type_.rank for type_ in self.program.annotations if not isinstance(type_, Unknown)}
        undeclared = generate(self.program.annotated([Dyn] * len(self.program.declarations)))
        loose = Encoding(self.generated, domains(undeclared, {*self.ranks, *declared}), self.least)
        answer = satisfy(loose.constraints, self.seconds, 0)
        if not isinstance(answer, Contradiction):
            return ()
        causes = dict.fromkeys(constraint.label for constraint in answer.core)
        return tuple(cause for _, cause in self.generated.constraints if causes.pop(cause, 0) is None)

    def verdict(self) -> Verdict:
        """No migration, none that is static, or a static one (the paper's first question)."""
        if any(space.static() is not None for _, space in self.by_ranks(static=True)):
            return "static"
        return "empty" if self.solution_of(self.program) is None else "dynamic"

    def static(self, *extra: Formula) -> Program | None:
        """A migration in which every declared type is static."""
        return self.migration(self.all_static(), *extra)

    def all_static(self) -> Formula:
        """That every declared type is static."""
        return both(*map(self.is_static, self.generated.declared))

    def is_static(self, name: str) -> Formula:
        """That the declared type of one input is static."""
        encoded = self._declared(name)
        ranks = sorted(code - 1 for code in encoded.codes if code)
        fixed = (both(self.has_rank(name, rank), *(negate(s.is_dyn) for s in encoded.sizes[:rank])) for rank in ranks)
        return either(*fixed)

    def possible_ranks(self, name: str) -> list[Rank]:
        """The ranks that an input can have in a migration, `Dyn` first if it can stay unknown."""
        found = {ranks[name] for ranks, space in self.by_ranks() if space.migration() is not None}
        return [rank for rank in self._candidates(name) if rank in found]

    def by_ranks(self, static: bool = False) -> Iterator[tuple[dict[str, Rank], Migrations]]:
        """The migrations, divided by the ranks of the inputs; with `static` only those in which no input is `Dyn`.

        With ranks fixed, the constraints are free of the disjunctions over ranks that make them expensive.
        """
        names = [declaration.name for declaration in self.program.declarations]
        if len(names) != len(self.generated.declared):
            return
        for choice in product(*(self._candidates(name) for name in names)):
            if not (static and Dyn in choice):
                fixed = map(_with_rank, self.program.annotations, choice)
                space = Migrations(self.program.annotated(list(fixed)), (), self.least, self.seconds)
                yield dict(zip(names, choice)), space

    def only_dyn(self, ranks: Mapping[str, int]) -> list[tuple[str, int]]:
        """The dimensions, as input and index, that no migration with inputs of these ranks makes a number."""
        fixed = both(*(self.has_rank(name, rank) for name, rank in ranks.items()))
        return [
            (name, index)
            for name, rank in ranks.items()
            for index in range(rank)
            if self.solution(fixed, negate(self.size(name, index).is_dyn)) is None
        ]

    def has_rank(self, name: str, rank: Rank) -> Formula:
        """That an input has this rank, or is `Dyn`."""
        return self._declared(name).has_code(code_of(rank))

    def size(self, name: str, index: int) -> Size:
        """A dimension of an input, for arithmetic constraints. Raises IndexError beyond the greatest rank it can have."""
        return self._declared(name).sizes[index]

    def solutions(self, largest: int) -> Iterator[Solution]:
        """Every solution whose declared types have no number greater than `largest`."""
        for _, space in self.by_ranks():
            yield from space._within(largest)

    def _within(self, largest: int) -> Iterator[Solution]:
        """Decides one dimension after the other, leaving a choice as soon as it contradicts the constraints."""
        sizes = [size for name in self.generated.declared for size in self._declared(name).sizes]
        choices: list[list[Formula]] = [[]]
        while choices:
            chosen = choices.pop()
            solution = self.solution(*chosen)
            if solution is None:
                continue
            if len(chosen) == len(sizes):
                yield solution
                continue
            size = sizes[len(chosen)]
            numbers = (both(negate(size.is_dyn), equal(size.size, n)) for n in range(largest, self.least - 1, -1))
            choices += [[*chosen, option] for option in (*numbers, size.is_dyn)]

    def _candidates(self, name: str) -> list[Rank]:
        return [Dyn if code == 0 else code - 1 for code in sorted(self._declared(name).codes)]

    def _declared(self, name: str) -> Encoded:
        return self.encoding.type_of(self.generated.declared[name])


def _with_rank(declared: Type, rank: Rank) -> Type:
    return declared if isinstance(rank, Unknown) or declared is not Dyn else TensorType((Dyn,) * rank)


def solution_precision(less: Solution, more: Solution, unknowns: Iterable[TypeVariable]) -> bool:
    """`less ≤ more`: each of these unknowns is at least as precise (the paper's Definition 2)."""
    return all(precision(less[unknown], more[unknown]) for unknown in unknowns)
