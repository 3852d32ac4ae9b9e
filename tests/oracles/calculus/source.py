"""A program of the calculus as Python: a `torch.nn.Module` that does what the program says.

Declared types become jaxtyping annotations: `Tensor` for `Dyn`, and `_` for a `Dyn` dimension. Each subterm is a statement of
its own, so that a line belongs to one rule. A convolution of the calculus takes four dimensions, one of torch also
three: an assertion keeps them alike.
"""

from __future__ import annotations

from oracles.calculus.programs import Add, Conv2D, Declaration, Expression, Program, Reshape, Variable
from oracles.calculus.types import Size, Unknown

HEADER = """\
import torch
from jaxtyping import Float
from torch import Tensor, nn


class {name}(nn.Module):
    def __init__(self) -> None:
        super().__init__()
"""


class Writer:
    """The layers and the statements of one module, as they are met."""

    def __init__(self, taken: set[str]) -> None:
        self.layers: list[str] = []
        self.statements: list[str] = []
        self._taken = taken

    def expression(self, expression: Expression) -> str:
        """Writes what computes the expression; the name of its value."""
        if isinstance(expression, Variable):
            return expression.name
        if isinstance(expression, Add):
            left = self.expression(expression.left)
            return self._value(f"torch.add({left}, {self.expression(expression.right)})")
        argument = self.expression(expression.argument)
        if isinstance(expression, Reshape):
            return self._value(f"torch.reshape({argument}, {_sequence(expression.shape.dims)})")
        return self._convolution(expression, argument)

    def _convolution(self, expression: Conv2D, argument: str) -> str:
        layer = f"self.conv{len(self.layers) + 1}"
        self.layers.append(f"{layer} = nn.Conv2d({expression.c_in}, {expression.c_out}, {expression.kernel})")
        self.statements.append(f"assert {argument}.dim() == 4")
        return self._value(f"{layer}({argument})")

    def _value(self, text: str) -> str:
        name = f"t{len(self.statements) + 1}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self.statements.append(f"{name} = {text}")
        return name


def python_source(program: Program, name: str = "Model") -> str:
    """The module as Python source, a class called `name` whose `forward` takes the declared variables."""
    writer = Writer({"self", "torch", *(declaration.name for declaration in program.declarations)})
    result = writer.expression(program.result)
    parameters = ", ".join(["self", *map(_parameter, program.declarations)])
    lines = [f"        {layer}" for layer in writer.layers]
    lines += ["", f"    def forward({parameters}) -> Tensor:"]
    lines += [f"        {statement}" for statement in (*writer.statements, f"return {result}")]
    return HEADER.format(name=name) + "\n".join(lines) + "\n"


def _parameter(declaration: Declaration) -> str:
    if isinstance(declaration.type, Unknown):
        return f"{declaration.name}: Tensor"
    dims = " ".join("_" if isinstance(size, Unknown) else str(size) for size in declaration.type.dims)
    return f'{declaration.name}: Float[Tensor, "{dims}"]'


def _sequence(dims: tuple[Size, ...]) -> str:
    return f"[{', '.join('-1' if isinstance(size, Unknown) else str(size) for size in dims)}]"
