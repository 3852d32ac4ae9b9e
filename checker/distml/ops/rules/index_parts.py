"""What stands between the brackets of `x[...]`, sorted by what it does to axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.rules.index_kinds import require_index
from distml.ops.rules.kinds import kind_of
from distml.shapes import Dim, Shape
from distml.values import NONE, Const, Lib, ListRecord, Many, Num, Prim, Range, Ref, Slice, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


class Part(NamedTuple):
    """One item of an index.

    `kind` is "int", "slice", "none" (a new axis), "dots", "array", "mask" or
    "unknown"; `axes` how many axes it takes. For arrays and masks `shape` is theirs;
    `trues` is the number of True in a mask, `known` elements of an array.
    """

    kind: str
    axes: int
    value: Value = NONE
    shape: Shape = Shape(())
    trues: Dim = Dim.of(0)
    known: tuple[Value, ...] = ()


UNKNOWN_PART = Part("unknown", 0)


def parse(call: Call, index: Value, lib: str) -> list[Part] | None:
    """The parts of an index, in order; None when not even their number is known. Fails with SHP309 on floats."""
    require_index(call, index)
    if isinstance(index, Tup):
        return [_part(call, item, lib) for item in index.items]
    part = _part(call, index, lib)
    if part.kind == "unknown":
        return None
    return [part]


def _part(call: Call, item: Value, lib: str) -> Part:
    if isinstance(item, Slice):
        return Part("slice", 1, item)
    if isinstance(item, Const):
        return _constant(item)
    if isinstance(item, Num) or item == Prim("int"):
        return Part("int", 1, item)
    if isinstance(item, Lib) and item.name.endswith(".newaxis"):
        return Part("none", 0)
    if isinstance(item, Tensor):
        return _array(call, item)
    if isinstance(item, Tup | Ref | Range | Many):
        return _sequence(call, item, lib)
    return UNKNOWN_PART


def _constant(item: Const) -> Part:
    value = item.value
    if value is None:
        return Part("none", 0)
    if value is Ellipsis:
        return Part("dots", 0)
    if isinstance(value, bool):
        return Part("mask", 0, item, trues=Dim.of(int(value)))
    return Part("int", 1, item) if isinstance(value, int) else UNKNOWN_PART


def _array(call: Call, item: Tensor) -> Part:
    shape = call.shape(item)
    if item.dtype == "bool":
        if shape.dims is None:
            return UNKNOWN_PART
        return Part("mask", len(shape.dims), item, shape, call.chosen(shape))
    if item.dtype is None:
        # A mask or indices: of a vector, both take one axis and leave one.
        return Part("array", 1, item, Shape((call.symbol("count"),))) if shape.rank == 1 else UNKNOWN_PART
    if item.dtype != "int":
        return UNKNOWN_PART
    if shape.rank == 0:
        return Part("int", 1, item if item.content is None else item.content[0])
    return Part("array", 1, item, shape, known=item.numbers)


def _sequence(call: Call, item: Value, lib: str) -> Part:
    """A list of integers is an array of them, a list of truth values a mask."""
    record = call.world.record(item) if isinstance(item, Ref) else None
    if isinstance(item, Ref) and not isinstance(record, ListRecord):
        return UNKNOWN_PART
    items = call.items(item)
    if items is None:
        return _uniform(call, item, record if isinstance(record, ListRecord) else None)
    kinds = {_kind(call, value) for value in items}
    if kinds <= {"int"}:
        return Part("array", 1, item, Shape.of(len(items)), known=items)
    if kinds == {"bool"}:
        known = all(isinstance(v, Const) for v in items)
        count = Dim.of(sum(call.flag(v) is True for v in items)) if known else call.symbol("count")
        return Part("mask", 1, item, Shape.of(len(items)), count)
    if lib == "numpy" and kinds == {"nested"}:
        return _nested(call, item, items)
    return UNKNOWN_PART


def _kind(call: Call, value: Value) -> str | None:
    if isinstance(value, Const | Num | Prim):
        return kind_of(value)
    return "nested" if isinstance(value, Tup | Ref) else None


def _nested(call: Call, item: Value, items: tuple[Value, ...]) -> Part:
    rows = [call.items(row) for row in items]
    if all(row is not None and {_kind(call, v) for v in row} == {"int"} for row in rows):
        return Part("array", 1, item, call.shape(item))
    return UNKNOWN_PART


def _uniform(call: Call, item: Value, record: ListRecord | None) -> Part:
    """A sequence of unknown length whose items are all alike."""
    inner = record.item if record is not None else item.item if isinstance(item, Many) else NONE
    length = record.length if record is not None else item.length if isinstance(item, Many) else None
    shape = Shape((call.symbol("length") if length is None else length,))
    if isinstance(item, Range) or (inner is not None and _kind(call, inner) == "int"):
        return Part("array", 1, item, shape)
    if inner is not None and _kind(call, inner) == "bool":
        return Part("mask", 1, item, shape, call.chosen(shape))
    return UNKNOWN_PART
