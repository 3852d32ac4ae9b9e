"""The two type checkers of the calculus: the gradual one (the paper's Figure 3) and the static one (Figures 11, 12).

Both give an expression's type or raise `IllTyped`. In either, `least` is the smallest number that is a dimension: 0 in
the paper, 1 where a tensor without elements is no use.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TypeAlias

from oracles.calculus.programs import Add, Conv2D, Expression, Program, Reshape, Variable
from oracles.calculus.types import (
    TensorType,
    Type,
    apply_broadcasting,
    calc_conv,
    can_reshape,
    lub_star,
    match,
    size_consistent,
)

Context: TypeAlias = Mapping[str, Type]


class IllTyped(Exception):
    """No rule gives the program a type; the text says which expression, and what meets what."""


def context(program: Program, least: int = 0) -> Context:
    """Context formation (Figure 2): the declared types by name.

    Raises IllTyped for a name declared twice (*s-var*), and for a number below `least`.
    """
    types: dict[str, Type] = {}
    for declaration in program.declarations:
        if declaration.name in types:
            raise IllTyped(f"{declaration.name} is declared twice")
        _require_sizes(declaration.type, least, str(declaration))
        types[declaration.name] = declaration.type
    return types


def gradual_type(program: Program, least: int = 0) -> Type:
    """The type of what a program returns (*ok-prog* of Figure 3). Raises IllTyped."""
    return expression_type(program.result, context(program, least), least)


def well_typed(program: Program, least: int = 0) -> bool:
    """`⊢ program : ok` in the gradual system."""
    try:
        gradual_type(program, least)
    except IllTyped:
        return False
    return True


def expression_type(expression: Expression, declared: Context, least: int = 0) -> Type:
    """The gradual type of an expression, `Γ ⊢ e : τ` (Figure 3). Raises IllTyped."""
    if isinstance(expression, Variable):
        return _declared(expression, declared)
    if isinstance(expression, Add):
        left = expression_type(expression.left, declared, least)
        return _sum(expression, left, expression_type(expression.right, declared, least))
    argument = expression_type(expression.argument, declared, least)
    if isinstance(expression, Reshape):
        return _reshaped(expression, argument, least)
    return _convolved(expression, argument, least)


def _declared(variable: Variable, declared: Context) -> Type:
    if variable.name not in declared:
        raise IllTyped(f"{variable.name} is not declared")
    return declared[variable.name]


def _sum(expression: Add, left: Type, right: Type) -> Type:
    """*t-add*."""
    result = lub_star(*apply_broadcasting(left, right))
    if result is None:
        raise IllTyped(f"{expression}: {left} and {right} cannot be broadcast")
    return result


def _reshaped(expression: Reshape, argument: Type, least: int) -> Type:
    """*t-reshape-s*, *t-reshape-g* and *t-reshape*."""
    _require_sizes(expression.shape, least, str(expression))
    if not can_reshape(argument, expression.shape):
        raise IllTyped(f"{expression}: {argument} cannot have as many elements as {expression.shape}")
    return expression.shape


def _convolved(expression: Conv2D, argument: Type, least: int) -> Type:
    """*t-conv*."""
    image = match(argument, 4)
    if image is None:
        raise IllTyped(f"{expression}: needs 4 dimensions, gets {argument}")
    if not size_consistent(expression.c_in, image.dims[1]):
        raise IllTyped(f"{expression}: needs {expression.c_in} channels, gets {image.dims[1]}")
    result = calc_conv(image, expression.c_out, expression.kernel, least)
    if result is None:
        raise IllTyped(f"{expression}: {argument} is smaller than the kernel")
    _require_sizes(result, least, str(expression))
    return result


def _require_sizes(type_: Type, least: int, where: str) -> None:
    if isinstance(type_, TensorType) and any(size < least for size in type_.known):
        raise IllTyped(f"{where}: a dimension is at least {least}")


def static_type(program: Program, least: int = 0) -> TensorType:
    """The type of what a program returns in the static system (*ok-prog-s* of Figure 12).

    Raises IllTyped, also where the program is not one of Figure 11's: where a type in it has a `Dyn`.
    """
    return static_expression_type(program.result, context(program, least), least)


def static_expression_type(expression: Expression, declared: Context, least: int = 0) -> TensorType:
    """The static type of an expression, `Γ ⊢st e : T` (Figure 12). Raises IllTyped."""
    if isinstance(expression, Variable):
        return _static(_declared(expression, declared))
    if isinstance(expression, Add):
        left = static_expression_type(expression.left, declared, least)
        right = static_expression_type(expression.right, declared, least)
        one, other = apply_broadcasting(left, right)
        if one != other:
            raise IllTyped(f"{expression}: {left} and {right} cannot be broadcast")
        return _static(one)
    argument = static_expression_type(expression.argument, declared, least)
    if isinstance(expression, Conv2D):
        return _static(_convolved(expression, argument, least))
    shape = _static(expression.shape)
    _require_sizes(shape, least, str(expression))
    if prod(argument.known) != prod(shape.known):
        raise IllTyped(f"{expression}: {argument} has {prod(argument.known)} elements, {shape} {prod(shape.known)}")
    return shape


def _static(type_: Type) -> TensorType:
    if not isinstance(type_, TensorType) or not type_.is_static:
        raise IllTyped(f"{type_} is not a static type")
    return type_
