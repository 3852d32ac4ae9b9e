"""Built-in functions on sequences and iterables: `len`, `range`, `zip`, `sorted` and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, ONE, UNKNOWN, ZERO, Call
from distml.ops.python.dicts import length_of_dict
from distml.ops.python.folding import MAX_ITEMS
from distml.ops.python.indexing import methods
from distml.ops.python.iterating import (
    ENDLESS,
    MAX_CALLS,
    as_list,
    common_length,
    drawn,
    few,
    item_of,
    iterate,
    iterator,
    next_of,
    range_length,
    rounds,
    side_by_side,
)
from distml.ops.python.likeness import either, remembered
from distml.ops.python.lists import in_order
from distml.ops.registry import op
from distml.ops.rules.one_value import require_items, require_number, require_truth
from distml.ops.rules.ranks import rank_of
from distml.shapes import Dim
from distml.solver.formula import both
from distml.solver.formula import either as one_of
from distml.values import (
    Bound,
    ClaimedTup,
    Condition,
    Const,
    DictRecord,
    InstanceRecord,
    IteratorRecord,
    ListRecord,
    Many,
    Num,
    Opaque,
    Prim,
    Range,
    Ref,
    ShapeSeq,
    Slice,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIZED = ("list", "tuple", "dict", "set", "frozenset", "str", "bytes", "range")


@op("builtins.len", *methods("__len__", *_SIZED), "operator.length_hint", "collections.deque.__len__")
def length(call: Call, obj: Value, /) -> Value:
    """len(obj): https://docs.python.org/3/library/functions.html#len"""
    if isinstance(obj, Union):
        return either(call, [length(call, option) for option in obj.options], "length")
    if isinstance(obj, Opaque | ClaimedTup):
        return remembered(call, ("len", obj), 0, f"len({obj.name})" if isinstance(obj, Opaque) else "length")
    require_items(call, obj, "length")
    known = length_of_value(call, obj)
    return Num(call.symbol("length")) if known is None else call.number(known)


def length_of_value(call: Call, value: Value) -> Dim | None:
    """The number of items of a container, None when it is not known even as a symbol."""
    if isinstance(value, Tensor):
        return call.facts.axis(value.shape, 0)
    if isinstance(value, Const) and isinstance(value.value, str | bytes):
        return Dim.of(len(value.value))
    if isinstance(value, ShapeSeq):
        return rank_of(call, value.shape)
    items = call.items(value)
    if items is not None:
        return Dim.of(len(items))
    if isinstance(value, Range):
        return range_length(call, value)
    if isinstance(value, Many):
        return value.length
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(record, ListRecord):
        return record.length
    if isinstance(record, DictRecord):
        return length_of_dict(call, record)
    if isinstance(record, InstanceRecord) and "__items__" in record.attrs:
        return length_of_value(call, record.attrs["__items__"])
    return None


@op("builtins.range")
def range_(call: Call, start: Value, stop: Value | None = None, step: Value = ONE, /) -> Value:
    """range(start, stop, step): https://docs.python.org/3/library/stdtypes.html#range"""
    first, last = (ZERO, start) if stop is None else (start, stop)
    for bound in (first, last, step):
        require_number(call, bound, "a bound of a range")
    return Range(_index(first), _index(last), _index(step))


def _index(value: Value) -> Value:
    """The integer that an array of one stands for."""
    number = value.number if isinstance(value, Tensor) else None
    return value if number is None else number


@op("builtins.slice")
def slice_(call: Call, start: Value, stop: Value | None = None, step: Value = NONE, /) -> Value:
    """slice(start, stop, step): https://docs.python.org/3/library/functions.html#slice"""
    return Slice(NONE, start, step) if stop is None else Slice(start, stop, step)


@op("builtins.iter", *methods("__iter__", *_SIZED), "collections.deque.__iter__", "builtins.aiter")
def iter_(call: Call, object: Value, sentinel: Value | None = None, /) -> Value:
    """iter(object): https://docs.python.org/3/library/functions.html#iter"""
    if sentinel is not None:
        return iterator(call, Many(call.world.apply_perhaps(object, ())))
    if isinstance(object, Ref) and isinstance(call.world.record(object), IteratorRecord):
        return object
    return iterator(call, drawn(call, object))


@op("builtins.next", "builtins.anext", "builtins.generator.__next__", "builtins.iterator.__next__")
def next_(call: Call, iterator: Value, default: Value | None = None, /) -> Value:
    """next(iterator, default): https://docs.python.org/3/library/functions.html#next"""
    record = call.world.record(iterator) if isinstance(iterator, Ref) else None
    if isinstance(record, IteratorRecord) and isinstance(iterator, Ref):
        certain = record.items is not None or record.endless
        found = next_of(call, iterator, record)
        if found is None:
            return call.unknown() if default is None else default
        return found if certain or default is None else either(call, [found, default])
    method = call.world.attribute(iterator, "__next__")
    return call.unknown() if method is None else call.apply(method)


@op("builtins.iterator.close", "builtins.iterator.throw", "builtins.iterator.send")
def close(call: Call, self: Value, *args: Value) -> Value:
    """generator.close(): https://docs.python.org/3/reference/expressions.html#generator.close"""
    if isinstance(self, Ref):
        call.world.replace(self, IteratorRecord(() if call.name.endswith("close") else None))
    return NONE if call.name.endswith("close") else call.unknown()


@op("builtins.enumerate")
def enumerate_(call: Call, iterable: Value, start: Value = ZERO) -> Value:
    """enumerate(iterable, start): https://docs.python.org/3/library/functions.html#enumerate"""
    values = drawn(call, iterable)
    first = call.const(start, int)
    if isinstance(values, tuple) and first is not UNKNOWN:
        return iterator(call, [Tup((Const(first + i), value)) for i, value in enumerate(values)])
    item = item_of(call, values)
    if item is None:
        return iterator(call, ())
    low = None if first is UNKNOWN else first
    pair = Tup((Num(call.symbol("i", low)), item))
    length = common_length([values])
    if not isinstance(values, Many):
        return iterator(call, Many(pair, "iterable", length))
    last = values.last
    if last is not None and length is not None and low is not None:
        before = Tup((pair.items[0], last.before))
        last = last._replace(item=Tup((call.number(length - 1 + low), last.item)), before=before)
    return iterator(call, Many(pair, values.kind, length, last=last if low is not None else None))


@op("builtins.zip")
def zip_(call: Call, *iterables: Value, strict: Value = FALSE) -> Value:
    """zip(*iterables): https://docs.python.org/3/library/functions.html#zip"""
    return zipped(call, side_by_side(call, iterables))


def zipped(call: Call, values: Sequence[tuple[Value, ...] | Many]) -> Ref:
    """An iterator over the tuples of items that stand side by side."""
    count = 0 if not values else rounds(values)
    if count is not None and count <= MAX_ITEMS:
        columns = [value if isinstance(value, tuple) else _column(call, value, count) for value in values]
        return iterator(call, [Tup(row) for row in zip(*(column[:count] for column in columns), strict=True)])
    items = [item_of(call, value) for value in values]
    known = [item for item in items if item is not None]
    if len(known) < len(items):
        return iterator(call, ())
    endless = all(isinstance(value, Many) and value.kind == ENDLESS for value in values)
    same = all(isinstance(value, Many) and value.same for value in values)
    return iterator(call, Many(Tup(tuple(known)), ENDLESS if endless else "iterable", common_length(values), same))


def _column(call: Call, value: Many, count: int) -> tuple[Value, ...]:
    return tuple(item_of(call, value) or value.item for _ in range(count))


@op("builtins.map")
def map_(call: Call, function: Value, iterable: Value, /, *iterables: Value) -> Value:
    """map(function, *iterables): https://docs.python.org/3/library/functions.html#map"""
    if not iterables:
        return mapped(call, function, drawn(call, iterable), spread=False)
    rows = zipped(call, side_by_side(call, (iterable, *iterables)))
    return mapped(call, function, iterate(call, rows), spread=True)


def mapped(call: Call, function: Value, values: tuple[Value, ...] | Many, *, spread: bool) -> Ref:
    """An iterator over the results of a function, given each item, or each item's items."""

    def given(item: Value) -> tuple[Value, ...] | None:
        return call.items(item) if spread else (item,)

    values = few(call, values)
    if isinstance(values, tuple):
        rows = [given(item) for item in values]
        return iterator(call, [call.unknown() if row is None else call.apply(function, *row) for row in rows])
    item = item_of(call, values)
    parts = None if item is None else given(item)
    made = call.unknown("item") if parts is None else call.world.apply_perhaps(function, parts)
    return iterator(call, Many(made, values.kind, values.length))


@op("builtins.filter")
def filter_(call: Call, function: Value, iterable: Value, /) -> Value:
    """filter(function, iterable): https://docs.python.org/3/library/functions.html#filter"""
    return filtered(call, function, drawn(call, iterable), wanted=True)


def filtered(call: Call, function: Value, values: tuple[Value, ...] | Many, *, wanted: bool) -> Ref:
    """An iterator over the items for which a function is true (or false)."""
    values = values if function == NONE else few(call, values)
    if isinstance(values, Many):
        if function != NONE:
            call.world.apply_perhaps(function, (item_of(call, values) or values.item,))
        return iterator(call, Many(values.item, values.kind, None, values.same))
    kept: list[Value] = []
    certain = True
    for item in values:
        asked = item if function == NONE else call.apply(function, item)
        require_truth(call, asked)
        truth = call.world.truth(asked)
        certain = certain and truth is not None
        if truth is None or truth is wanted:
            kept.append(item)
    if certain or not kept:
        return iterator(call, kept)
    return iterator(call, Many(either(call, kept)))


@op("builtins.reversed", *methods("__reversed__", "list", "dict", "range"))
def reversed_(call: Call, sequence: Value, /) -> Value:
    """reversed(sequence): https://docs.python.org/3/library/functions.html#reversed"""
    if isinstance(sequence, Ref) and isinstance(call.world.record(sequence), InstanceRecord):
        method, take = call.world.attribute(sequence, "__reversed__"), call.world.attribute(sequence, "__getitem__")
        if isinstance(method, Bound):
            return call.world.apply(method, [])
        if isinstance(take, Bound):
            return _by_place(call, take, call.world.attribute(sequence, "__len__"))
    values = drawn(call, sequence)
    return iterator(call, values[::-1] if isinstance(values, tuple) else values)


def _by_place(call: Call, take: Value, length: Value | None) -> Value:
    """The items of an object of the program, from its last place on, if it says how many there are."""
    count = call.const(call.apply(length), int) if isinstance(length, Bound) else UNKNOWN
    if count is UNKNOWN or count > MAX_CALLS:
        return call.unknown()
    return iterator(call, [call.apply(take, Const(place)) for place in reversed(range(count))])


@op("builtins.sorted")
def sorted_(call: Call, iterable: Value, /, *, key: Value = NONE, reverse: Value = FALSE) -> Value:
    """sorted(iterable): https://docs.python.org/3/library/functions.html#sorted"""
    return call.world.allocate(in_order(call, as_list(call, drawn(call, iterable)), key, reverse))


@op("builtins.any")
def any_(call: Call, iterable: Value, /) -> Value:
    """any(iterable): https://docs.python.org/3/library/functions.html#any"""
    return _quantified(call, iterable, decisive=True)


@op("builtins.all")
def all_(call: Call, iterable: Value, /) -> Value:
    """all(iterable): https://docs.python.org/3/library/functions.html#all"""
    return _quantified(call, iterable, decisive=False)


def _quantified(call: Call, iterable: Value, *, decisive: bool) -> Value:
    """One decisive item decides; without one, all must be known."""
    values = drawn(call, iterable)
    if isinstance(values, Many):
        return Prim("bool")
    truths = [call.world.truth(value) for value in values]
    for value, known in zip(values, truths, strict=True):
        require_truth(call, value)
        if known in (None, decisive):
            break
    if decisive in truths:
        return Const(decisive)
    if None not in truths:
        return Const(not decisive)
    parts = [v.formula for v, known in zip(values, truths, strict=True) if known is None and isinstance(v, Condition)]
    if len(parts) < truths.count(None):
        return Prim("bool")
    return Condition("bool", one_of(*parts) if decisive else both(*parts))
