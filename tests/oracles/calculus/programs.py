"""Programs of the gradual tensor calculus: `decl* return e` (the paper's Figure 1), and their precision (Figure 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from oracles.calculus.types import Dyn, TensorType, Type, precision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Variable:
    """`x`, one of the declared variables."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Reshape:
    """`reshape(e, τ)`: the elements of `e` in the shape `τ`, of which one dimension may be `Dyn`.

    Raises ValueError where more are.
    """

    argument: Expression
    shape: TensorType

    def __post_init__(self) -> None:
        if self.shape.dims.count(Dyn) > 1:
            raise ValueError(f"reshape to {self.shape}: at most one dimension may be Dyn")

    def __str__(self) -> str:
        return f"reshape({self.argument}, {self.shape})"


@dataclass(frozen=True, slots=True)
class Conv2D:
    """`Conv2D(c_in, c_out, κ, e)`: a convolution with a kernel of `κ[0]` by `κ[1]`, stride 1 and no padding.

    Raises ValueError for a kernel without elements, which no image is too small for.
    """

    c_in: int
    c_out: int
    kernel: tuple[int, int]
    argument: Expression

    def __post_init__(self) -> None:
        if min(self.kernel) < 1:
            raise ValueError(f"Conv2D with a kernel of {self.kernel[0]} by {self.kernel[1]}: each side is at least 1")

    def __str__(self) -> str:
        return f"Conv2D({self.c_in}, {self.c_out}, {self.kernel}, {self.argument})"


@dataclass(frozen=True, slots=True)
class Add:
    """`add(e1, e2)`: the sum of two tensors, which are broadcast."""

    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"add({self.left}, {self.right})"


Expression: TypeAlias = Variable | Reshape | Conv2D | Add


def subterms(expression: Expression) -> Iterator[Expression]:
    """Every occurrence of a subterm, arguments before what uses them."""
    if isinstance(expression, Add):
        yield from subterms(expression.left)
        yield from subterms(expression.right)
    elif not isinstance(expression, Variable):
        yield from subterms(expression.argument)
    yield expression


@dataclass(frozen=True, slots=True)
class Declaration:
    """`x : τ`."""

    name: str
    type: Type

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(frozen=True, slots=True)
class Program:
    """`decl* return e`."""

    declarations: tuple[Declaration, ...]
    result: Expression

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.declarations))} return {self.result}".lstrip()

    @property
    def annotations(self) -> tuple[Type, ...]:
        """The declared types, in order."""
        return tuple(declaration.type for declaration in self.declarations)

    @property
    def is_static(self) -> bool:
        """Whether every declared type is static, as the programs of Figure 11 are."""
        return all(isinstance(type_, TensorType) and type_.is_static for type_ in self.annotations)

    def annotated(self, types: Sequence[Type]) -> Program:
        """The same program with other declared types, in order."""
        declarations = (replace(one, type=type_) for one, type_ in zip(self.declarations, types, strict=True))
        return Program(tuple(declarations), self.result)


def program_precision(less: Program, more: Program) -> bool:
    """Precision of programs, `less ⊑ more` (Figure 2): that of each declaration, on one and the same expression."""
    names = [one.name for one in less.declarations] == [one.name for one in more.declarations]
    return names and less.result == more.result and all(map(precision, less.annotations, more.annotations))
