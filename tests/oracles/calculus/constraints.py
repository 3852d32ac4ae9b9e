"""Source constraints of a program and how they are generated (the paper's Figures 4 and 5).

The unknowns are types: `x` of each declaration, `[e]` of each occurrence of a subterm, and `<e>` of each operand of a
sum as broadcasting would leave it. Figure 5 bounds the rank of nearly every unknown by 4. Here only declarations that
say `Dyn` are bounded, by whatever the translation is told: every other rank follows from theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from oracles.calculus.programs import Add, Declaration, Expression, Program, Reshape, Variable
from oracles.calculus.types import TensorType, Type, Unknown


@dataclass(frozen=True, slots=True)
class TypeVariable:
    """An unknown type. `serial` tells occurrences of one subterm apart."""

    text: str
    serial: int

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Precise:
    """`less ⊑ more`."""

    less: Type
    more: TypeVariable


@dataclass(frozen=True, slots=True)
class Bounded:
    """`|type| ≤ n`: `Dyn`, or of one of the ranks that are looked at."""

    type: TypeVariable


@dataclass(frozen=True, slots=True)
class Same:
    """`one = other`."""

    one: TypeVariable
    other: TypeVariable


@dataclass(frozen=True, slots=True)
class Is:
    """`one = type`."""

    one: TypeVariable
    type: TensorType


@dataclass(frozen=True, slots=True)
class CanReshape:
    """`can-reshape(argument, target)`."""

    argument: TypeVariable
    target: TensorType


@dataclass(frozen=True, slots=True)
class Matches:
    """`type ▷ TensorType(ζ1, ..., ζn)`. The ζ are the type's own dimensions, all `Dyn` where it is."""

    type: TypeVariable
    rank: int


@dataclass(frozen=True, slots=True)
class ConsistentSize:
    """`size ~ ζ`, with ζ the dimension `index` of a type that is matched."""

    size: int
    type: TypeVariable
    index: int


@dataclass(frozen=True, slots=True)
class Convolved:
    """`result = calc-conv(argument, c_out, kernel)`."""

    result: TypeVariable
    argument: TypeVariable
    c_out: int
    kernel: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Broadcast:
    """`operands = apply-broadcasting(types)`."""

    operands: tuple[TypeVariable, TypeVariable]
    types: tuple[TypeVariable, TypeVariable]


@dataclass(frozen=True, slots=True)
class Consistent:
    """`one ~ other`."""

    one: TypeVariable
    other: TypeVariable


@dataclass(frozen=True, slots=True)
class LeastUpper:
    """`result = one ⊔* other`."""

    result: TypeVariable
    one: TypeVariable
    other: TypeVariable


@dataclass(frozen=True, slots=True)
class Never:
    """No solution: the context is not well formed (*s-var*), or lacks a variable (*t-var*)."""

    reason: str


Source: TypeAlias = (
    Precise
    | Bounded
    | Same
    | Is
    | CanReshape
    | Matches
    | ConsistentSize
    | Convolved
    | Broadcast
    | Consistent
    | LeastUpper
    | Never
)
Cause: TypeAlias = Declaration | Expression


@dataclass(slots=True)
class Generated:
    """The constraints of a program, each with the declaration or the subterm that it is for.

    `declared` has the unknown of each declaration, `terms` those of the occurrences of subterms, arguments before what
    uses them, and `operands` those that broadcasting makes.
    """

    constraints: list[tuple[Source, Cause]] = field(default_factory=list)
    declared: dict[str, TypeVariable] = field(default_factory=dict)
    terms: list[TypeVariable] = field(default_factory=list)
    operands: list[TypeVariable] = field(default_factory=list)

    def fresh(self, text: str) -> TypeVariable:
        """An unknown that is like no other."""
        return TypeVariable(text, len(self.declared) + len(self.terms) + len(self.operands))

    def add(self, cause: Cause, *constraints: Source) -> None:
        """States that the constraints hold, because of `cause`."""
        self.constraints += [(constraint, cause) for constraint in constraints]


def generate(program: Program) -> Generated:
    """`Gen(program)`: what each declaration and each occurrence of a subterm requires (Figure 5)."""
    made = Generated()
    for declaration in program.declarations:
        _declare(made, declaration)
    _expression(made, program.result)
    return made


def _declare(made: Generated, declaration: Declaration) -> None:
    """*t-decl*."""
    if declaration.name in made.declared:
        made.add(declaration, Never(f"{declaration.name} is declared twice"))
        return
    unknown = made.fresh(declaration.name)
    made.declared[declaration.name] = unknown
    made.add(declaration, Precise(declaration.type, unknown))
    if isinstance(declaration.type, Unknown):
        made.add(declaration, Bounded(unknown))


def _expression(made: Generated, expression: Expression) -> TypeVariable:
    """The unknown `[e]` of an occurrence, constrained by the rule for its kind."""
    if isinstance(expression, Add):
        return _sum(made, expression, _expression(made, expression.left), _expression(made, expression.right))
    if isinstance(expression, Variable):
        return _variable(made, expression)
    argument = _expression(made, expression.argument)
    result = _term(made, expression)
    if isinstance(expression, Reshape):
        made.add(expression, Is(result, expression.shape), CanReshape(argument, expression.shape))
    else:
        convolved = Convolved(result, argument, expression.c_out, expression.kernel)
        made.add(expression, Matches(argument, 4), ConsistentSize(expression.c_in, argument, 1), convolved)
    return result


def _variable(made: Generated, expression: Variable) -> TypeVariable:
    """*t-var*."""
    declared = made.declared.get(expression.name)
    result = _term(made, expression)
    never = Never(f"{expression.name} is not declared")
    made.add(expression, never if declared is None else Same(result, declared))
    return result


def _sum(made: Generated, expression: Add, left: TypeVariable, right: TypeVariable) -> TypeVariable:
    """*t-add*."""
    result = _term(made, expression)
    one = made.fresh(f"<{expression.left}>")
    made.operands.append(one)
    other = made.fresh(f"<{expression.right}>")
    made.operands.append(other)
    made.add(expression, Broadcast((one, other), (left, right)), Consistent(one, other), LeastUpper(result, one, other))
    return result


def _term(made: Generated, expression: Expression) -> TypeVariable:
    result = made.fresh(f"[{expression}]")
    made.terms.append(result)
    return result
