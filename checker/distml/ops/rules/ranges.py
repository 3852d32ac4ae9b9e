"""Ranges: how many numbers lie between two, for `arange` of any library."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from distml.ops.call import UNKNOWN
from distml.ops.python.ratios import ceiling_of
from distml.ops.rules.kinds import kind_of
from distml.shapes import Dim
from distml.values import Const, Expr, Opaque, Ratio

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value


def range_length(call: Call, start: Value, stop: Value, step: Value) -> Dim | None:
    """The length of `arange(start, stop, step)`, `ceil((stop - start) / step)`; None when unknown.

    With sizes that are not known the range is taken not to be empty by design:
    `arange(1, n)` has n - 1 items.
    """
    numbers = [call.const(v, (int, float)) for v in (start, stop, step)]
    if not any(number is UNKNOWN for number in numbers):
        return _of_numbers(*numbers)
    stride = call.const(step, int)
    if stride == 1 and isinstance(stop, Ratio) and start == Const(0):
        return ceiling_of(call, stop)
    first, last = call.dim(start), call.dim(stop)
    if stride is UNKNOWN or stride == 0 or first is None or last is None:
        return None
    span = last - first if stride > 0 else first - last
    return call.small((span + (abs(stride) - 1)) // abs(stride)) if abs(stride) != 1 else call.small(span)


def range_kind(call: Call, start: Value, stop: Value, step: Value) -> str | None:
    """ "int" or "float" as the bounds are; None when one of them is not known.

    A bound nothing is known of is taken for an integer, a step is not: `arange(n)`,
    `arange(0, end, dt)`.
    """
    kinds = {_kind(bound) for bound in (start, stop) if bound != Const(None)} | {kind_of(step)}
    if "float" in kinds:
        return "float"
    return "int" if kinds <= {"int", "bool"} else None


def _kind(bound: Value) -> str | None:
    if isinstance(bound, Opaque):
        return "int"
    if isinstance(bound, Expr):
        kinds = {_kind(bound.left), _kind(bound.right)}
        return "int" if kinds == {"int"} and bound.op in ("+", "-", "*", "//", "%") else None
    return kind_of(bound)


def _of_numbers(start: float, stop: float, step: float) -> Dim | None:
    if not step or not all(math.isfinite(number) for number in (start, stop, step)):
        return None
    if all(isinstance(number, int) for number in (start, stop, step)):
        # `len(range(...))` fails where the length is no machine integer.
        return Dim.of(max(0, -((int(start) - int(stop)) // int(step))))
    return Dim.of(max(0, math.ceil((stop - start) / step)))
