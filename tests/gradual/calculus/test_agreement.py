"""What `migrate` says of calculus programs written as Python, beside what the calculus says of them.

Sizes are at least 1 here. The calculus forgets: the type of a sum with an operand of unknown rank is `Dyn`, and a
reshape to a shape with a `Dyn` leaves that dimension open. The interpreter does not, so it may contradict where the
calculus does not. Never the other way round; otherwise both must agree.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.calculus.migrations import Migrations
from oracles.calculus.programs import Add, Conv2D, Declaration, Program, Reshape, Variable, subterms
from oracles.calculus.source import python_source
from oracles.calculus.types import Dyn, TensorType, tensor

from distml.gradual.migrate import migrate
from distml.gradual.questions import Question, benches
from distml.solver.formula import both, negate

from gradual.calculus.generated import expressions, tensors

LEAST = 1
RANKS = range(5)
exact = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
few = settings(exact, max_examples=12)
x, y = Variable("x"), Variable("y")


@st.composite
def source_programs(draw, depth=2):
    """Programs without zeros that use each input they declare."""
    result = draw(expressions(depth, 3, least=LEAST))
    names = sorted({term.name for term in subterms(result) if isinstance(term, Variable)})
    open_sizes = tensors(size=st.just(Dyn) | st.integers(LEAST, 4))
    types = [draw(st.just(Dyn) | st.just(Dyn) | open_sizes) for _ in names]
    return Program(tuple(map(Declaration, names, types)), result)


def answer(program, folder):
    """What `migrate` says."""
    path = folder / "model.py"
    path.write_text(python_source(program), "utf-8")
    (bench,) = benches(Question(f"{path}::Model", least=LEAST))
    return migrate(bench)


def calculus(program):
    return Migrations(program, RANKS, LEAST)


def forgets(program):
    """Whether the calculus may know less than the interpreter: a reshape leaves a size open."""
    return any(isinstance(term, Reshape) and not term.shape.is_static for term in subterms(program.result))


@exact
@given(program=source_programs())
def test_verdicts_agree(program, folder):
    found, space = answer(program, folder), calculus(program)
    verdict = space.verdict()
    assert found.verdict != "unknown"
    if found.verdict == "static":
        assert verdict == "static"
        sizes = [TensorType(tuple(found.model[name])) for name in space.generated.declared]
        assert space.solution_of(program.annotated(sizes)) is not None
    elif not forgets(program):
        assert verdict != "static"
    if verdict == "empty":
        assert found.verdict == "empty"


def test_known_factors_of_a_dynamic_type_must_divide(folder):
    """Two channels times anything is not one element, so there is no migration."""
    program = Program((Declaration("x", Dyn),), Reshape(Conv2D(1, 2, (1, 1), x), tensor(1)))
    assert calculus(program).verdict() == "empty"
    assert answer(program, folder).verdict == "empty"


@few
@given(program=source_programs())
def test_possible_ranks_agree(program, folder):
    found, space = answer(program, folder), calculus(program)
    if found.verdict != "static":
        return
    combinations = [ranks for ranks, fixed in space.by_ranks(static=True) if fixed.static() is not None]
    for name, ranks in found.ranks.items():
        expected = {ranks[name] for ranks in combinations}
        said = set(RANKS) if ranks == "any" else set(ranks) & set(RANKS)
        assert said <= expected
        assert forgets(program) or said == expected


@exact
@given(program=source_programs())
def test_dimensions_that_can_only_be_dyn_agree(program, folder):
    found, space = answer(program, folder), calculus(program)
    forced = {(one.input, one.axis) for one in found.dyn_only}
    if found.verdict != "dynamic" or any(axis is None for _, axis in forced):
        return
    ranks = {name: len(annotation.dims) for name, annotation in found.annotations.items()}
    open_ = [space.size(name, i).is_dyn for name, rank in ranks.items() for i in range(rank) if (name, i) not in forced]
    fixed = both(*(space.has_rank(name, rank) for name, rank in ranks.items()))
    assert space.solution(fixed, *map(negate, open_)) is not None
    assert forgets(program) or set(space.only_dyn(ranks)) <= forced


@pytest.mark.parametrize(
    ("declared", "verdict"), [(tensor(Dyn, Dyn), "empty"), (Dyn, "dynamic"), (tensor(*[Dyn] * 4), "dynamic")], ids=str
)
def test_the_two_convolutions(declared, verdict, folder):
    """Listings 1 and 2: two convolutions of one input that need different channels."""
    kernels = Add(Conv2D(2, 2, (2, 2), x), Conv2D(4, 2, (2, 2), x))
    program = Program((Declaration("x", declared),), kernels)
    found = answer(program, folder)
    assert found.verdict == calculus(program).verdict() == verdict
    if verdict == "dynamic":
        assert [(one.input, one.axis) for one in found.dyn_only] == calculus(program).only_dyn({"x": 4}) == [("x", 1)]
