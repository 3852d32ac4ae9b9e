"""What `backward` of an autograd.Function gives for a parameter must be summed to the parameter's shape, as PyTorch sums it."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

PROGRAM = """import torch

class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        ctx.rows = x.shape[0]
        return x @ w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        {body}

x = torch.ones(4, 3)
w = torch.nn.Parameter(torch.ones({size}, 2) if {size} else torch.ones(3))
F.apply(x, w).sum().backward()
"""
BODIES = [
    ("return None, x.t() @ g", []),
    ("return g @ w.t(), x.t() @ g", []),
    ("return None, x.t() @ g, None", []),
    ("return None, torch.ones(5, 3, 2)", []),
    ("return x.t() @ g, None", []),
    ("return None, g.t() @ x", ["SHP206"]),
    ("dw = g.t() @ x\n        return None, dw", ["SHP206"]),
    ("return None, g", ["SHP206"]),
    ("return None, g.sum()", ["SHP206"]),
    ("return None, torch.ones(1, 2)", ["SHP206"]),
    ("return None, torch.ones(2)", ["SHP206"]),
    ("return [None, g.t() @ x]", []),
    ("return None, x @ g", ["SHP101"]),
    ("return None, torch.ones(ctx.rows, 2)", ["SHP206"]),
    ("return None, torch.ones(ctx.rows - 1, 2)", []),
    ("if ctx.needs_input_grad[1]:\n            return None, x.t() @ g\n        return None, None", []),
    ("ctx.mark_dirty()\n        return None, w * g.sum()", []),
]


def raises(text: str) -> bool:
    try:
        exec(text, {})
    except RuntimeError as error:
        return "invalid gradient" in str(error) or "shapes cannot be multiplied" in str(error)
    return False


@pytest.mark.parametrize(("body", "codes"), BODIES)
def test_gradients_of_a_parameter(body: str, codes: list[str]) -> None:
    text = PROGRAM.format(body=body, size=3)
    assert [each.code for each in errors_of(text)] == codes
    assert not codes or raises(text)


def test_the_line_that_makes_the_gradient() -> None:
    text = PROGRAM.format(body="dw = g.t() @ x\n        return None, dw", size=3)
    (found,) = errors_of(text)
    assert text.splitlines()[found.span.line - 1].strip() == "dw = g.t() @ x"
    assert found.message == "the gradient of input 1 of backward is [2, 3], the parameter [3, 2]"


def test_a_vector_takes_a_gradient_with_a_batch() -> None:
    text = PROGRAM.format(body="return None, (x.t() @ g[:, None])[None, :, 0]", size=0)
    assert errors_of(text) == []
    exec(text, {})


@pytest.mark.parametrize("made", ["torch.ones(3, 2)", "torch.ones(3, 2) * 2"])
def test_what_is_no_parameter_may_need_no_gradient(made: str) -> None:
    text = PROGRAM.format(body="return None, g.t() @ x", size=3).replace(
        "torch.nn.Parameter(torch.ones(3, 2)", f"({made}"
    )
    assert errors_of(text) == []


def test_setup_context() -> None:
    text = """import torch

class F(torch.autograd.Function):
    @staticmethod
    def forward(x, w):
        return x @ w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w.t(), {}

F.apply(torch.ones(4, 3), torch.nn.Parameter(torch.ones(3, 2))).sum().backward()
"""
    assert errors_of(text.format("x.t() @ g")) == []
    assert [each.code for each in errors_of(text.format("x.t() @ g.t()"))] == ["SHP101"]
