"""The two type checkers: against the figures, and the paper's Theorems 3.1 and 3.2."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.calculus.check import (
    IllTyped,
    expression_type,
    gradual_type,
    static_expression_type,
    static_type,
    well_typed,
)
from oracles.calculus.programs import Add, Conv2D, Declaration, Program, Reshape, Variable, program_precision
from oracles.calculus.types import Dyn, tensor

from gradual.calculus import figures
from gradual.calculus.generated import (
    NAMES,
    accepted_by,
    blurred,
    plain,
    plain_context,
    plain_expression,
    programs,
    static_types,
    types,
    well_typed_steps,
)

exact = settings(max_examples=150)
x, y = Variable("x"), Variable("y")


def program(result, **declared):
    return Program(tuple(Declaration(name, type_) for name, type_ in declared.items()), result)


@st.composite
def well_typed_programs(draw, annotation, check):
    """Programs that are well typed, from several steps each of which is."""
    context = {name: draw(annotation) for name in NAMES}
    result = draw(well_typed_steps(context, accepted_by(check)))
    return program(result, **context)


ok_programs = well_typed_programs(types(), expression_type)
ok_static_programs = well_typed_programs(static_types(), static_expression_type)


def outcome(check, checked):
    try:
        return plain(check(checked))
    except IllTyped:
        return figures.ILL


@exact
@given(programs() | ok_programs)
def test_the_gradual_checker_is_that_of_the_figures(checked):
    expected = figures.type_of(plain_expression(checked.result), plain_context(checked))
    assert outcome(gradual_type, checked) == expected


@exact
@given(programs(static_types()) | ok_static_programs)
def test_the_static_checker_is_that_of_the_figures(checked):
    expression = plain_expression(checked.result)
    if any(None in target for target in reshape_targets(expression)):
        assert outcome(static_type, checked) == figures.ILL
    else:
        assert outcome(static_type, checked) == figures.static_type(expression, plain_context(checked))


def reshape_targets(expression):
    kind, *parts = expression
    below = parts if kind == "add" else [p for p in parts if isinstance(p, tuple) and p and isinstance(p[0], str)]
    found = [target for part in below for target in reshape_targets(part)]
    return [*found, parts[1]] if kind == "reshape" else found


@exact
@given(ok_programs, st.data())
def test_less_precise_versions_of_a_well_typed_program_are_well_typed(checked, data):
    """Theorem 3.1, and Lemma 7: the type gets less precise as well."""
    looser = checked.annotated([data.draw(blurred(type_)) for type_ in checked.annotations])
    assert program_precision(looser, checked)
    assert well_typed(looser)
    assert figures.precise(plain(gradual_type(looser)), plain(gradual_type(checked)))


@exact
@given(programs(static_types()) | ok_static_programs)
def test_the_gradual_system_extends_the_static_one(checked):
    """Theorem 3.2. A static program has no `Dyn` in a reshape either."""
    if any(None in target for target in reshape_targets(plain_expression(checked.result))):
        return
    assert checked.is_static
    assert outcome(gradual_type, checked) == outcome(static_type, checked)


@exact
@given(programs(depth=2, largest=2), st.integers(0, 1))
def test_a_least_size_is_kept(checked, least):
    expected = figures.well_typed(plain_context(checked), plain_expression(checked.result), least)
    zeros = [d for t in reshape_targets(plain_expression(checked.result)) for d in t if d == 0]
    assert well_typed(checked, least) == expected or (least and zeros)


def test_two_convolutions_that_need_different_channels():
    """The second listing: well typed, though no tensor runs through it."""
    both = Add(Conv2D(2, 2, (2, 2), x), Conv2D(4, 2, (2, 2), x))
    assert gradual_type(program(both, x=tensor(Dyn, Dyn, Dyn, Dyn))) == tensor(Dyn, 2, Dyn, Dyn)
    assert not well_typed(program(both, x=tensor(Dyn, 2, Dyn, Dyn)))
    with pytest.raises(IllTyped, match="needs 4 dimensions, gets TensorType\\(Dyn, Dyn\\)"):
        gradual_type(program(both, x=tensor(Dyn, Dyn)))


def test_the_repaired_convolution():
    """The fourth listing."""
    repaired = program(Conv2D(4, 2, (2, 2), x), x=tensor(19, 4, 19, 9))
    assert static_type(repaired) == tensor(19, 2, 18, 8)


def test_messages_say_what_meets_what():
    for wrong, text in [
        (program(Add(x, y), x=tensor(2), y=tensor(3)), "TensorType(2) and TensorType(3) cannot be broadcast"),
        (program(Reshape(x, tensor(4)), x=tensor(Dyn, 3)), "TensorType(Dyn, 3) cannot have as many elements as"),
        (program(Conv2D(3, 1, (1, 1), x), x=tensor(1, 2, 4, 4)), "needs 3 channels, gets 2"),
        (program(Conv2D(3, 1, (5, 1), x), x=tensor(1, 3, 3, 4)), "smaller than the kernel"),
        (program(y, x=Dyn), "y is not declared"),
        (Program((Declaration("x", Dyn), Declaration("x", Dyn)), x), "x is declared twice"),
    ]:
        with pytest.raises(IllTyped) as failure:
            gradual_type(wrong)
        assert text in str(failure.value)


def test_what_is_no_program_is_refused():
    with pytest.raises(ValueError, match="at most one dimension may be Dyn"):
        Reshape(x, tensor(Dyn, Dyn))
    with pytest.raises(ValueError, match="each side is at least 1"):
        Conv2D(1, 1, (0, 1), x)


def test_programs_are_shown_as_the_paper_writes_them():
    shown = str(program(Add(Reshape(x, tensor(2, Dyn)), y), x=Dyn, y=tensor(3)))
    assert shown == "x: Dyn, y: TensorType(3) return add(reshape(x, TensorType(2, Dyn)), y)"
