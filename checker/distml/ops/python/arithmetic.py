"""Python's operators on numbers, strings, sequences and unknown values.

`binary`, `unary` and `compare` answer for the values Python itself brings and
give None for the others (tensors, objects), whose own rules decide. `operate`
also asks those rules: `sum` and `operator.add` need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import MINUS_ONE, ZERO, Call
from distml.ops.dialect import dialect
from distml.ops.python.comparing import compare
from distml.ops.python.folding import MISSING, fold, number_kind, python
from distml.ops.python.joined import concatenate, repeated_once
from distml.ops.python.likeness import is_number, kind_of, low_of, remembered, shaped_like
from distml.ops.python.ratios import ratio
from distml.ops.registry import find_op
from distml.values import Const, Expr, Opaque, Prim, Tensor, Union, Value, union

if TYPE_CHECKING:
    from distml.shapes import Dim

MAX_NESTING = 8
"""Expressions of unknown values are kept up to this depth."""

MAX_POWER = 8
"""Powers of symbols are multiplied out up to this exponent."""

MAX_PAIRS = 16
"""How many pairs of alternatives are computed one by one."""

METHODS = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "/": "__truediv__",
    "//": "__floordiv__",
    "%": "__mod__",
    "**": "__pow__",
    "@": "__matmul__",
    "<<": "__lshift__",
    ">>": "__rshift__",
    "&": "__and__",
    "|": "__or__",
    "^": "__xor__",
    "==": "__eq__",
    "!=": "__ne__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
}
"""Operator -> the method that implements it."""

ORDER = ("==", "!=", "<", "<=", ">", ">=")
"""The operators that compare."""

__all__ = ["METHODS", "binary", "compare", "operate", "unary"]


def binary(call: Call, op: str, left: Value, right: Value) -> Value | None:
    """`left op right` of Python's own values; None where another library or a class decides."""
    if isinstance(left, Union) or isinstance(right, Union):
        return _each(call, op, left, right)
    if isinstance(left, Const) and isinstance(right, Const):
        return _constants(call, op, left, right)
    if is_number(left) and is_number(right):
        return _numbers(call, op, left, right)
    if _is_unknown(left) or _is_unknown(right):
        return _unknown(call, op, left, right)
    return _text(op, left, right) or concatenate(call, op, left, right)


def unary(call: Call, op: str, value: Value) -> Value | None:
    """`op value` for "-", "+", "~" and "not"; None where another library or a class decides."""
    if op == "not":
        truth = call.world.truth(value)
        return Prim("bool") if truth is None else Const(not truth)
    if isinstance(value, Union):
        results = [unary(call, op, option) for option in value.options]
        known = [result for result in results if result is not None]
        return union(known) if len(known) == len(results) else None
    if op == "+":
        if kind_of(value) == "bool":
            return binary(call, "+", ZERO, value)
        return value if is_number(value) or _is_unknown(value) else None
    if op == "-":
        return binary(call, "-", ZERO, value) if kind_of(value) != "float" else _negative(value)
    # `~n` is `-1 - n`, which for an unknown value at least has the right shape.
    if kind_of(value) in ("int", "bool"):
        return binary(call, "-", MINUS_ONE, value)
    return shaped_like(call, value) if _is_unknown(value) else None


def _negative(value: Value) -> Value:
    # Not `0 - x`, which loses the sign of zero.
    return Const(-value.value) if isinstance(value, Const) else Prim("float")


def operate(call: Call, op: str, left: Value, right: Value) -> Value:
    """`left op right` whatever the two are; an unknown value where nobody knows."""
    own = _compared(call, op, left, right) if op in ORDER else binary(call, op, left, right)
    if own is not None:
        return own
    tensor = next((side for side in (left, right) if isinstance(side, Tensor)), None)
    if tensor is not None:
        name = f"{dialect(tensor.lib).tensor}.{METHODS[op]}"
        rule = find_op(name)
        result: Value = (
            call.unknown() if rule is None else rule(Call(call.world, name, tensor.lib, call.text), left, right)
        )
        return result
    if isinstance(left, Opaque | Expr | Union):
        return call.unknown()
    function = call.world.attribute(left, METHODS[op])
    return call.unknown() if function is None else call.apply(function, right)


def _compared(call: Call, op: str, left: Value, right: Value) -> Value | None:
    answer = compare(call, op, left, right)
    if answer is not None:
        return Const(answer)
    return Prim("bool") if kind_of(left) is not None and kind_of(right) is not None else None


def _each(call: Call, op: str, left: Value, right: Value) -> Value | None:
    lefts = left.options if isinstance(left, Union) else (left,)
    rights = right.options if isinstance(right, Union) else (right,)
    if len(lefts) * len(rights) > MAX_PAIRS:
        return call.unknown()
    results = [binary(call, op, a, b) for a in lefts for b in rights]
    known = [result for result in results if result is not None]
    return union(known) if len(known) == len(results) else None


def _constants(call: Call, op: str, left: Const, right: Const) -> Value:
    result = fold(op, left.value, right.value)
    if result is not None:
        return result
    kinds = kind_of(left), kind_of(right)
    if is_number(left) and is_number(right):
        return number_kind(op, str(kinds[0]), str(kinds[1])) or call.unknown()
    return _text(op, left, right) or call.unknown()


def _text(op: str, left: Value, right: Value) -> Value | None:
    """Concatenation, repetition and formatting of strings that are not known."""
    kinds = kind_of(left), kind_of(right)
    for kind in ("str", "bytes"):
        if op == "%" and kinds[0] == kind:
            given = python(right)
            known = fold(op, left.value, given) if isinstance(left, Const) and given is not MISSING else None
            return known or Prim(kind)
        if op == "+" and kinds == (kind, kind):
            return Prim(kind)
        if op == "*" and kind in kinds and ("int" in kinds or "bool" in kinds):
            return Prim(kind)
    return None


def _is_unknown(value: Value) -> bool:
    return isinstance(value, Opaque | Expr)


def _unknown(call: Call, op: str, left: Value, right: Value) -> Value | None:
    """One side may be anything: a number, a tensor, an object with operators of its own."""
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return None
    if kind_of(left) == "str" and op == "%":
        return Prim("str")
    plain = all(_is_unknown(side) or is_number(side) for side in (left, right))
    if op == "*" and _is_unknown(right):
        # `[width] * depth`: the unknown is a number of times.
        return repeated_once(call, left) or _expression(op, left, right, plain) or call.unknown()
    return _expression(op, left, right, plain) or call.unknown()


def _expression(op: str, left: Value, right: Value, plain: bool) -> Expr | None:
    deep = max(_depth(left), _depth(right)) >= MAX_NESTING
    return Expr(op, left, right) if plain and op != "@" and not deep else None


def _depth(value: Value) -> int:
    return 1 + max(_depth(value.left), _depth(value.right)) if isinstance(value, Expr) else 0


def _numbers(call: Call, op: str, left: Value, right: Value) -> Value | None:
    """Arithmetic on two numbers of which at least one is not a constant."""
    if op == "@":
        return None
    a, b = call.dim(left), call.dim(right)
    if a is not None and b is not None:
        return _integers(call, op, left, right, a, b)
    exact = ratio(call, op, left, right)
    if exact is not None:
        return exact
    kind = number_kind(op, str(kind_of(left)), str(kind_of(right)))
    if kind is None and (low_of(call, left) or 0) > 0:
        # A positive base to a float.
        return Prim("float") if "float" in (kind_of(left), kind_of(right)) else call.unknown()
    return kind or call.unknown()


def divides_by_zero(op: str, left: Value, right: Value) -> bool:
    """Whether Python certainly raises ZeroDivisionError."""
    zero = isinstance(right, Const) and isinstance(right.value, int | float) and right.value == 0
    return zero and op in ("/", "//", "%") and is_number(left)


def _integers(call: Call, op: str, left: Value, right: Value, a: Dim, b: Dim) -> Value:
    if op == "+":
        return call.number(call.small(a + b))
    if op == "-":
        return call.number(call.small(a - b))
    if op == "*":
        return call.number(call.small(a * b))
    if op == "**":
        return _power(call, a, b)
    if op in ("/", "//", "%") and b.constant == 0:
        return call.unknown()
    if op == "/":
        return ratio(call, op, left, right) or Prim("float")
    if op == "//":
        return call.number(call.small(a // b))
    if op == "%":
        return call.number(call.small(a % b))
    return _bits(call, op, a, b)


def _power(call: Call, base: Dim, exponent: Dim) -> Value:
    power = exponent.constant
    if power is not None and 0 <= power <= MAX_POWER:
        result = base
        for _ in range(power - 1):
            result = call.small(result * base)
        return call.number(result) if power else Const(1)
    if exponent.low is None or exponent.low < 0:
        return Prim("float") if power is not None else call.unknown()
    low = base.low
    bound = None if low is None or low < 0 else min(low, 1)
    return remembered(call, ("**", base, exponent), bound, f"{base}**{exponent}")


def _bits(call: Call, op: str, a: Dim, b: Dim) -> Value:
    shift = b.constant
    if op in ("<<", ">>") and shift is not None:
        if not 0 <= shift <= 62:
            return Prim("int")
        return call.number(call.small(a * (1 << shift) if op == "<<" else a // (1 << shift)))
    lows = a.low, b.low
    positive = all(low is not None and low >= 0 for low in lows)
    masked = op == "&" and any(low is not None and low >= 0 for low in lows)
    return remembered(call, (op, a, b), 0 if positive or masked else None, f"{a} {op} {b}")
