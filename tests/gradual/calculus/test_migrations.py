"""Constraints and what they find: against the brute force of the figures, and the paper's Theorem 4.1."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from oracles.calculus.check import expression_type, well_typed
from oracles.calculus.constraints import generate
from oracles.calculus.migrations import Migrations, solution_precision
from oracles.calculus.programs import (
    Add,
    Conv2D,
    Declaration,
    Program,
    Reshape,
    Variable,
    program_precision,
    subterms,
)
from oracles.calculus.targets import satisfies
from oracles.calculus.translate import domains, translate
from oracles.calculus.types import Dyn, apply_broadcasting, tensor

from distml.solver.formula import FALSE, at_least, both, equal, less, negate

from gradual.calculus import figures
from gradual.calculus.generated import plain, plain_context, plain_expression, programs, tensors, typed, types

exact = settings(max_examples=25)
few = settings(exact, max_examples=8)
x, y = Variable("x"), Variable("y")
SMALL = range(4)
RANKS = range(1, 4)
SAMPLES = [
    Add(x, Reshape(x, tensor(2, 3))),
    Add(x, x),
    Reshape(x, tensor(Dyn, 2)),
    Reshape(Reshape(x, tensor(Dyn)), tensor(3, 1)),
    Reshape(x, tensor(0, 3)),
    Add(Reshape(x, tensor(1, Dyn)), x),
    Conv2D(1, 1, (1, 1), Reshape(x, tensor(1, 1, Dyn, 2))),
    Conv2D(2, 1, (1, 1), Reshape(x, tensor(1, 1, Dyn, 2))),
    x,
]


def program(result, **declared):
    return Program(tuple(Declaration(name, type_) for name, type_ in declared.items()), result)


def by_brute_force(checked, sizes=SMALL, ranks=RANKS, least=0):
    return figures.migrations(plain_context(checked), plain_expression(checked.result), sizes, ranks, least)


def versions(space, largest=3):
    """The migrations that the solver finds, and the solutions they belong to."""
    found = list(space.solutions(largest))
    return [space.apply(solution) for solution in found], found


def check_correspondence(checked, sizes=SMALL, ranks=RANKS):
    """Theorem 4.1 in a box: one solution for each migration, and the same order."""
    space = Migrations(checked, ranks)
    migrations, solutions = versions(space, max(sizes))
    plains = [tuple(map(plain, migration.annotations)) for migration in migrations]
    assert len(set(plains)) == len(plains)
    assert set(plains) == by_brute_force(checked, sizes, ranks)
    unknowns = (*space.generated.declared.values(), *space.generated.terms)
    for one, other in permutations(range(0, len(plains), 1 + len(plains) // 40), 2):
        ordered = program_precision(migrations[one], migrations[other])
        assert ordered == solution_precision(solutions[one], solutions[other], unknowns)


@pytest.mark.parametrize("result", SAMPLES, ids=str)
def test_solutions_and_migrations_correspond(result):
    check_correspondence(program(result, x=Dyn))


@exact
@given(programs(types(2, 2), depth=2, largest=2, most_rank=2))
def test_solutions_and_migrations_correspond_for_two_inputs(checked):
    check_correspondence(checked, range(2), range(1, 3))


@exact
@given(programs(tensors(2, 1, 4), depth=2, largest=3, names=("x",)))
def test_solutions_and_migrations_correspond_in_rank_four(checked):
    check_correspondence(checked, range(3), range(1, 5))


@few
@given(programs(types(3, 4), depth=3, largest=3))
def test_a_solution_is_determined_by_the_declared_types(checked):
    """The isomorphism is injective: no other types of subterms go with the same declared types."""
    space = Migrations(checked)
    solution = space.solution_of(checked)
    assert (solution is not None) == well_typed(checked)
    if solution is None:
        return
    same = both(*(space.encoding.is_type(unknown, type_) for unknown, type_ in solution.items()))
    assert space.solution(space.is_version(checked), negate(same)) is None
    context = {d.name: d.type for d in checked.declarations}
    terms = [expression_type(term, context) for term in subterms(checked.result)]
    assert [solution[unknown] for unknown in space.generated.terms] == terms


@exact
@given(programs(types(3, 4), depth=3, largest=3))
def test_solutions_satisfy_the_target_constraints_as_the_paper_reads_them(checked):
    """The formulas of the solver and the table of satisfaction say the same of a derivation."""
    generated = generate(checked)
    possible = domains(generated, range(1, 5))
    solution = derivation(checked, generated)
    if solution is None:
        assert Migrations(checked).solution_of(checked) is None
    else:
        assert all(satisfies(solution, translate(source, possible)) for source, _ in generated.constraints)
        assert Migrations(checked).solution_of(checked) == solution


def derivation(checked, generated):
    """The types in the derivation that a program is well typed, for the unknowns of its constraints."""
    if not well_typed(checked):
        return None
    context = {d.name: d.type for d in checked.declarations}
    operands = []
    for term in subterms(checked.result):
        if isinstance(term, Add):
            operands += apply_broadcasting(expression_type(term.left, context), expression_type(term.right, context))
    types_of_terms = (expression_type(term, context) for term in subterms(checked.result))
    return {
        **{generated.declared[name]: type_ for name, type_ in context.items()},
        **dict(zip(generated.terms, types_of_terms, strict=True)),
        **dict(zip(generated.operands, operands, strict=True)),
    }


@few
@given(programs(types(2, 3), depth=2, largest=3))
def test_verdicts_ranks_and_static_migrations(checked):
    """Whatever the box holds, the solver finds; what it finds, the figures admit."""
    space = Migrations(checked, RANKS)
    inside = by_brute_force(checked, range(2), RANKS) if not any(map(plain, checked.annotations)) else set()
    verdict = space.verdict()
    assert not inside or verdict != "empty"
    assert (verdict == "empty") == (not well_typed(checked))
    static = space.static()
    assert (static is not None) == (verdict == "static")
    if static is not None:
        assert static.is_static
        assert program_precision(checked, static)
        assert figures.well_typed(plain_context(static), plain_expression(static.result))
    for index, name in enumerate(("x", "y")):
        ranks = {None if version[index] is None else len(version[index]) for version in inside}
        assert ranks <= {None if rank is Dyn else rank for rank in space.possible_ranks(name)}


def test_the_ill_typed_convolutions_have_no_migration():
    both_kernels = Add(Conv2D(2, 2, (2, 2), x), Conv2D(4, 2, (2, 2), x))
    space = Migrations(program(both_kernels, x=tensor(Dyn, Dyn)))
    assert space.verdict() == "empty"
    assert Declaration("x", tensor(Dyn, Dyn)) in space.conflict()


def test_the_two_convolutions_leave_the_channels_dynamic():
    """The paper's worked example: any other dimension can be a number, the channels only `Dyn`."""
    both_kernels = Add(Conv2D(2, 2, (2, 2), x), Conv2D(4, 2, (2, 2), x))
    space = Migrations(program(both_kernels, x=Dyn))
    assert space.verdict() == "dynamic"
    assert space.possible_ranks("x") == [Dyn, 4]
    assert space.only_dyn({"x": 4}) == [("x", 1)]
    assert space.conflict() == ()


def test_arithmetic_constraints_choose_a_migration():
    """The paper's Listing 4: batch and height from 5 to 20, width from 2 to 10."""
    space = Migrations(program(Conv2D(4, 2, (2, 2), x), x=tensor(Dyn, Dyn, Dyn, Dyn)))
    batch, _, height, width = (space.size("x", index).size for index in range(4))
    bounds = [at_least(batch, 5), less(batch, 20), at_least(height, 5), less(height, 20), less(width, 10)]
    found = space.static(*bounds)
    assert found is not None
    (n, c, h, w) = found.annotations[0].dims
    assert (5 <= n < 20, c, 5 <= h < 20, 1 <= w < 10) == (True, 4, True, True)
    assert space.static(equal(height, 0)) is None


def test_ranks_have_no_limit_but_the_one_asked_for():
    deep = program(Reshape(x, tensor(2, 2, 2, 2, 2, 2)), x=Dyn)
    assert Migrations(deep).possible_ranks("x") == [Dyn, 1, 2, 3, 4]
    assert Migrations(deep, range(7)).possible_ranks("x") == [Dyn, 1, 2, 3, 4, 5, 6]
    fixed = program(Add(x, y), x=tensor(*[Dyn] * 7), y=Dyn)
    assert Migrations(fixed).static() is not None


def test_a_least_size_of_one_leaves_out_empty_tensors():
    """What the published tool accepts: a tensor without elements."""
    zero = program(Reshape(x, tensor(0, 2)), x=tensor(Dyn, 3))
    assert Migrations(zero).static() == zero.annotated([tensor(0, 3)])
    assert Migrations(zero, least=1).verdict() == "empty"
    image = program(Conv2D(1, 1, (3, 3), x), x=tensor(Dyn, 1, Dyn, 3))
    static = Migrations(image, least=1).static()
    assert static is not None
    assert static.annotations[0].dims[2] >= 3


def test_a_program_whose_context_is_not_well_formed_has_no_solution():
    for wrong in (program(y, x=Dyn), Program((Declaration("x", Dyn), Declaration("x", Dyn)), x)):
        assert Migrations(wrong).verdict() == "empty"
    assert Migrations(program(x, x=Dyn)).solution(FALSE) is None


def test_types_read_back_are_those_of_the_brute_force():
    assert {typed(t) for (t,) in by_brute_force(program(Reshape(x, tensor(3)), x=Dyn), range(4), (1,))} == {
        Dyn,
        tensor(Dyn),
        tensor(3),
    }
