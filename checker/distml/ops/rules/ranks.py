"""Inputs that may have one of several ranks: an image with or without a batch axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import ShapeError
from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.ops.call import Call
    from distml.values import Value

Dims = tuple[Dim, ...]


def rank_of(call: Call, shape: Shape) -> Dim:
    """The number of axes: for an unknown rank one symbol, the same whenever and however it is asked for."""
    known = call.facts.shape(shape)
    if known.rank is not None:
        return Dim.of(known.rank)
    key = ("rank", known.middle)
    found: Dim | None = call.world.get(key)
    if found is None:
        found = call.symbol("rank", known.least)
        call.world.put(key, found)
    return found


def each_rank(
    call: Call,
    shape: Shape,
    ranks: Sequence[int],
    rule: Callable[[Dims], Value],
    what: str = "an input",
) -> Value:
    """`rule` of the dimensions, once for each of `ranks` that the shape may have.

    For an unknown rank the result is any of those; it fails only where all of them
    fail. A rule that is tried so must not learn what holds for one rank only.
    """
    shape = call.of_rank(shape, *ranks, what=what)
    if shape.dims is not None:
        return rule(shape.dims)
    results, failure = [], None
    for rank in ranks:
        dims = as_rank(call, shape, rank)
        if dims is None:
            continue
        try:
            results.append(rule(dims))
        except ShapeError as error:
            failure = failure or error
    if failure is not None and not results:
        raise failure
    return call.any_of(*results) if results else call.unranked()


def as_rank(call: Call, shape: Shape, rank: int) -> Dims | None:
    """The dimensions `shape` has if its rank is `rank`, None if that cannot be.

    Learns nothing; the same question gives the same symbols again.
    """
    shape = call.facts.shape(shape)
    if shape.dims is not None:
        return shape.dims if len(shape.dims) == rank else None
    if shape.least > rank:
        return None
    dims: list[Dim | None] = [None] * rank
    dims[: len(shape.head)] = shape.head
    for axis, dim in enumerate(shape.tail, rank - len(shape.tail)):
        known = dims[axis]
        if known is not None and known.differs(dim):
            return None
        dims[axis] = dim
    return tuple(d if d is not None else _axis(call, shape, rank, i) for i, d in enumerate(dims))


def _axis(call: Call, shape: Shape, rank: int, axis: int) -> Dim:
    key = ("axis", shape.middle, rank, axis)
    known = call.world.get(key)
    if known is None:
        name = shape.middle.name if shape.middle is not None else "axis"
        known = call.symbol("batch" if axis == 0 else f"{name}{axis}")
        call.world.put(key, known)
    return call.facts.dim(known)


def match(call: Call, left: Dim | None, right: Dim | None, code: str, message: str, sure: bool = True) -> None:
    """Require two dimensions to be equal; learn it only where the rank is `sure`."""
    if sure:
        call.require_equal(left, right, code, message)
        return
    if left is None or right is None:
        return
    left, right = call.facts.dim(left), call.facts.dim(right)
    if left.differs(right):
        text = message.replace("{left}", str(left)).replace("{right}", str(right))
        call.fail(code, text, *call.notes(left, right))


def same_shape(call: Call, left: Shape, right: Shape, code: str, message: str) -> Shape:
    """Require two shapes to be the same, and give it."""
    left, right = call.facts.shape(left), call.facts.shape(right)
    if left.rank is None and right.rank is None:
        return left
    if left.rank is None:
        return same_shape(call, right, left, code, message)
    learned = call.facts.of_rank(right, left.rank)
    if learned is None or learned.dims is None or left.dims is None:
        call.fail(code, message, *call.notes(*left.head, *right.head, *right.tail))
    for a, b in zip(left.dims, learned.dims, strict=True):
        call.require_equal(a, b, code, message)
    return call.facts.shape(left)
