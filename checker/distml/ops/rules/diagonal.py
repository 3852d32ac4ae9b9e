"""Diagonals: taking them out of matrices and making matrices of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import UNKNOWN
from distml.ops.rules.slices import surplus
from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value


def diagonal_length(call: Call, rows: Dim, columns: Dim, offset: Value) -> Dim:
    """The length of a diagonal: of a square matrix without offset, its side."""
    shift = call.const(offset, int)
    if shift is UNKNOWN:
        return call.symbol("diagonal")
    if rows == columns:
        return surplus(call, rows - abs(shift))
    rows, columns = (rows, columns - shift) if shift >= 0 else (rows + shift, columns)
    shorter = rows - surplus(call, rows - columns)
    return shorter if shift == 0 else surplus(call, shorter)


def diagonal(call: Call, shape: Shape, offset: Value, first: Value, second: Value) -> Shape:
    """The two axes taken away, the diagonal behind the others (torch.diagonal, numpy.diagonal)."""
    known = call.facts.at_least(shape, 2)
    if known is None:
        call.fail("SHP301", f"{call.text} needs at least 2 axes, gets {call.show(shape)}")
    if known.dims is None:
        unknown = call.facts.unknown_shape()
        return Shape((), unknown.middle, (call.symbol("diagonal"),), known.least - 1)
    a, b = call.axis(first, len(known.dims)), call.axis(second, len(known.dims))
    if a is None or b is None:
        return Shape(tuple(call.symbol("size") for _ in known.dims[1:]))
    if a == b:
        call.fail("SHP202", f"{call.text}: both axes are axis {a} of {known!r}")
    length = diagonal_length(call, known.dims[a], known.dims[b], offset)
    return Shape((*(d for i, d in enumerate(known.dims) if i not in (a, b)), length))


def diag(call: Call, shape: Shape, offset: Value) -> Shape:
    """A vector becomes a matrix, a matrix gives its diagonal (torch.diag, numpy.diag)."""
    shape = call.of_rank(shape, 1, 2)
    if shape.dims is None:
        return call.facts.unknown_shape()
    if len(shape.dims) == 2:
        return Shape((diagonal_length(call, *shape.dims, offset),))
    side = _side(call, shape.dims[0], offset)
    return Shape((side, side))


def embedded(call: Call, shape: Shape, offset: Value, first: Value, second: Value) -> Shape:
    """The last axis becomes the diagonal of a matrix at the axes named (torch.diag_embed)."""
    known = call.facts.at_least(shape, 1)
    if known is None:
        call.fail("SHP301", f"{call.text} needs at least 1 axis, gets a scalar")
    if known.dims is None:
        return call.facts.unknown_shape()
    rank = len(known.dims) + 1
    places = [call.axis(first, rank), call.axis(second, rank)]
    side = _side(call, known.dims[-1], offset)
    if None in places:
        return Shape(tuple(call.symbol("size") for _ in range(rank)))
    if places[0] == places[1]:
        call.fail("SHP202", f"{call.text}: both axes are axis {places[0]}")
    rest = iter(known.dims[:-1])
    return Shape(tuple(side if i in places else next(rest) for i in range(rank)))


def _side(call: Call, length: Dim, offset: Value) -> Dim:
    shift = call.const(offset, int)
    return call.symbol("side") if shift is UNKNOWN else length + abs(shift)
