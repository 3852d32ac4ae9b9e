"""Iteration over Python's own values, and the iterators that come of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, UNKNOWN
from distml.ops.python.dicts import keys_of
from distml.ops.python.folding import MAX_ITEMS
from distml.ops.python.likeness import either, fresh, low_of, remembered
from distml.ops.rules.one_value import require_items
from distml.shapes import Dim, Shape
from distml.values import (
    Const,
    DictRecord,
    InstanceRecord,
    IteratorRecord,
    ListRecord,
    Many,
    Num,
    Prim,
    Range,
    Ref,
    SetRecord,
    ShapeSeq,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call

ENDLESS = "endless"
"""The kind of a `Many` that has no end."""

EXHAUSTING = frozenset(
    f"builtins.{name}"
    for name in "dict frozenset list max min set sorted sum tuple str.join list.extend set.update dict.update".split()
)
"""What draws all there is. Others may stop before the end (`any`, `zip`, a loop with `break`), or not begin yet (`map`)."""

LAZY = frozenset(
    {"builtins.map", "builtins.filter"}
    | {f"itertools.{name}" for name in "accumulate dropwhile filterfalse groupby starmap takewhile".split()}
)
"""What calls a function each time that an item is drawn."""

MAX_CALLS = 256
"""A function is called for each item of a sequence of at most this many."""

MAX_ROWS = 64
"""A tensor of at most this many rows is iterated row by row."""


def drawn(call: Call, value: Value) -> tuple[Value, ...] | Many:
    """What iterating gives; Python's own sequences and iterators are read here, which keeps their lengths."""
    require_items(call, value)
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(value, Many | Range) or isinstance(record, ListRecord | IteratorRecord):
        return iterate(call, value)
    return call.iterate(value)


def side_by_side(call: Call, iterables: Sequence[Value]) -> list[tuple[Value, ...] | Many]:
    """What iterating over values side by side gives in each place: an iterator that stands in several places gives its
    items to them in turn."""
    places: dict[Value, list[int]] = {}
    for index, value in enumerate(iterables):
        shared = isinstance(value, Ref) and isinstance(call.world.record(value), IteratorRecord)
        places.setdefault(value if shared else Const(index), []).append(index)
    found: dict[int, tuple[Value, ...] | Many] = {}
    for indices in places.values():
        items = drawn(call, iterables[indices[0]])
        for turn, index in enumerate(indices):
            if isinstance(items, tuple):
                found[index] = items[turn :: len(indices)]
            else:
                length = items.length if len(indices) == 1 else None
                found[index] = Many(items.item, items.kind, length, items.same)
    return [found[index] for index in range(len(iterables))]


def few(call: Call, values: tuple[Value, ...] | Many) -> tuple[Value, ...] | Many:
    """The values, no longer one by one where there are too many to call a function for each."""
    if isinstance(values, Many) or len(values) <= MAX_CALLS:
        return values
    return Many(either(call, values), "iterable", Dim.of(len(values)), len(set(values)) == 1)


def sort_keys(call: Call, key: Value, values: tuple[Value, ...] | Many) -> tuple[Value, ...] | None:
    """What the function `key` gives for each value; None where that is not known one by one."""
    values = values if key == NONE else few(call, values)
    if isinstance(values, tuple):
        return values if key == NONE else tuple(call.apply(key, value) for value in values)
    if key != NONE:
        call.world.apply_perhaps(key, (item_of(call, values) or values.item,))
    return None


def iterate(call: Call, value: Value) -> tuple[Value, ...] | Many:
    """What iterating gives, for every value but objects with `__iter__` of their own; what an iterator has left is unknown."""
    if isinstance(value, Many):
        return value
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(record, IteratorRecord) and isinstance(value, Ref):
        return _drawn_from(call, value, record)
    items = call.items(value)
    if items is not None:
        return items
    if isinstance(value, Const):
        return _characters(call, value)
    if isinstance(value, Prim):
        return Many(Prim("str") if value.kind == "str" else call.unknown("item"))
    if isinstance(value, ShapeSeq):
        return Many(Num(call.symbol("size")))
    if isinstance(value, Range):
        return _range(call, value)
    if isinstance(value, Tensor):
        return _rows(call, value)
    return _contents(call, record)


def _contents(call: Call, record: object) -> tuple[Value, ...] | Many:
    if isinstance(record, ListRecord):
        return Many(record.item or call.unknown("item"), "iterable", record.length, record.same)
    if isinstance(record, SetRecord):
        return Many(record.item or call.unknown("item"))
    if isinstance(record, DictRecord):
        return keys_of(call, record)
    if isinstance(record, InstanceRecord) and "__items__" in record.attrs:
        return iterate(call, record.attrs["__items__"])
    return Many(call.unknown("item"))


def _drawn_from(call: Call, ref: Ref, record: IteratorRecord) -> tuple[Value, ...] | Many:
    if record.endless:
        return Many(record.item or call.unknown("item"), ENDLESS, None, record.same)
    call.world.replace(ref, IteratorRecord(() if call.name in EXHAUSTING else None))
    if record.items is not None:
        return record.items
    return Many(record.item or call.unknown("item"), "iterable", record.length, record.same, record.last)


def _characters(call: Call, value: Const) -> tuple[Value, ...] | Many:
    text = value.value
    if isinstance(text, str | bytes):
        if len(text) <= MAX_ITEMS:
            return tuple(Const(character) for character in text)
        return Many(Prim("str" if isinstance(text, str) else "int"), "iterable", Dim.of(len(text)))
    return Many(call.unknown("item"))


def _range(call: Call, value: Range) -> Many:
    """The numbers of a range whose bounds are not all known."""
    step = call.const(value.step, int)
    start, stop = low_of(call, value.start), low_of(call, value.stop)
    low, end = start, call.dim(value.stop)
    high = None if end is None else end - 1
    if step is UNKNOWN or step < 0:
        low = None if start is None or stop is None else min(start, stop)
        high = None if step is UNKNOWN else call.dim(value.start)
    return Many(Num(call.symbol("i", low, high)), "range", range_length(call, value))


def range_length(call: Call, value: Range) -> Dim:
    """The number of items of a range."""
    start, stop, step = (call.dim(part) for part in (value.start, value.stop, value.step))
    if start is None or stop is None or step is None:
        return call.symbol("length")
    span, by = stop - start, step.constant
    if by is not None and by < 0:
        span, by = -span, -by
    if by and span.low is not None and span.low > -by:
        # Also an empty range whose bounds cross by less than one step is counted right.
        return call.small(-(-span // by))
    high = (-span).low
    if by and high is not None and high >= 0:
        return Dim.of(0)
    return remembered(call, ("range", start, stop, step), 0, "length").dim


def _rows(call: Call, value: Tensor) -> tuple[Value, ...] | Many:
    """The rows of an array: its items along the first axis."""
    shape = call.facts.shape(value.shape)
    if shape.dims is None:
        first = call.facts.axis(shape, 0)
        return Many(Tensor(value.lib, call.facts.unknown_shape(), value.dtype, width=value.width), "iterable", first)
    if not shape.dims:
        return Many(call.unknown("item"))
    row = Tensor(value.lib, Shape(shape.dims[1:]), value.dtype, width=value.width)
    count = shape.dims[0].constant
    if count is not None and count <= MAX_ROWS:
        return (row,) * count
    return Many(row, "iterable", shape.dims[0], True)


def rounds(values: Sequence[tuple[Value, ...] | Many]) -> int | None:
    """How many rounds iterating over all of `values` side by side makes; None when not known."""
    lengths = [len(value) for value in values if isinstance(value, tuple)]
    open_ended = [value for value in values if isinstance(value, Many) and value.kind != ENDLESS]
    return None if open_ended or not lengths else min(lengths)


def common_length(values: Sequence[tuple[Value, ...] | Many]) -> Dim | None:
    """The number of rounds as a dimension, when all that end are equally long."""
    lengths = [_length(value) for value in values if not (isinstance(value, Many) and value.kind == ENDLESS)]
    first = lengths[0] if lengths else None
    if first is None or any(length is None or length != first for length in lengths):
        return None
    return first


def _length(value: tuple[Value, ...] | Many) -> Dim | None:
    return value.length if isinstance(value, Many) else Dim.of(len(value))


def item_of(call: Call, value: tuple[Value, ...] | Many) -> Value | None:
    """One value that every item is like; None when there are none."""
    if isinstance(value, Many):
        return value.item if value.same else fresh(call, value.item)
    return either(call, value) if value else None


def iterator(call: Call, values: Sequence[Value] | Many) -> Ref:
    """A new iterator over items, or over unknown many."""
    if isinstance(values, Many):
        endless = values.kind == ENDLESS
        made = IteratorRecord(None, values.item, values.length, endless, values.same, values.last)
        return call.world.allocate(made)
    return call.world.allocate(IteratorRecord(tuple(values)))


def next_of(call: Call, ref: Ref, record: IteratorRecord) -> Value | None:
    """The next item of an iterator, which moves on; None when it is known to be at its end."""
    if record.items is not None:
        if not record.items:
            return None
        call.world.replace(ref, IteratorRecord(record.items[1:]))
        return record.items[0]
    if record.length is not None:
        left = record.length - 1
        changed = IteratorRecord(None, record.item, left, record.endless, record.same)
        call.world.replace(ref, changed)
    if record.item is None:
        return call.unknown("item")
    return record.item if record.same else fresh(call, record.item)


def as_list(call: Call, values: tuple[Value, ...] | Many) -> ListRecord:
    """The list of what iterating gave."""
    if isinstance(values, tuple):
        return ListRecord(values)
    return ListRecord(None, values.item, values.length, values.same)


def as_tuple(call: Call, values: tuple[Value, ...] | Many) -> Value:
    """The tuple of what iterating gave."""
    return Tup(values) if isinstance(values, tuple) else Many(values.item, "tuple", values.length, values.same)
