"""Floats that are quotients of integers, as far as floating point keeps them exact.

`int(n / 2)` is `n // 2`: a quotient of integers is rounded to the nearest float,
which has the right floor. Further arithmetic is followed only where it adds no
rounding that could cross an integer: scaling by powers of two, adding integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.shapes import Dim
from distml.values import Const, Num, Prim, Ratio, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

MAX_DENOMINATOR = 1 << 16
"""Floats such as 0.5 and 0.375 have a small power of two below; 0.1 has not."""

Quotient = tuple[Dim, Dim]


def quotient_of(call: Call, value: Value) -> Quotient | None:
    """Numerator and denominator of a number that is exactly a quotient of integers."""
    if isinstance(value, Ratio):
        return call.facts.dim(value.numerator), call.facts.dim(value.denominator)
    if isinstance(value, Num) or (isinstance(value, Const) and isinstance(value.value, int)):
        whole = call.dim(value)
        return None if whole is None else (whole, Dim.of(1))
    if isinstance(value, Const) and isinstance(value.value, float):
        return _exact(value.value)
    return None


def _exact(value: float) -> Quotient | None:
    if value != value or abs(value) > 2.0**53:
        return None
    numerator, denominator = value.as_integer_ratio()
    return (Dim.of(numerator), Dim.of(denominator)) if denominator <= MAX_DENOMINATOR else None


def ratio(call: Call, op: str, left: Value, right: Value) -> Value | None:
    """`left op right` as a quotient of integers; None where it is none that is known exactly."""
    a, b = quotient_of(call, left), quotient_of(call, right)
    if a is None or b is None or op not in ("+", "-", "*", "/"):
        return None
    if op in ("+", "-"):
        return _sum(call, a, b, -1 if op == "-" else 1)
    if op == "/":
        if b[0].constant == 0:
            return None
        if a[1] == 1 and b[1] == 1:
            return _make(call, a[0], b[0])
        b = (b[1], b[0])
    if _is_dyadic(a) and _is_dyadic(b):
        return _make(call, a[0] * b[0], a[1] * b[1])
    return _make(call, a[0] * b[0], a[1] * b[1]) if _is_scale(a) or _is_scale(b) else None


def _sum(call: Call, a: Quotient, b: Quotient, sign: int) -> Value | None:
    exact = (_is_dyadic(a) and _is_dyadic(b)) or a[1] == 1 or b[1] == 1
    return _make(call, a[0] * b[1] + b[0] * a[1] * sign, a[1] * b[1]) if exact else None


def _make(call: Call, numerator: Dim, denominator: Dim) -> Value:
    below = denominator.constant
    if below is not None and below < 0:
        numerator, denominator = -numerator, -denominator
    if denominator != 1 and below is not None and (numerator % denominator) == 0:
        numerator, denominator = numerator // denominator, Dim.of(1)
    whole, below = numerator.constant, denominator.constant
    if whole is not None and below is not None:
        return Const(whole / below) if whole.bit_length() <= 53 >= below.bit_length() else Prim("float")
    return Ratio("float", call.small(numerator), call.small(denominator))


def _is_dyadic(quotient: Quotient) -> bool:
    below = quotient[1].constant
    return below is not None and _is_power(abs(below))


def _is_scale(quotient: Quotient) -> bool:
    above = quotient[0].constant
    return above is not None and _is_power(abs(above)) and _is_dyadic(quotient)


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def floor_of(call: Call, value: Value) -> Dim | None:
    """`math.floor(value)` of a number known exactly."""
    known = quotient_of(call, value)
    if known is None or known[1].constant == 0:
        return None
    return known[0] // known[1]


def ceiling_of(call: Call, value: Value) -> Dim | None:
    """`math.ceil(value)` of a number known exactly."""
    known = quotient_of(call, value)
    if known is None or known[1].constant == 0:
        return None
    return -(-known[0] // known[1])


def whole_part(call: Call, value: Value) -> Dim | None:
    """`int(value)`, towards zero, of a number known exactly whose sign is known."""
    known = quotient_of(call, value)
    if known is None or known[1].low is None or known[1].low < 0 or known[1] == 0:
        return None
    low, high = known[0].low, (-known[0]).low
    if known[1] == 1 or (low is not None and low >= 0):
        return known[0] // known[1]
    return -(-known[0] // known[1]) if high is not None and high >= 0 else None
