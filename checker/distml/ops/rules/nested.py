"""Tensors as Python's own lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.values import ListRecord, Prim, Value

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.shapes import Shape

MAX_LISTED = 64
"""Longer lists are known by their length and what one item is."""


def nested(call: Call, shape: Shape, kind: str | None) -> Value:
    """`x.tolist()`: numbers of a kind, in lists as deep as the shape has axes."""
    shape = call.facts.shape(shape)
    leaf = call.unknown("item") if kind is None else Prim(kind)
    if shape.dims is None:
        return call.unknown("list")
    inner: Value = leaf
    for dim in reversed(shape.dims):
        count = dim.constant if inner is leaf else None
        if count is not None and count <= MAX_LISTED:
            inner = call.list_of((leaf,) * count)
        else:
            inner = call.world.allocate(ListRecord(None, inner, dim))
    return inner
