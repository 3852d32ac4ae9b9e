"""`x[i]`, `x[i] = v`, `del x[i]` and `i in x` on Python's own containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import UNKNOWN
from distml.ops.python.comparing import contains
from distml.ops.python.dicts import dict_get, dict_remove, dict_set
from distml.ops.python.folding import FAILURES, MAX_ITEMS, compute, python
from distml.ops.python.joined import length_of
from distml.ops.python.likeness import either, fresh, kind_of
from distml.ops.python.sliced import slice_of
from distml.ops.registry import op
from distml.ops.rules.index_kinds import require_place
from distml.shapes import Dim
from distml.values import (
    NONE,
    SHAPE,
    SHAPE_KINDS,
    SIZES,
    Claimed,
    Const,
    DictRecord,
    InstanceRecord,
    ListRecord,
    Many,
    Num,
    Prim,
    Range,
    Ref,
    ShapeSeq,
    Slice,
    Tup,
    Union,
    Value,
    as_bool,
    union,
)

if TYPE_CHECKING:
    from distml.ops.call import Call

_SEQUENCES = ("list", "tuple", "str", "bytes", "bytearray", "range", "dict")


def methods(name: str, *types: str) -> tuple[str, ...]:
    """The qualified names of a method on several built-in types."""
    return tuple(f"builtins.{kind}.{name}" for kind in types)


@op(*methods("__getitem__", *_SEQUENCES), "collections.deque.__getitem__", "operator.getitem")
def getitem(call: Call, self: Value, index: Value) -> Value:
    """`self[index]`: https://docs.python.org/3/reference/datamodel.html#object.__getitem__"""
    if isinstance(self, Union):
        return union([getitem(call, option, index) for option in self.options])
    if isinstance(index, Union) and not isinstance(self, Ref):
        return union([getitem(call, self, option) for option in index.options])
    if _is_own(call, self):
        require_place(call, index)
    if isinstance(index, Slice):
        return slice_of(call, self, index)
    if isinstance(self, ShapeSeq):
        return _shape_item(call, self, index)
    if isinstance(self, Tup | Range):
        return _sequence_item(call, self, index)
    if isinstance(self, Many):
        return self.item if self.same else fresh(call, self.item)
    if isinstance(self, Const | Prim):
        return _text_item(call, self, index)
    record = call.world.record(self) if isinstance(self, Ref) else None
    if isinstance(record, ListRecord):
        return _list_item(call, record, index)
    if isinstance(record, DictRecord) and isinstance(self, Ref):
        return dict_get(call, self, record, index)
    if isinstance(record, InstanceRecord) and "__items__" in record.attrs:
        return getitem(call, record.attrs["__items__"], index)
    return call.unknown()


def _is_own(call: Call, value: Value) -> bool:
    """Whether a value is certainly one of Python's own sequences, and not what an annotation or a name takes for one."""
    if isinstance(value, Tup):
        return value.kind in ("tuple", *SHAPE_KINDS) and not isinstance(value, Claimed)
    record = call.world.record(value) if isinstance(value, Ref) else None
    return isinstance(value, Range) or isinstance(record, ListRecord)


def _sequence_item(call: Call, self: Tup | Range, index: Value) -> Value:
    items = call.items(self)
    position = call.const(index, int)
    if items is None:
        return _range_item(call, self, index) if isinstance(self, Range) else call.unknown()
    if position is UNKNOWN:
        return either(call, items) if may_be_integer(index) else call.unknown()
    if -len(items) <= position < len(items):
        found: Value = items[position]
        return found
    return _outside(call, self, position, len(items))


def _outside(call: Call, self: Value, position: int, length: int) -> Value:
    """An index past the end: an `IndexError`, which is a finding where the tuple is a shape."""
    if isinstance(self, Tup) and self.kind in (SIZES, SHAPE):
        call.fail(
            "SHP302",
            f"the shape {_shown(self)} has no axis {position}: it has {length} {'axis' if length == 1 else 'axes'}",
        )
    return call.unknown()


def _shown(shape: Tup) -> str:
    return f"[{', '.join(str(item.dim if isinstance(item, Num) else item) for item in shape.items)}]"


def may_be_integer(index: Value) -> bool:
    """Whether an index may be an integer."""
    return kind_of(index) in ("int", "bool", None) and index != NONE


def _shape_item(call: Call, self: ShapeSeq, index: Value) -> Value:
    """An axis of a shape of unknown rank, which becomes known to have that axis."""
    shape = call.facts.shape(self.shape)
    if shape.rank is not None:
        return _sequence_item(call, Tup(call.items(self) or (), "size"), index)
    position = call.const(index, int)
    if position is UNKNOWN or abs(position) > MAX_ITEMS:
        return call.number(call.symbol("size"))
    dim = call.facts.axis(shape, position)
    return call.unknown() if dim is None else call.number(dim)


def _range_item(call: Call, self: Range, index: Value) -> Value:
    from distml.ops.python.arithmetic import binary

    position = call.const(index, int)
    if position is UNKNOWN or position < 0:
        return call.number(call.symbol("i", None))
    step = binary(call, "*", index, self.step)
    found = None if step is None else binary(call, "+", self.start, step)
    return found if found is not None else call.number(call.symbol("i", None))


def _text_item(call: Call, self: Const | Prim, index: Value) -> Value:
    kind = kind_of(self)
    found = compute(call, lambda text, at: text[at], self, index)
    if found is not None:
        return found
    if kind == "str":
        return Prim("str")
    return call.number(call.symbol("byte")) if kind == "bytes" else call.unknown()


def _list_item(call: Call, record: ListRecord, index: Value) -> Value:
    if record.items is None:
        if record.item is None or not may_be_integer(index):
            return call.unknown()
        return record.item if record.same else fresh(call, record.item)
    position = call.const(index, int)
    if position is UNKNOWN:
        return either(call, record.items) if may_be_integer(index) else call.unknown()
    found = record.items[position] if -len(record.items) <= position < len(record.items) else None
    return call.unknown() if found is None else found


@op(*methods("__setitem__", "list", "dict", "bytearray"), "collections.deque.__setitem__", "operator.setitem")
def setitem(call: Call, self: Value, index: Value, value: Value) -> Value:
    """`self[index] = value`: https://docs.python.org/3/reference/datamodel.html#object.__setitem__"""
    record = call.world.record(self) if isinstance(self, Ref) else None
    if isinstance(record, ListRecord) and isinstance(self, Ref):
        call.world.replace(self, _list_with(call, record, index, value))
    elif isinstance(record, DictRecord) and isinstance(self, Ref):
        dict_set(call, self, record, index, value)
    elif isinstance(record, InstanceRecord) and "__items__" in record.attrs:
        setitem(call, record.attrs["__items__"], index, value)
    return NONE


def _list_with(call: Call, record: ListRecord, index: Value, value: Value) -> ListRecord:
    if isinstance(index, Slice):
        return _list_with_slice(call, record, index, value)
    items = record.items
    if items is None:
        item = None if record.item is None else either(call, [record.item, value])
        return ListRecord(None, item, record.length)
    position = call.const(index, int)
    if position is UNKNOWN:
        # One of them is changed, each may be.
        return ListRecord(tuple(either(call, [item, value]) for item in items))
    if not -len(items) <= position < len(items):
        return record
    changed = list(items)
    changed[position] = value
    return ListRecord(tuple(changed))


def _list_with_slice(call: Call, record: ListRecord, index: Slice, value: Value) -> ListRecord:
    place = python(index)
    given = call.iterate(value)
    if record.items is not None and isinstance(place, slice) and isinstance(given, tuple):
        changed = list(record.items)
        try:
            changed[place] = given
        except FAILURES:
            return record
        return ListRecord(tuple(changed)) if len(changed) <= MAX_ITEMS else ListRecord(None)
    return ListRecord(None)


@op(*methods("__delitem__", "list", "dict", "bytearray"), "collections.deque.__delitem__", "operator.delitem")
def delitem(call: Call, self: Value, index: Value) -> Value:
    """`del self[index]`: https://docs.python.org/3/reference/datamodel.html#object.__delitem__"""
    record = call.world.record(self) if isinstance(self, Ref) else None
    if isinstance(record, ListRecord) and isinstance(self, Ref):
        call.world.replace(self, list_without(call, record, index))
    elif isinstance(record, DictRecord) and isinstance(self, Ref):
        dict_remove(call, self, record, index)
    elif isinstance(record, InstanceRecord) and "__items__" in record.attrs:
        delitem(call, record.attrs["__items__"], index)
    return NONE


def list_without(call: Call, record: ListRecord, index: Value) -> ListRecord:
    """The list after `del items[index]`."""
    place = python(index)
    if record.items is not None and isinstance(place, int | slice):
        changed = list(record.items)
        try:
            del changed[place]
        except FAILURES:
            return record
        return ListRecord(tuple(changed))
    length = length_of(record)
    one = length is not None and not isinstance(index, Slice) and may_be_integer(index)
    item = record.item if record.items is None else either(call, record.items) if record.items else None
    return ListRecord(None, item, length - Dim.of(1) if one and length is not None else None, record.same)


@op(*methods("__contains__", *_SEQUENCES, "set", "frozenset"), "collections.deque.__contains__", "operator.contains")
def contains_op(call: Call, self: Value, item: Value) -> Value:
    """`item in self`: https://docs.python.org/3/reference/expressions.html#membership-test-operations"""
    answer = contains(call, self, item)
    return as_bool(answer)
