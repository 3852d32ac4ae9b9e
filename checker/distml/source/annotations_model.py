"""What an annotation says, as written: names stay text, for whoever knows the scope to resolve."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


class Axis:
    """One axis, or several, of an annotated shape."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class SizeAxis(Axis):
    """An axis of a known size; with `broadcastable` (`#3`) it may also be 1."""

    size: int
    broadcastable: bool = False


@dataclass(frozen=True, slots=True)
class NameAxis(Axis):
    """An axis whose size has a name of its own: equal wherever the name occurs in one signature.

    With `variadic` (`*batch`) the name stands for any number of axes.
    """

    name: str
    broadcastable: bool = False
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class ExpressionAxis(Axis):
    """An axis whose size is computed from named sizes: `2*h+1`."""

    expression: Expression
    broadcastable: bool = False


@dataclass(frozen=True, slots=True)
class ValueAxis(Axis):
    """An axis whose size is the value of a Python expression where the annotation stands."""

    text: str


@dataclass(frozen=True, slots=True)
class AnyAxis(Axis):
    """One axis of any size: `_`, `Dyn`, `int`."""


@dataclass(frozen=True, slots=True)
class AnyAxes(Axis):
    """Any number of axes: `...`."""


@dataclass(frozen=True, slots=True)
class BadAxis(Axis):
    """What can be no size: a float, a negative number."""

    text: str


@dataclass(frozen=True, slots=True)
class Operation:
    """`left op right` inside an `ExpressionAxis`."""

    op: str
    left: Expression
    right: Expression


Expression = int | str | Operation
"""An integer, a named size, or an operation on two expressions."""

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}
"""The operators of symbolic axes that integers and dimensions share."""


def evaluate(expression: Expression, sizes: Mapping[str, Any]) -> Any | None:
    """The expression over integers or anything that calculates like them; None where a name is not in `sizes`
    or something is divided by zero."""
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return sizes.get(expression)
    left, right = evaluate(expression.left, sizes), evaluate(expression.right, sizes)
    if left is None or right is None:
        return None
    try:
        return OPERATORS[expression.op](left, right)
    except ZeroDivisionError:
        return None


class Hint:
    """What an annotation says of a value."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class AnyHint(Hint):
    """Nothing, or nothing that is understood."""


@dataclass(frozen=True, slots=True)
class TypeHint(Hint):
    """An instance of the class of this (dotted) name as written: `int`, `nn.Module`, `list[int]` with its arguments."""

    name: str
    arguments: tuple[Hint, ...] = ()


@dataclass(frozen=True, slots=True)
class TupleHint(Hint):
    """A tuple of these items; with `variadic` of any number of items, each like the one given."""

    items: tuple[Hint, ...]
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class LiteralHint(Hint):
    """One of these constants."""

    values: tuple[int | str | bytes | bool | None, ...]


@dataclass(frozen=True, slots=True)
class UnionHint(Hint):
    """One of several, None left out."""

    options: tuple[Hint, ...]


@dataclass(frozen=True, slots=True)
class OptionalHint(Hint):
    """What `inner` says, or None."""

    inner: Hint


@dataclass(frozen=True, slots=True)
class ShapeHint(Hint):
    """An array of this shape.

    `head` is the name the annotation begins with ("Float", "TensorType", "np.ndarray"); `array` the array type as
    written ("Tensor", "np.ndarray"), None where it may be any; `dtype` is "float", "int", "bool", "complex" or None.
    """

    head: str
    axes: tuple[Axis, ...]
    array: str | None = None
    dtype: str | None = None

    @property
    def text(self) -> str:
        """The shape as messages show it: `[batch, 3, ...]`."""
        return f"[{', '.join(axis_text(axis) for axis in self.axes)}]"


def axis_text(axis: Axis) -> str:
    """An axis as messages show it."""
    mark = "#" if getattr(axis, "broadcastable", False) else ""
    if isinstance(axis, SizeAxis):
        return f"{mark}{axis.size}"
    if isinstance(axis, NameAxis):
        return f"{'*' if axis.variadic else ''}{mark}{axis.name}"
    if isinstance(axis, ExpressionAxis):
        return f"{mark}{expression_text(axis.expression)}"
    if isinstance(axis, ValueAxis | BadAxis):
        return axis.text
    return "..." if isinstance(axis, AnyAxes) else "_"


def expression_text(expression: Expression) -> str:
    """An expression as it could be written, every nested operation in parentheses."""
    if not isinstance(expression, Operation):
        return str(expression)
    sides = [
        f"({expression_text(side)})" if isinstance(side, Operation) or _is_negative(side) else expression_text(side)
        for side in (expression.left, expression.right)
    ]
    return f"{sides[0]}{expression.op}{sides[1]}"


def _is_negative(side: Expression) -> bool:
    return isinstance(side, int) and side < 0
