"""Programs written as Python, and run with torch: what is well typed runs, and has the shape the calculus says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.calculus.check import expression_type, gradual_type, well_typed
from oracles.calculus.programs import Add, Conv2D, Declaration, Program, Reshape, Variable, subterms
from oracles.calculus.source import python_source
from oracles.calculus.types import Dyn, consistent, tensor

from gradual.calculus.generated import accepted_by, static_types, tensors, well_typed_steps

pytestmark = pytest.mark.requires("torch", "jaxtyping")
exact = settings(max_examples=120)
x, y = Variable("x"), Variable("y")
LEAST = 1


@st.composite
def runnable(draw):
    """Programs on static types without zeros, often well typed up to the last steps."""
    some = tensors(size=st.integers(1, 4))
    context = {"x": draw(some | st.just(tensor(2, 2, 4, 4))), "y": draw(some)}
    result = draw(well_typed_steps(context, accepted_by(expression_type), least=LEAST))
    last = draw(well_typed_steps({**context, "x": draw(some)}, lambda *_: True, depth=1, least=LEAST))
    declarations = tuple(Declaration(name, type_) for name, type_ in context.items())
    return Program(declarations, draw(st.sampled_from([result, Add(result, y), last])))


def run(program):
    """The shape that torch gives, None where it refuses."""
    import torch

    module = {"__name__": "model"}
    exec(compile(python_source(program), "model.py", "exec"), module)
    inputs = [torch.zeros(declared.type.dims) for declared in program.declarations]
    try:
        return tuple(module["Model"]()(*inputs).shape)
    except (RuntimeError, AssertionError):
        return None


def has_open_reshape(program):
    return any(isinstance(term, Reshape) and not term.shape.is_static for term in subterms(program.result))


@exact
@given(runnable())
def test_torch_runs_what_is_well_typed(program):
    shape = run(program)
    if shape is not None:
        assert well_typed(program, LEAST)
        assert consistent(tensor(*shape), gradual_type(program, LEAST))
    elif not has_open_reshape(program):
        assert not well_typed(program, LEAST)


@exact
@given(static_types(), static_types())
def test_torch_broadcasts_empty_tensors_as_the_calculus_does(one, other):
    program = Program((Declaration("x", one), Declaration("y", other)), Add(x, y))
    shape = run(program)
    assert (shape is not None) == well_typed(program)
    assert shape is None or tensor(*shape) == gradual_type(program)


def test_the_source_of_a_program():
    result = Add(Conv2D(2, 3, (1, 2), Reshape(x, tensor(1, 2, Dyn, 2))), y)
    text = python_source(Program((Declaration("x", Dyn), Declaration("y", tensor(Dyn, 3))), result))
    assert text.endswith(
        """\
class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(2, 3, (1, 2))

    def forward(self, x: Tensor, y: Float[Tensor, "_ 3"]) -> Tensor:
        t1 = torch.reshape(x, [1, 2, -1, 2])
        assert t1.dim() == 4
        t3 = self.conv1(t1)
        t4 = torch.add(t3, y)
        return t4
"""
    )


def test_names_do_not_clash_with_the_declared_ones():
    text = python_source(Program((Declaration("t1", Dyn),), Add(Variable("t1"), Variable("t1"))))
    assert "t1_ = torch.add(t1, t1)" in text
