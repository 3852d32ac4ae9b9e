"""Arithmetic on known constants, bounded in size: nothing here can take long or raise."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from distml.values import Const, Prim, Slice, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

MAX_BITS = 4096
"""Integers of more bits than this are not computed."""

MAX_TEXT = 100_000
"""Strings longer than this are not computed."""

MAX_ITEMS = 4096
"""Sequences longer than this are not followed item by item."""

FAILURES = (ArithmeticError, TypeError, ValueError, LookupError, AttributeError)
"""What Python's own operations raise on constants they do not take."""

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def fold(op: str, left: Any, right: Any) -> Const | None:
    """`left op right` of two Python constants; None where that raises or is too large."""
    function = OPERATORS.get(op)
    if function is None or not _is_small(op, left, right):
        return None
    try:
        result = function(left, right)
    except FAILURES:
        return None
    return Const(result) if is_plain(result) else None


def _is_small(op: str, left: Any, right: Any) -> bool:
    if op == "*":
        return _is_small_product(left, right)
    if isinstance(left, str | bytes):
        # `%` formats: a width in the format may ask for any length.
        if op == "%":
            return format_is_small(left) and (not isinstance(right, str | bytes) or len(right) <= MAX_TEXT)
        return len(left) <= MAX_TEXT
    if not isinstance(left, int) or not isinstance(right, int):
        return True
    if op == "**":
        return left in (-1, 0, 1) or left.bit_length() * abs(right) <= MAX_BITS
    return op != "<<" or left == 0 or left.bit_length() + right <= MAX_BITS


def _is_small_product(left: Any, right: Any) -> bool:
    if isinstance(right, str | bytes):
        left, right = right, left
    if isinstance(left, str | bytes):
        return not isinstance(right, int) or len(left) * right <= MAX_TEXT
    if isinstance(left, int) and isinstance(right, int):
        return left.bit_length() + right.bit_length() <= MAX_BITS
    return True


def format_is_small(text: str | bytes) -> bool:
    """Whether formatting with this text cannot give an outrageous length: no width of five digits, no `*`."""
    if len(text) > MAX_TEXT:
        return False
    shown = text if isinstance(text, str) else text.decode("latin-1")
    digits = 0
    for character in shown:
        digits = digits + 1 if character.isdigit() else 0
        if digits > 4 or character == "*":
            return False
    return True


def is_plain(value: Any) -> bool:
    """Whether a Python object can be a `Const` of bearable size."""
    if isinstance(value, bool | float | complex) or value is None or value is Ellipsis:
        return True
    if type(value) is int:
        return value.bit_length() <= MAX_BITS
    return type(value) in (str, bytes) and len(value) <= MAX_TEXT


def lift(call: Call, value: Any) -> Value | None:
    """The value of a Python object made from constants; None where it is too large or strange."""
    if is_plain(value):
        return Const(value)
    if type(value) in (tuple, list) and len(value) <= MAX_ITEMS:
        items = [lift(call, item) for item in value]
        known = [item for item in items if item is not None]
        if len(known) < len(items):
            return None
        return Tup(tuple(known)) if type(value) is tuple else call.list_of(known)
    return None


def compute(call: Call, function: Callable[..., Any], *args: Value, **kwargs: Value) -> Value | None:
    """`function` of constants; None where one is unknown, it raises, or the result is too large."""
    plain = [python(arg) for arg in args]
    named = {name: python(value) for name, value in kwargs.items()}
    if any(value is MISSING for value in (*plain, *named.values())):
        return None
    try:
        return lift(call, function(*plain, **named))
    except FAILURES:
        return None


class _Missing:
    """What stands for a value that is no constant."""


MISSING: Any = _Missing()


def python(value: Value) -> Any:
    """The Python object a value is, built from constants and tuples; `MISSING` when not known."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Tup):
        items = tuple(python(item) for item in value.items)
        return MISSING if any(item is MISSING for item in items) else items
    if isinstance(value, Slice):
        parts = [python(part) for part in (value.start, value.stop, value.step)]
        return MISSING if any(part is MISSING for part in parts) else slice(*parts)
    return MISSING


def number_kind(op: str, left: str, right: str) -> Prim | None:
    """The type of arithmetic on two numbers of these kinds; None where it cannot be told."""
    kinds = {left, right}
    if "complex" in kinds:
        return Prim("complex")
    if op == "**":
        # A negative exponent gives a float, a negative base to a fraction a complex number.
        return None
    if op == "/" or "float" in kinds:
        return Prim("float")
    if op in "&|^" and kinds == {"bool"}:
        return Prim("bool")
    return Prim("int")
