"""Slices: how many items `start:stop:step` takes from an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import UNKNOWN
from distml.shapes import Dim, Quotient

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Slice, Value


def slice_length(call: Call, size: Dim, part: Slice) -> Dim:
    """The length of an axis of `size` items after `part` is taken of it.

    Of an axis of unknown size, a written number of items cut off at an end is
    taken to be there: `x[1:]` has `size - 1`. How many `x[:5]` has stays open:
    `5 - max(5 - size, 0)`, one symbol for the maximum wherever it is met.
    """
    size = call.facts.dim(size)
    step = 1 if call.is_none(part.step) else call.const(part.step, int)
    if step is UNKNOWN or step == 0:
        return call.symbol("length")
    exact = _exact(call, size, part, step)
    if exact is not None:
        return exact
    if step < 0:
        whole = call.is_none(part.start) and call.is_none(part.stop)
        return _ceil(size, -step) if whole else call.symbol("length")
    start, stop = _bound(call, part.start, Dim.of(0)), _bound(call, part.stop, size)
    if start is None or stop is None:
        return call.symbol("length")
    return call.small(_ceil(_span(call, size, start, stop), step))


def _exact(call: Call, size: Dim, part: Slice, step: int) -> Dim | None:
    start, stop = (None if call.is_none(v) else call.const(v, int) for v in (part.start, part.stop))
    if step == 1 and stop is None and (start is None or (start is not UNKNOWN and start == 0)):
        return size
    if size.constant is None or start is UNKNOWN or stop is UNKNOWN:
        return None
    length = len(range(*slice(start, stop, step).indices(size.constant)))
    return size if length == size.constant else Dim.of(length)


def _ceil(span: Dim, step: int) -> Dim:
    return span if step == 1 else (span + (step - 1)) // step


def _bound(call: Call, value: Value, default: Dim) -> Dim | None:
    if call.is_none(value):
        return default
    return None if call.is_none(value) is None else call.dim(value)


def _span(call: Call, size: Dim, start: Dim, stop: Dim) -> Dim:
    first = _clipped(call, size, start, is_start=True)
    last = _clipped(call, size, stop, is_start=False)
    if first is None or last is None:
        return call.symbol("length")
    begin, end = _position(size, start), _position(size, stop)
    cuts_ends = start.constant is not None and start.constant >= 0 and (end - size).constant is not None
    if end == size or cuts_ends or _is_natural(end - begin):
        return last - first if first != 0 else last
    return surplus(call, last - first)


def _position(size: Dim, bound: Dim) -> Dim:
    return bound if _is_natural(bound) else size + bound


def _clipped(call: Call, size: Dim, bound: Dim, is_start: bool) -> Dim | None:
    """A bound as a position from 0 to `size`; None when its sign is not known."""
    if bound == size:
        return size
    back = -bound
    if bound.constant != 0 and _is_natural(back):
        if back == 1 or (not is_start and back.constant is not None):
            return size - back
        return size - back + surplus(call, back - size)
    if not _is_natural(bound):
        return None
    if bound in (0, 1) or (is_start and bound.constant is not None and size.constant is None):
        return bound
    return bound - surplus(call, bound - size)


def surplus(call: Call, dim: Dim) -> Dim:
    """`max(dim, 0)`: as a polynomial where its sign is known, else one symbol for it."""
    if _is_natural(dim):
        return dim
    if _is_natural(-dim):
        return Dim.of(0)
    key = ("max with 0", dim)
    known: Dim | None = call.world.get(key)
    if known is None:
        known = call.symbol(f"max({dim}, 0)")
        call.world.put(key, known)
    return call.facts.dim(known)


def _is_natural(dim: Dim, depth: int = 3) -> bool:
    """Whether the dimension is proved not to be negative; `n - n // 2` is."""
    low = dim.low
    if low is not None and low >= 0:
        return True
    if depth == 0:
        return False
    for monomial, coefficient in dim.terms:
        if coefficient > 0 or len(monomial) != 1 or monomial[0][1] != 1:
            continue
        atom = monomial[0][0]
        divisor = atom.denominator.constant if isinstance(atom, Quotient) else None
        if isinstance(atom, Quotient) and divisor is not None and divisor > 0:
            # A floor division is at most the quotient: multiply by the divisor and put that in.
            rest = dim - Dim(((monomial, coefficient),))
            return _is_natural(rest * divisor + atom.numerator * coefficient, depth - 1)
    return False
