"""Contraction: the matrix product and its relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from distml.ops.call import Call


def matmul(call: Call, left: Shape, right: Shape) -> Shape:
    """The shape of `left @ right`.

    Vectors are promoted to matrices and the added axis dropped; the last axis of
    the left meets the second last of the right; the axes before broadcast.
    (Python array API, `matmul`; NumPy and PyTorch agree.)
    """
    left, right = _operand(call, left, "left"), _operand(call, right, "right")
    _contract(call, left, right)
    left, right = call.facts.shape(left), call.facts.shape(right)
    if left.dims is None or right.dims is None:
        return _unknown(call, left, right)
    batch = call.broadcast(
        Shape(left.dims[:-2]), Shape(right.dims[:-2]), message=f"{call.text}: batch axes"
    )
    rows = left.dims[-2:-1]
    columns = right.dims[-1:] if len(right.dims) > 1 else ()
    return Shape(batch.head + rows + columns)


def _operand(call: Call, shape: Shape, side: str) -> Shape:
    known = call.facts.at_least(shape, 1)
    if known is None:
        call.fail("SHP301", f"{call.text}: the {side} operand is a scalar, needs at least 1 axis")
    return known


def _contract(call: Call, left: Shape, right: Shape) -> None:
    inner = call.facts.axis(left, -1)
    if right.rank is None and right.least < 2:
        # A vector or a matrix: the axis that meets `inner` is not settled.
        return
    outer = call.facts.axis(right, -1 if right.rank == 1 else -2)
    call.require_equal(
        inner,
        outer,
        "SHP101",
        f"{call.text}: {call.show(left)} @ {call.show(right)}: "
        "{left} columns on the left meet {right} rows on the right",
    )


def _unknown(call: Call, left: Shape, right: Shape) -> Shape:
    """At least one rank is unknown: keep the matrix axes where both are matrices."""
    shape = call.facts.unknown_shape()
    if left.least < 2 or right.least < 2:
        return shape
    rows, columns = call.facts.axis(left, -2), call.facts.axis(right, -1)
    tail: tuple[Dim, ...] = tuple(d for d in (rows, columns) if d is not None)
    return Shape((), shape.middle, tail, max(left.least, right.least))
