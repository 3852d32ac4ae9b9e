"""Reductions: which axes a sum, a maximum or a norm takes away."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Literal

from distml.ops.call import UNKNOWN
from distml.ops.rules.axes import drop_axis, replace_axis
from distml.ops.rules.elements import extreme
from distml.shapes import Dim, Shape
from distml.values import Tensor

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value


def reduced(call: Call, shape: Shape, axes: Value, keep: Value) -> Shape:
    """The shape after reducing over `axes`: None for all, one axis or a sequence of them.

    `keep` leaves axes of size 1. What an empty sequence means is for the dialect to say.
    """
    shape = call.facts.shape(shape)
    keeps = call.flag(keep)
    absent = call.is_none(axes)
    items = call.items(axes)
    if absent or (items == () and call.dialect.no_axes_is_all):
        return _all(call, shape, keeps)
    if items == ():
        return shape
    if absent is None or keeps is None or (items is None and call.const(axes, int) is UNKNOWN):
        return _some(call, shape, keeps, 1 if _is_one_axis(call, axes) else None)
    if items is not None and len(items) > 1:
        return _several(call, shape, items, keeps)
    return one_axis(call, shape, axes if items is None else items[0], keeps)


def one_axis(call: Call, shape: Shape, axis: Value, keeps: bool) -> Shape:
    """The shape after reducing over one axis; a scalar lets 0 and -1 pass."""
    shape = call.facts.shape(shape)
    number = call.const(axis, int)
    if shape.dims is None:
        if number is UNKNOWN or (number in (0, -1) and shape.least == 0):
            return call.facts.unknown_shape()
        at: int | None = number
    else:
        at = call.axis(axis, len(shape.dims))
        if not shape.dims:
            return shape
    return replace_axis(call, shape, at, Dim.of(1)) if keeps else drop_axis(call, shape, at)


def _is_one_axis(call: Call, axes: Value) -> bool:
    return call.items(axes) is None and call.const(axes) is UNKNOWN and call.dtype(axes) == "int"


def _all(call: Call, shape: Shape, keeps: bool | None) -> Shape:
    if keeps is False or shape.dims == ():
        return Shape.of()
    if keeps is None or shape.dims is None:
        return call.facts.unknown_shape()
    return Shape.of(*(1 for _ in shape.dims))


def _some(call: Call, shape: Shape, keeps: bool | None, count: int | None) -> Shape:
    """Axes that are not known: only the rank can be told."""
    if shape.dims is None or keeps is None or (count is None and not keeps):
        return call.facts.unknown_shape()
    rank = len(shape.dims) if keeps else max(len(shape.dims) - (count or 0), 0)
    return Shape(tuple(call.symbol("size") for _ in range(rank)))


def _several(call: Call, shape: Shape, items: tuple[Value, ...], keeps: bool) -> Shape:
    rank = None if shape.dims is None else len(shape.dims)
    places = [call.axis(item, rank) for item in items]
    if shape.dims is None or any(place is None for place in places):
        return _some(call, shape, keeps, len(items))
    if len(set(places)) < len(places):
        call.fail("SHP202", f"{call.text}: an axis of {call.show(shape)} is listed twice in {_listed(items)}")
    if keeps:
        return Shape(tuple(Dim.of(1) if i in places else d for i, d in enumerate(shape.dims)))
    return Shape(tuple(d for i, d in enumerate(shape.dims) if i not in places))


def _listed(items: tuple[Value, ...]) -> str:
    return f"({', '.join(repr(item) for item in items)})"


Fold = Literal["sum", "prod", "max", "min"]


def folded(call: Call, array: Value, fold: Fold) -> tuple[Value, ...] | None:
    """The one element that is left of an array of which all are known: the product of a shape is a size."""
    content = array.content if isinstance(array, Tensor) else None
    if fold in ("max", "min"):
        best = extreme(call, content or (), largest=fold == "max")
        return None if best is None else (best,)
    dims = [call.dim(value) for value in content or ()]
    known = [dim for dim in dims if dim is not None]
    if not known or len(known) < len(dims):
        return None
    total = sum(known, Dim.of(0)) if fold == "sum" else prod(known, start=Dim.of(1))
    return (call.number(call.small(total)),)
