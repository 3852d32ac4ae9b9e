"""Splitting an axis into parts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from distml.ops.rules.axes import axis_in, drop_axis, replace_axis
from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call
    from distml.values import Value

MAX_PARTS = 256
"""More parts than this are not listed one by one."""

Parts = tuple[list[Shape] | None, Shape]
"""The parts one by one (None where their number is not known), and what each of them is like."""


def of_sizes(call: Call, shape: Shape, axis: Value, sizes: Sequence[Dim | None]) -> Parts:
    """Parts of the given sizes, which must add up to the axis (torch.split); SHP204."""
    at, size = _measured(call, shape, axis)
    known = [s for s in sizes if s is not None]
    if size is not None and len(known) == len(sizes):
        total = sum(known, Dim.of(0))
        call.require_equal(
            size,
            total,
            "SHP204",
            f"{call.text}: {_shown(sizes)} adds up to {total}, the axis of {call.show(shape)} has {size}",
            hint=_last(size, known),
        )
    # A size that was not known is what the others leave.
    if size is not None and len(known) == len(sizes) - 1:
        left = call.small(size - sum(known, Dim.of(0)))
        sizes = [left if s is None else s for s in sizes]
    parts = [replace_axis(call, shape, at, None if s is None else call.facts.nonnegative(s)) for s in sizes]
    return parts, replace_axis(call, shape, at, None)


def _shown(sizes: Sequence[Dim | None]) -> str:
    return f"[{', '.join('?' if s is None else repr(s) for s in sizes)}]"


def _last(size: Dim, known: Sequence[Dim]) -> str | None:
    if not known:
        return None
    if all(k == known[0] for k in known) and size % len(known) == 0:
        return f"{len(known)} parts of {size // len(known)} would fit"
    rest = size - sum(known[:-1], Dim.of(0))
    return f"the last part would have to be {rest}" if (rest.low or 0) > 0 else None


def of_length(call: Call, shape: Shape, axis: Value, length: Dim | None) -> Parts:
    """Parts of one length, the last may be shorter (torch.split with an integer)."""
    at, size = _measured(call, shape, axis)
    if length is None or size is None:
        return None, replace_axis(call, shape, at, None)
    total, step = size.constant, length.constant
    if step is not None and step < 0:
        call.fail("SHP204", f"{call.text}: a part cannot have {step} elements")
    if step == 0 and size.differs(0):
        call.fail("SHP204", f"{call.text}: parts of 0 elements never cover an axis of {size}")
    if size == length:
        return [shape], shape
    if total is None or step is None:
        count = _whole(size, length)
        if count is not None and 0 < count <= MAX_PARTS:
            return [replace_axis(call, shape, at, length)] * count, replace_axis(call, shape, at, length)
        return None, replace_axis(call, shape, at, None)
    return _listed(call, shape, at, [min(step, total - i) for i in range(0, total, step or 1)] or [0])


def _whole(size: Dim, length: Dim) -> int | None:
    """How many parts there are where a symbol is split: `3*d` by `d` gives 3."""
    if length.constant == 0:
        return None
    count = size // length
    return count.constant if count * length == size else None


def chunk(call: Call, shape: Shape, axis: Value, count: Dim | None) -> Parts:
    """At most `count` parts of equal size but for the last (torch.chunk)."""
    at, size = _measured(call, shape, axis)
    number = None if count is None else count.constant
    if number is not None and number < 1:
        call.fail("SHP204", f"{call.text}: an axis cannot be split into {number} parts")
    if number is None or size is None or number > MAX_PARTS:
        return None, replace_axis(call, shape, at, None)
    total = size.constant
    if total is None:
        return _chunk_symbol(call, shape, at, size, number)
    step = -(-total // number)
    if not step:
        return [shape] * number, shape
    return _listed(call, shape, at, [min(step, total - i) for i in range(0, total, step)])


def _chunk_symbol(call: Call, shape: Shape, at: int | None, size: Dim, number: int) -> Parts:
    """An axis of symbolic size: `3*d` has 3 chunks of `d`, 5 axes of unknown size at most 5."""
    part = size // number
    if part * number == size:
        piece = replace_axis(call, shape, at, part)
        return [piece] * number, piece
    return None, replace_axis(call, shape, at, None)


def even(call: Call, shape: Shape, axis: Value, count: Dim | None) -> Parts:
    """Exactly `count` equal parts (numpy.split); SHP204 where that does not work out."""
    at, size = _measured(call, shape, axis)
    number = None if count is None else count.constant
    if number is not None and number < 1:
        call.fail("SHP204", f"{call.text}: an axis cannot be split into {number} parts")
    if size is None or count is None or number is None or number > MAX_PARTS:
        part = None if size is None or count is None else size // count
        return None, replace_axis(call, shape, at, part)
    call.require_divisible(
        size,
        count,
        "SHP204",
        f"{call.text}: the axis of {call.show(shape)} has {{dim}}, no multiple of {{by}}",
    )
    piece = replace_axis(call, shape, at, size // number)
    return [piece] * number, piece


def nearly_even(call: Call, shape: Shape, axis: Value, count: Dim | None) -> Parts:
    """Exactly `count` parts that differ by one at most (numpy.array_split, torch.tensor_split)."""
    at, size = _measured(call, shape, axis)
    number = None if count is None else count.constant
    if number is not None and number < 1:
        call.fail("SHP204", f"{call.text}: an axis cannot be split into {number} parts")
    if size is None or number is None or number > MAX_PARTS:
        return None, replace_axis(call, shape, at, None)
    total = size.constant
    if total is not None:
        return _listed(call, shape, at, [total // number + (i < total % number) for i in range(number)])
    # The i-th of n parts of a size s has (s + n - 1 - i) // n elements.
    sizes = [(size + (number - 1 - i)) // number for i in range(number)]
    return [replace_axis(call, shape, at, s) for s in sizes], replace_axis(call, shape, at, None)


def at_indices(call: Call, shape: Shape, axis: Value, indices: Sequence[Dim | None]) -> Parts:
    """Parts between indices, as slices are (numpy.split and torch.tensor_split with a list)."""
    at, size = _measured(call, shape, axis)
    bounds = [Dim.of(0), *indices, size]
    sizes = [_between(a, b, size) for a, b in pairwise(bounds)]
    parts = [replace_axis(call, shape, at, s) for s in sizes]
    return parts, replace_axis(call, shape, at, None)


def _between(start: Dim | None, stop: Dim | None, size: Dim | None) -> Dim | None:
    """The length of `x[start:stop]`, where the three are known well enough."""
    if start is None or stop is None or size is None:
        return None
    numbers = [d.constant for d in (start, stop, size)]
    if numbers[0] is not None and numbers[1] is not None and numbers[2] is not None:
        return Dim.of(len(range(numbers[2])[numbers[0] : numbers[1]]))
    inside = all((d.low or 0) >= 0 and d.low is not None for d in (start, stop - start, size - stop))
    return stop - start if inside else None


def unbind(call: Call, shape: Shape, axis: Value) -> Parts:
    """The slices along an axis, which goes (torch.unbind, numpy.unstack)."""
    at, size = _measured(call, shape, axis)
    piece = drop_axis(call, shape, at)
    number = None if size is None else size.constant
    return (None if number is None or number > MAX_PARTS else [piece] * number), piece


def _measured(call: Call, shape: Shape, axis: Value) -> tuple[int | None, Dim | None]:
    at = axis_in(call, axis, shape)
    if at is None:
        return None, None
    if call.facts.shape(shape).rank == 0:
        call.fail("SHP301", f"{call.text}: a scalar cannot be split")
    return at, call.facts.axis(shape, at)


def _listed(call: Call, shape: Shape, at: int | None, sizes: Sequence[int]) -> Parts:
    if len(sizes) > MAX_PARTS:
        return None, replace_axis(call, shape, at, None)
    made: dict[int, Shape] = {}
    for size in sizes:
        if size not in made:
            made[size] = replace_axis(call, shape, at, Dim.of(size))
    rest = next(iter(made.values())) if len(made) == 1 else replace_axis(call, shape, at, None)
    return [made[size] for size in sizes], rest
