"""Distances between rows, and the losses that compare pairs and triples of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.axes import axis_in, drop_axis
from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value

CODE = "SHP501"


def require_axis(call: Call, shape: Shape, dim: Value) -> int | None:
    """The axis exists (SHP202); of an unknown rank that is learned."""
    at = axis_in(call, dim, shape)
    # A scalar has the axes 0 and -1, so that these tell nothing of the rank.
    if at is not None and shape.rank is None and at not in (0, -1):
        call.facts.axis(shape, at)
    return at


def pair(call: Call, left: Value, right: Value) -> Shape:
    """Two inputs that broadcast."""
    return call.broadcast(call.shape(left), call.shape(right), message=call.text)


def without_axis(call: Call, shape: Shape, dim: Value) -> Shape:
    """The shape without an axis; unknown where the axis is."""
    at = require_axis(call, shape, dim)
    if shape.rank == 0:
        return shape
    return call.facts.unknown_shape() if at is None else drop_axis(call, shape, at)


def row_distance(call: Call, left: Value, right: Value, keep: bool | None) -> Shape:
    """The norm of the difference along the last axis (torch.nn.functional.pairwise_distance)."""
    shape = pair(call, left, right)
    if shape.dims is None or keep is None:
        return call.facts.unknown_shape()
    if not shape.dims:
        return shape
    return Shape((*shape.dims[:-1], Dim.of(1)) if keep else shape.dims[:-1])


def rows(call: Call, shape: Shape) -> Shape:
    """One number a row."""
    shape = call.facts.shape(shape)
    return call.facts.unknown_shape() if shape.dims is None else Shape(shape.dims[:-1])


def same_rank_loss(call: Call, inputs: dict[str, Value]) -> Shape:
    """Inputs that have the same number of axes and broadcast (SHP501)."""
    shapes = {name: call.shape(value) for name, value in inputs.items()}
    ranks = {shape.rank for shape in shapes.values()} - {None}
    if len(ranks) > 1:
        shown = ", ".join(f"{name} {shape!r}" for name, shape in shapes.items())
        call.fail(CODE, f"{call.text} needs inputs with the same number of axes: {shown}")
    return call.broadcast(*shapes.values(), code=CODE, message=call.text)


def cosine_embedding(call: Call, left: Value, right: Value, target: Value) -> Shape:
    """Rows (N, D) with a target (N,), or vectors (D,) with a scalar."""
    shape = call.shape(target)
    if shape.rank not in (None, 0, 1):
        call.fail(CODE, f"{call.text} needs a target (N,) or a scalar, gets {shape!r}", hint="squeeze the target")
    if shape.rank is None:
        return call.facts.unknown_shape()
    rank = shape.rank + 1
    sides = [call.of_rank(call.shape(v), rank, what=f"for a target {shape!r} inputs") for v in (left, right)]
    both = call.broadcast(*sides, code=CODE, message=call.text)
    if rank == 1 or both.dims is None:
        return Shape(())
    return call.broadcast(Shape(both.dims[:1]), shape, code=CODE, message=f"{call.text}: rows and target")


def ctc(call: Call, log_probs: Value, targets: Value, lengths: tuple[Value, Value]) -> Shape:
    """(T, N, C) against (N, S) or all targets in a row, with N lengths of each."""
    scores = call.of_rank(call.shape(log_probs), 2, 3, what="log_probs")
    if scores.rank is None:
        return call.facts.unknown_shape()
    if scores.rank == 2:
        return Shape(())
    batch = scores.head[1]
    shape = call.shape(targets)
    if shape.rank == 2:
        text = f"{call.text}: log_probs {scores!r} has a batch of {{left}}, targets {shape!r} one of {{right}}"
        call.require_equal(batch, shape.head[0], CODE, text, hint="log_probs is (time, batch, classes)")
    for name, value in zip(("input_lengths", "target_lengths"), lengths, strict=True):
        given = call.shape(value)
        if given.rank == 1:
            text = f"{call.text}: log_probs {scores!r} has a batch of {{left}}, there are {{right}} {name}"
            call.require_equal(batch, given.head[0], CODE, text, hint="log_probs is (time, batch, classes)")
    return Shape((batch,))
