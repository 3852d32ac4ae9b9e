"""Ranges: how many numbers lie between two, for `arange` of any library."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from distml.ops.call import UNKNOWN
from distml.shapes import Dim
from distml.values import Const

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
    first, last = call.dim(start), call.dim(stop)
    if stride is UNKNOWN or stride == 0 or first is None or last is None:
        return None
    span = last - first if stride > 0 else first - last
    return call.small((span + (abs(stride) - 1)) // abs(stride)) if abs(stride) != 1 else call.small(span)


def range_kind(call: Call, *bounds: Value) -> str | None:
    """ "int" or "float" as the bounds are; None when one of them is not known."""
    kinds = {call.dtype(bound) for bound in bounds if bound != Const(None)}
    if "float" in kinds:
        return "float"
    return "int" if kinds <= {"int", "bool"} else None


def _of_numbers(start: float, stop: float, step: float) -> Dim | None:
    if not step or not all(math.isfinite(number) for number in (start, stop, step)):
        return None
    if all(isinstance(number, int) for number in (start, stop, step)):
        return Dim.of(len(range(int(start), int(stop), int(step))))
    return Dim.of(max(0, math.ceil((stop - start) / step)))
