"""Ranges: how many numbers lie between two, for `arange` of any library."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import NONE, UNKNOWN
from distml.ops.python.ratios import ceiling_of
from distml.ops.rules.elements import MAX_CONTENT
from distml.ops.rules.kinds import kind_of
from distml.shapes import Dim
from distml.values import Const, Expr, Lib, Opaque, Ratio, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


WIDE = frozenset({"int", "int32", "int64", "int_", "intp", "long"})
"""Integers that hold every index of an array."""
REARRANGING = frozenset(
    """
    broadcast_to clone contiguous cpu cuda detach expand expand_as expand_dims flatten identity int long movedim permute ravel
    repeat reshape squeeze swapaxes t tile to transpose unsqueeze view view_as
    """.split()
)
"""Functions and methods, of any library, whose result holds the numbers of their first argument and no others."""


def range_largest(call: Call, start: Value, stop: Value, step: Value, dtype: Value) -> int | None:
    """The largest number of `arange(start, stop, step)` of integers that are known; None where it is empty."""
    dims = [call.dim(bound) for bound in (start, stop, step)]
    numbers = [call.facts.dim(dim).constant for dim in dims if dim is not None]
    wide = dtype == NONE or (isinstance(dtype, Lib) and dtype.name.rpartition(".")[2] in WIDE)
    if len(numbers) < len(dims) or None in numbers or not numbers[2] or not wide:
        return None
    counted = range(*numbers)  # type: ignore[arg-type]
    return max(counted[0], counted[-1]) if counted else None


def rearranged(name: str, result: Tensor, values: Sequence[Value]) -> Tensor:
    """The result of an op, with what is known of the numbers in it where the op only moves them.

    It may be a view: who writes into one writes into both.
    """
    first = values[0] if values else None
    if not isinstance(first, Tensor) or first.largest is None or result.dtype != "int":
        return result
    last = name.rpartition(".")[2]
    if last in _COUNTING and len(values) > 1 and result.content is None:
        by = values[1].value if isinstance(values[1], Const) else None
        return replace(result, largest=_COUNTING[last](first, by)) if type(by) is int else result
    moved = last in REARRANGING and result.content is None
    return (replace(result, largest=first.largest) if moved else result).copied(first)


def _remainder(array: Tensor, by: int) -> int | None:
    """The largest remainder, which a whole row of numbers from 0 on has."""
    count = math.prod(dim.constant or 0 for dim in array.shape.dims or ())
    whole = array.places is not None and array.places.constant == count
    return min(by, count) - 1 if whole and by > 0 and count > 0 else None


_COUNTING: dict[str, Callable[[Tensor, int], int | None]] = {
    **dict.fromkeys(("__add__", "__radd__", "add"), lambda array, by: (array.largest or 0) + by),
    **dict.fromkeys(("__sub__", "sub", "subtract"), lambda array, by: (array.largest or 0) - by),
    **dict.fromkeys(
        ("__mul__", "__rmul__", "mul", "multiply"), lambda array, by: (array.largest or 0) * by if by > 0 else None
    ),
    **dict.fromkeys(("__floordiv__", "floor_divide"), lambda array, by: (array.largest or 0) // by if by > 0 else None),
    **dict.fromkeys(("__mod__", "remainder", "fmod", "mod"), _remainder),
}
"""Functions and methods of arrays and a number: the largest number of what they give, where that is known."""


def range_content(call: Call, start: Value, stop: Value, step: Value) -> list[Value] | None:
    """The numbers of `arange(start, stop, step)`, if they are known and few."""
    numbers = [call.const(bound, (int, float)) for bound in (start, stop, step)]
    length = None if UNKNOWN in numbers else _of_numbers(*numbers)
    count = None if length is None else length.constant
    if count is None or count > MAX_CONTENT:
        return None
    first, _, stride = numbers
    between = (first + stride) - first  # as the libraries do it
    return [Const(first + each * between) for each in range(count)]


def spaced(call: Call, start: Value, stop: Value, num: Value, closed: bool = True) -> list[Value] | None:
    """The numbers of `linspace(start, stop, num)`, if they are known and few."""
    first, last = (call.const(each, (int, float)) for each in (start, stop))
    count = call.const(num, int)
    if UNKNOWN in (first, last, count) or not 0 < count <= MAX_CONTENT:
        return None
    parts = count - closed
    step = (last - first) / parts if parts else 0.0
    made = [each * step + first if step else each / max(parts, 1) * (last - first) + first for each in range(count)]
    if closed and parts:
        made[-1] = last
    return [Const(float(each)) for each in made]


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
