"""Axes: adding, dropping, exchanging and moving them, also where the rank is not known.

A shape of unknown rank keeps what its ends tell: an edit that counts from the
front keeps the far end as long as the two cannot overlap, and the other way round.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NoReturn

from distml.shapes import Dim, Shape
from distml.values import Const

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call
    from distml.values import Value


def product(call: Call, dims: Sequence[Dim]) -> Dim:
    """The product of dimensions, a new symbol where it has grown out of hand."""
    return call.small(prod(dims, start=Dim.of(1)))


def axis_in(call: Call, value: Value, shape: Shape, extra: int = 0) -> int | None:
    """An axis argument: non-negative where the rank is known, as written where it is not.

    None when it is no known integer. Fails where the axis does not exist.
    """
    rank = call.facts.shape(shape).rank
    if rank is not None:
        return call.axis(value, rank, extra)
    number = value.value if isinstance(value, Const) else None
    return number if isinstance(number, int) else None


def replace_axes(call: Call, shape: Shape, start: int, count: int, new: Sequence[Dim]) -> Shape:
    """The shape with `count` axes from `start` replaced by `new`.

    A negative `start` counts from the back. Of an unknown rank it is learned that
    these axes exist; the result keeps what is known of the axes around them.
    """
    need = start + count if start >= 0 else -start
    if need:
        call.facts.axis(shape, need - 1 if start >= 0 else start)
    shape = call.facts.shape(shape)
    new = tuple(new)
    if shape.dims is not None:
        at = start if start >= 0 else len(shape.dims) + start
        return Shape(shape.dims[:at] + new + shape.dims[at + count :])
    keep = max(shape.least - need, 0)
    head, tail, size = shape.head, shape.tail, len(shape.tail)
    if start >= 0:
        head = head[:start] + new + head[need:]
        tail = tail[size - keep :] if keep < size else tail
    else:
        head = head[:keep]
        tail = tail[: size + start] + new + tail[size + start + count :]
    least = shape.least - count + len(new)
    return Shape(head, call.facts.unknown_shape().middle, tail, least)


def replace_axis(call: Call, shape: Shape, axis: int | None, size: Dim | None) -> Shape:
    """The shape with another size at one axis; None makes the size, or which axis, unknown."""
    shape = call.facts.shape(shape)
    if axis is not None:
        return replace_axes(call, shape, axis, 1, (call.symbol("size") if size is None else size,))
    if shape.dims is None:
        return call.facts.unknown_shape()
    return Shape(tuple(call.symbol("size") for _ in shape.dims))


def drop_axis(call: Call, shape: Shape, axis: int | None) -> Shape:
    """The shape without one axis; an axis that is not known leaves the rank."""
    if axis is not None:
        return replace_axes(call, shape, axis, 1, ())
    dims = call.facts.shape(shape).dims
    if dims is None:
        return call.facts.unknown_shape()
    return Shape(tuple(call.symbol("size") for _ in dims[1:]))


def unsqueeze(call: Call, shape: Shape, axis: Value) -> Shape:
    """A new axis of size 1 at `axis` (torch.unsqueeze)."""
    shape = call.facts.shape(shape)
    at = axis_in(call, axis, shape, extra=1)
    if at is None:
        if shape.dims is None:
            return call.facts.unknown_shape()
        return Shape(tuple(call.symbol("size") for _ in range(len(shape.dims) + 1)))
    # The axis counts in the result: -1 is behind the last one there is.
    start = at if at >= 0 else at + 1
    if start < 0 or at >= 0:
        return replace_axes(call, shape, start, 0, (Dim.of(1),))
    return append_axis(call, shape, Dim.of(1))


def append_axis(call: Call, shape: Shape, size: Dim) -> Shape:
    """One more axis behind the last."""
    shape = call.facts.shape(shape)
    if shape.dims is not None:
        return Shape((*shape.dims, size))
    middle = call.facts.unknown_shape().middle
    return Shape(shape.head, middle, (*shape.tail, size), shape.least + 1)


def expand_dims(call: Call, shape: Shape, axes: Value) -> Shape:
    """New axes of size 1 at several places of the result (numpy.expand_dims)."""
    items = call.items(axes)
    if items is None:
        return unsqueeze(call, shape, axes)
    shape = call.facts.shape(shape)
    if shape.dims is None:
        return call.facts.unknown_shape()
    rank = len(shape.dims) + len(items)
    places = [call.axis(item, rank) for item in items]
    if None in places:
        return Shape(tuple(call.symbol("size") for _ in range(rank)))
    _distinct(call, places, "SHP202")
    rest = iter(shape.dims)
    return Shape(tuple(Dim.of(1) if i in places else next(rest) for i in range(rank)))


def squeeze(call: Call, shape: Shape, axes: Value | None, strict: bool = False) -> Shape:
    """Without the axes of size 1: all of them for None, else those named.

    NumPy (`strict`) fails for a named axis of another size, torch leaves it alone.
    """
    shape = call.facts.shape(shape)
    if axes is None:
        return _drop_ones(call, shape, None)
    items = call.items(axes)
    if shape.dims is None and not (items is not None and len(items) != 1):
        return _squeeze_unranked(call, shape, axes if items is None else items[0], strict)
    if shape.dims is None:
        return call.facts.unknown_shape()
    named = call.axes(axes, len(shape.dims))
    if named is None or shape.dims == ():
        return shape if shape.dims == () else call.facts.unknown_shape()
    _distinct(call, named, "SHP202")
    if not strict:
        return _drop_ones(call, shape, named)
    for axis in named:
        require_one(call, shape, axis)
    return Shape(tuple(d for i, d in enumerate(shape.dims) if i not in named))


def require_one(call: Call, shape: Shape, axis: int) -> None:
    """Require an axis that is to be squeezed to have size 1."""
    call.require_equal(
        call.facts.axis(shape, axis),
        Dim.of(1),
        "SHP201",
        f"{call.text}: axis {axis} of {call.show(shape)} has size {{left}}, only size 1 can be squeezed",
    )


def _squeeze_unranked(call: Call, shape: Shape, axis: Value, strict: bool) -> Shape:
    at = axis_in(call, axis, shape)
    if at is None:
        return call.facts.unknown_shape()
    known = shape.at(at)
    if known is None and not strict:
        # It may be a scalar, and the axis may stay.
        return call.facts.unknown_shape()
    if strict:
        require_one(call, shape, at)
    elif known is not None and not known.differs(1) and known != 1:
        return call.facts.unknown_shape()
    elif known is not None and known != 1:
        return shape
    return replace_axes(call, shape, at, 1, ())


def _drop_ones(call: Call, shape: Shape, named: Sequence[int] | None) -> Shape:
    """Drop what is 1; a size that may or may not be 1 leaves the rank unknown."""
    if shape.dims is None:
        return call.facts.unknown_shape()
    doubtful: list[int] = []
    kept: list[tuple[int, Dim]] = []
    for axis, dim in enumerate(shape.dims):
        if dim.differs(1) or (named is not None and axis not in named):
            kept.append((axis, dim))
        elif dim != 1:
            doubtful.append(axis)
    if not doubtful:
        return Shape(tuple(d for _, d in kept))
    head = tuple(d for axis, d in kept if axis < doubtful[0])
    tail = tuple(d for axis, d in kept if axis > doubtful[-1])
    return Shape(head, call.facts.unknown_shape().middle, tail, len(kept))


def permute(call: Call, shape: Shape, axes: Sequence[Value] | None) -> Shape:
    """The axes in the order given (torch.permute, numpy.transpose); None: their number is unknown."""
    shape = call.facts.shape(shape)
    if axes is None:
        return _scrambled(call, shape)
    count = len(axes)
    if shape.rank is None:
        learned = call.facts.of_rank(shape, count)
        if learned is None:
            _wrong_count(call, shape, count)
        shape = learned
    if shape.rank != count:
        _wrong_count(call, shape, count)
    order = [call.axis(axis, count) for axis in axes]
    _distinct(call, order, "SHP205")
    missing = [i for i in range(count) if i not in order]
    if order.count(None) == 1:
        order[order.index(None)] = missing[0]
    return Shape(tuple(call.symbol("size") if at is None else shape.head[at] for at in order))


def _wrong_count(call: Call, shape: Shape, count: int) -> NoReturn:
    call.fail(
        "SHP205",
        f"{call.text}: {count} axes given, {call.show(shape)} has "
        + (str(shape.rank) if shape.rank is not None else f"at least {shape.least}"),
        *call.notes(*shape.head, *shape.tail),
        hint=_spread(shape, count),
    )


def _spread(shape: Shape, count: int) -> str | None:
    if shape.rank is not None and count == 3 and shape.rank == 4:
        return "the axis of the batch counts too: permute(0, ...) keeps it first"
    return None


def _distinct(call: Call, axes: Sequence[int | None], code: str) -> None:
    known = [axis for axis in axes if axis is not None]
    for axis in known:
        if known.count(axis) > 1:
            call.fail(code, f"{call.text}: axis {axis} is listed twice in {tuple(known)}")


def _scrambled(call: Call, shape: Shape) -> Shape:
    """The same axes in an order that is not known."""
    dims = shape.dims
    if dims is None:
        return call.facts.unknown_shape()
    if all(d == dims[0] for d in dims):
        return shape
    return Shape(tuple(call.symbol("size") for _ in dims))


def reverse(call: Call, shape: Shape) -> Shape:
    """All axes in reverse order (numpy's `.T`)."""
    shape = call.facts.shape(shape)
    if shape.dims is not None:
        return Shape(shape.dims[::-1])
    middle = call.facts.unknown_shape().middle
    return Shape(shape.tail[::-1], middle, shape.head[::-1], shape.least)


def swap_axes(call: Call, shape: Shape, first: Value, second: Value) -> Shape:
    """Two axes exchanged (torch.transpose, numpy.swapaxes)."""
    shape = call.facts.shape(shape)
    a, b = axis_in(call, first, shape), axis_in(call, second, shape)
    if shape.rank == 0 and not call.dialect.scalar_has_axes:
        call.fail("SHP202", f"{call.text}: a scalar has no axes to exchange")
    if shape.dims is not None:
        if a is None or b is None:
            return _scrambled(call, shape)
        dims = list(shape.dims)
        if dims:
            dims[a], dims[b] = dims[b], dims[a]
        return Shape(tuple(dims))
    if a is None or b is None:
        return call.facts.unknown_shape()
    return swap_unranked(call, shape, a, b)


def swap_unranked(call: Call, shape: Shape, a: int, b: int) -> Shape:
    """Two axes of a shape of unknown rank exchanged; they are learned to exist."""
    if {a, b} <= {0, -1}:
        # A scalar has these too.
        return shape if a == b else call.facts.unknown_shape()
    at_a, at_b = call.facts.axis(shape, a), call.facts.axis(shape, b)
    shape = call.facts.shape(shape)
    if at_a is None or at_b is None or shape.rank is not None:
        return swap_axes(call, shape, Const(a), Const(b))
    if a == b:
        return shape
    low, high = min(a, b), max(a, b)
    front, back = (at_a, at_b) if a < b else (at_b, at_a)
    if low >= 0:
        span = (back, *shape.head[low + 1 : high], front)
        return replace_axes(call, shape, low, high - low + 1, span)
    if high < 0:
        size = len(shape.tail)
        span = (back, *shape.tail[size + low + 1 : size + high], front)
        return replace_axes(call, shape, low, high - low + 1, span)
    if shape.least < high - low:
        # Which of the two lies in front depends on the rank.
        return call.facts.unknown_shape()
    # One counts from each end: what lies before the one and behind the other stays.
    head = (*shape.head[:high], front)
    tail = (back, *(shape.tail[len(shape.tail) + low + 1 :] if low < -1 else ()))
    return Shape(head, call.facts.unknown_shape().middle, tail, shape.least)


def move_axes(call: Call, shape: Shape, source: Value, destination: Value) -> Shape:
    """Axes moved to new places, the others in their order (torch.movedim, numpy.moveaxis)."""
    shape = call.facts.shape(shape)
    if shape.dims is None:
        return call.facts.unknown_shape()
    rank = len(shape.dims)
    sources, targets = call.axes(source, rank), call.axes(destination, rank)
    if sources is None or targets is None:
        return _scrambled(call, shape)
    if len(sources) != len(targets):
        call.fail("SHP205", f"{call.text}: {len(sources)} axes to move, {len(targets)} places to put them")
    _distinct(call, sources, "SHP205")
    _distinct(call, targets, "SHP205")
    placed = dict(zip(targets, sources, strict=True))
    rest = iter([i for i in range(rank) if i not in sources])
    if not rank:
        return shape
    return Shape(tuple(shape.dims[placed[i] if i in placed else next(rest)] for i in range(rank)))


def pad_front(call: Call, shape: Shape, rank: int) -> Shape:
    """At least `rank` axes, new ones of size 1 in front (numpy.array(ndmin=), numpy.atleast_2d)."""
    shape = call.facts.shape(shape)
    if shape.dims is not None:
        return Shape((Dim.of(1),) * max(rank - len(shape.dims), 0) + shape.dims)
    if shape.least >= rank:
        return shape
    return Shape((), call.facts.unknown_shape().middle, shape.tail, rank)


def at_least_3d(call: Call, shape: Shape) -> Shape:
    """numpy.atleast_3d, torch.atleast_3d: [n] gives [1, n, 1], [m, n] gives [m, n, 1]."""
    shape = call.facts.shape(shape)
    one = Dim.of(1)
    if shape.dims is None:
        return shape if shape.least >= 3 else Shape((), call.facts.unknown_shape().middle, (), 3)
    if len(shape.dims) >= 3:
        return shape
    if len(shape.dims) == 2:
        return Shape((*shape.dims, one))
    return Shape((one, *(shape.dims or (one,)), one))
