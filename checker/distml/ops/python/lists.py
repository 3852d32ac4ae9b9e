"""Lists, tuples and deques: their methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import MINUS_ONE, NONE, UNKNOWN, Call
from distml.ops.python.comparing import compare
from distml.ops.python.folding import MAX_ITEMS, MISSING, python
from distml.ops.python.indexing import list_without
from distml.ops.python.iterating import as_list, drawn, sort_keys
from distml.ops.python.joined import chained, length_of, pattern, repeated
from distml.ops.python.likeness import either, fresh
from distml.ops.registry import op
from distml.ops.rules.one_value import require_truth
from distml.shapes import Dim
from distml.values import Const, ListRecord, Many, Num, Ref, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

_LISTS = ("builtins.list", "collections.deque")


def _method(name: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    return op(*(f"{kind}.{name}" for kind in _LISTS))


def record_of(call: Call, value: Value) -> ListRecord | None:
    """The record of a list."""
    record = call.world.record(value) if isinstance(value, Ref) else None
    return record if isinstance(record, ListRecord) else None


def _replace(call: Call, self: Value, record: ListRecord, *, left: bool = False) -> None:
    """Change a list; a bounded deque loses what no longer fits, at the end opposite to the addition."""
    if not isinstance(self, Ref):
        return
    before = record_of(call, self)
    bound = None if before is None else before.bound
    if bound is not None:
        items = record.items
        if items is not None and len(items) > bound:
            items = items[:bound] if left else items[len(items) - bound :]
        length = record.length if items is not None else None
        record = ListRecord(items, record.item, length, record.same, bound)
    call.world.replace(self, record)


@_method("append")
def append(call: Call, self: Value, object: Value, /) -> Value:
    """list.append(object): https://docs.python.org/3/tutorial/datastructures.html#more-on-lists"""
    record = record_of(call, self)
    if record is not None:
        _replace(call, self, chained(call, record, ListRecord((object,))))
    return NONE


@op("builtins.list.appendleft", "collections.deque.appendleft")
def appendleft(call: Call, self: Value, object: Value, /) -> Value:
    """deque.appendleft(object): https://docs.python.org/3/library/collections.html#collections.deque.appendleft"""
    record = record_of(call, self)
    if record is not None:
        _replace(call, self, chained(call, ListRecord((object,)), record), left=True)
    return NONE


@_method("extend")
def extend(call: Call, self: Value, iterable: Value, /) -> Value:
    """list.extend(iterable): https://docs.python.org/3/tutorial/datastructures.html#more-on-lists"""
    record = record_of(call, self)
    if record is not None:
        added = as_list(call, drawn(call, iterable))
        _replace(call, self, chained(call, record_of(call, self) or record, added))
    return NONE


@op("builtins.list.extendleft", "collections.deque.extendleft")
def extendleft(call: Call, self: Value, iterable: Value, /) -> Value:
    """deque.extendleft(iterable): https://docs.python.org/3/library/collections.html#collections.deque.extendleft"""
    record = record_of(call, self)
    if record is not None:
        added = as_list(call, drawn(call, iterable))
        items = None if added.items is None else added.items[::-1]
        _replace(call, self, chained(call, ListRecord(items, added.item, added.length), record), left=True)
    return NONE


@_method("__iadd__")
def inplace_add(call: Call, self: Value, other: Value) -> Value:
    """`self += other`: https://docs.python.org/3/library/stdtypes.html#mutable-sequence-types"""
    extend(call, self, other)
    return self


@_method("__imul__")
def inplace_multiply(call: Call, self: Value, times: Value) -> Value:
    """`self *= times`: https://docs.python.org/3/library/stdtypes.html#mutable-sequence-types"""
    record = record_of(call, self)
    if record is not None:
        _replace(call, self, repeated(call, record, call.dim(times)))
    return self


@_method("insert")
def insert(call: Call, self: Value, index: Value, object: Value, /) -> Value:
    """list.insert(index, object): https://docs.python.org/3/tutorial/datastructures.html#more-on-lists"""
    record = record_of(call, self)
    if record is None:
        return NONE
    position = call.const(index, int)
    if position is UNKNOWN or record.items is None or len(record.items) >= MAX_ITEMS:
        mixed = chained(call, record, ListRecord((object,)))
        _replace(call, self, ListRecord(None, pattern(call, mixed), length_of(mixed)))
        return NONE
    changed = list(record.items)
    changed.insert(max(-len(changed), min(position, len(changed))), object)
    _replace(call, self, ListRecord(tuple(changed)))
    return NONE


@_method("pop")
def pop(call: Call, self: Value, index: Value = MINUS_ONE, /) -> Value:
    """list.pop(index): https://docs.python.org/3/tutorial/datastructures.html#more-on-lists"""
    record = record_of(call, self)
    if record is None:
        return call.unknown()
    position = call.const(index, int)
    found: Value | None = None
    if record.items is None:
        if record.item is not None:
            found = record.item if record.same else fresh(call, record.item)
    elif position is UNKNOWN:
        found = either(call, record.items)
    elif -len(record.items) <= position < len(record.items):
        found = record.items[position]
    _replace(call, self, list_without(call, record, index))
    return call.unknown() if found is None else found


@op("builtins.list.popleft", "collections.deque.popleft")
def popleft(call: Call, self: Value) -> Value:
    """deque.popleft(): https://docs.python.org/3/library/collections.html#collections.deque.popleft"""
    return pop(call, self, Const(0))


@_method("remove")
def remove(call: Call, self: Value, value: Value, /) -> Value:
    """list.remove(value): https://docs.python.org/3/tutorial/datastructures.html#more-on-lists"""
    record = record_of(call, self)
    if record is not None:
        position = _position(call, record.items, value)
        _replace(call, self, list_without(call, record, call.unknown() if position is None else Const(position)))
    return NONE


def _position(call: Call, items: tuple[Value, ...] | None, value: Value) -> int | None:
    """Where `value` stands first, when that is certain."""
    for position, item in enumerate(items or ()):
        same = compare(call, "==", item, value)
        if same:
            return position
        if same is None:
            return None
    return None


@op("builtins.list.index", "builtins.tuple.index", "collections.deque.index", "operator.indexOf")
def index(call: Call, self: Value, value: Value, *bounds: Value) -> Value:
    """list.index(value): https://docs.python.org/3/library/stdtypes.html#common-sequence-operations"""
    position = None if bounds else _position(call, call.items(self), value)
    return Num(call.symbol("index")) if position is None else Const(position)


@op("builtins.list.count", "builtins.tuple.count", "collections.deque.count", "operator.countOf")
def count(call: Call, self: Value, value: Value) -> Value:
    """list.count(value): https://docs.python.org/3/library/stdtypes.html#common-sequence-operations"""
    items = call.items(self)
    answers = [None] if items is None else [compare(call, "==", item, value) for item in items]
    return Num(call.symbol("count")) if None in answers else Const(sum(bool(answer) for answer in answers))


@_method("reverse")
def reverse(call: Call, self: Value) -> Value:
    """list.reverse(): https://docs.python.org/3/tutorial/datastructures.html#more-on-lists"""
    record = record_of(call, self)
    if record is not None and record.items is not None:
        _replace(call, self, ListRecord(record.items[::-1]))
    return NONE


@_method("sort")
def sort(call: Call, self: Value, *, key: Value = NONE, reverse: Value = Const(False)) -> Value:
    """list.sort(): https://docs.python.org/3/tutorial/datastructures.html#more-on-lists"""
    record = record_of(call, self)
    if record is not None:
        _replace(call, self, in_order(call, record, key, reverse))
    return NONE


def in_order(call: Call, record: ListRecord, key: Value = NONE, reverse: Value = Const(False)) -> ListRecord:
    """The list sorted: exactly for constants, else with each element anywhere."""
    keys = sort_keys(call, key, Many(record.item or call.unknown("item")) if record.items is None else record.items)
    if record.items is None or len(record.items) < 2:
        return record
    require_truth(call, (keys or record.items)[0])  # that of a comparison with the next
    flag = call.flag(reverse)
    plain = [python(item) for item in keys or ()]
    if flag is not None and keys is not None and not any(item is MISSING for item in plain):
        try:
            order = sorted(range(len(plain)), key=plain.__getitem__, reverse=flag)
        except TypeError:
            return record
        return ListRecord(tuple(record.items[position] for position in order))
    return shuffled(call, record)


def shuffled(call: Call, record: ListRecord) -> ListRecord:
    """The list in an order that is not known."""
    if record.items is None or len(set(record.items)) < 2:
        return record
    return ListRecord(None, either(call, record.items), Dim.of(len(record.items)))


@_method("clear")
def clear(call: Call, self: Value) -> Value:
    """list.clear(): https://docs.python.org/3/tutorial/datastructures.html#more-on-lists"""
    _replace(call, self, ListRecord(()))
    return NONE


@_method("copy")
def copy(call: Call, self: Value) -> Value:
    """list.copy(): https://docs.python.org/3/tutorial/datastructures.html#more-on-lists"""
    record = record_of(call, self)
    if record is None:
        return call.unknown()
    return call.world.allocate(ListRecord(record.items, record.item, record.length, record.same))


@op("builtins.list.rotate", "collections.deque.rotate")
def rotate(call: Call, self: Value, n: Value = Const(1), /) -> Value:
    """deque.rotate(n): https://docs.python.org/3/library/collections.html#collections.deque.rotate"""
    record = record_of(call, self)
    steps = call.const(n, int)
    if record is None or record.items is None or not record.items:
        return NONE
    if steps is UNKNOWN:
        _replace(call, self, shuffled(call, record))
    else:
        at = -steps % len(record.items)
        _replace(call, self, ListRecord(record.items[at:] + record.items[:at]))
    return NONE


@op("builtins.tuple._replace", "collections.namedtuple._replace")
def replaced(call: Call, self: Value, **fields: Value) -> Value:
    """somenamedtuple._replace(**fields): https://docs.python.org/3/library/collections.html#collections.namedtuple"""
    if not isinstance(self, Tup) or not set(fields) <= set(self.fields):
        return call.unknown()
    items = tuple(fields.get(name, item) for name, item in zip(self.fields, self.items, strict=True))
    return Tup(items, self.kind, self.fields, self.cls)
