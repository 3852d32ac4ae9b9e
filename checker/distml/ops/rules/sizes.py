"""Size arguments: the shape that `zeros(size)` or `normal(size=size)` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.kinds import kind_of
from distml.shapes import Dim, Shape
from distml.values import Const, Opaque, Prim, ShapeSeq, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call


def shape_from(call: Call, value: Value) -> Shape:
    """The shape a size argument asks for: an integer, a sequence of them, or another's shape.

    The same unknown size asked for twice gives the same unknown shape. Fails with
    SHP603 on a size that is a float or certainly negative.
    """
    if isinstance(value, ShapeSeq):
        return call.facts.shape(value.shape)
    items = call.items(value)
    if items is not None:
        return of_items(call, items)
    _require_integer(call, value)
    sizes = call.sizes(value)
    if sizes is not None:
        return Shape(tuple(nonnegative(call, size) for size in sizes))
    if isinstance(value, Tensor):
        return _from_array(call, value)
    if not isinstance(value, Opaque):
        return call.facts.unknown_shape()
    key = ("shape asked for", value)
    if call.world.get(key) is None:
        call.world.put(key, call.facts.unknown_shape(value.name))
    return call.facts.shape(call.world.get(key))


def of_items(call: Call, items: Sequence[Value]) -> Shape:
    """The shape of these sizes, one an axis."""
    for item in items:
        _require_integer(call, item)
    return Shape(tuple(nonnegative(call, call.dim(item)) for item in items))


def nonnegative(call: Call, dim: Dim | None, what: str = "a dimension") -> Dim:
    """The size, learned not to be negative; a new symbol for None. Fails with SHP603 if it must be."""
    if dim is None:
        return call.symbol("size")
    dim = call.facts.dim(dim)
    high = (-dim).low
    if high is not None and high > 0:
        call.fail("SHP603", f"{call.text}: {what} cannot be negative, gets {dim}", *call.notes(dim))
    return call.small(call.facts.nonnegative(dim))


def _from_array(call: Call, value: Tensor) -> Shape:
    """A size given as an array: one integer, or a vector with one size an axis."""
    shape = call.shape(value)
    if value.number is not None:
        return of_items(call, (value.number,))
    count = shape.dims[0].constant if shape.rank == 1 and shape.dims is not None else None
    if shape.rank == 0:
        return Shape((call.symbol("size"),))
    if count is None or count > 32:
        return call.facts.unknown_shape()
    return Shape(tuple(call.symbol("size") for _ in range(count)))


def _require_integer(call: Call, value: Value) -> None:
    wrong = no_integer(value)
    if wrong is not None:
        call.fail("SHP603", f"{call.text}: a dimension must be an integer, gets {wrong[0]}", hint=wrong[1])


def no_integer(value: Value) -> tuple[str, str | None] | None:
    """What a value is that is certainly no integer, and what to write instead; None where it may be one."""
    if isinstance(value, Const) and isinstance(value.value, float):
        whole = value.value.is_integer()
        hint = f"use {int(value.value)}, or // where it is computed" if whole else "divide with // instead of /"
        return f"the float {value.value}", hint
    if isinstance(value, Const) and isinstance(value.value, str | bytes):
        return f"the text {value.value[:40]!r}", None
    if isinstance(value, Tup):
        return "a tuple", None
    if isinstance(value, Prim | Tensor) and kind_of(value) == "float":
        return "a float", "use // where it is computed, or int(...)"
    return None
