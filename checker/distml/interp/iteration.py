"""What iterating over a value gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.join import join_many
from distml.interp.operators import subscript
from distml.values import (
    Class,
    Const,
    DictRecord,
    Expr,
    InstanceRecord,
    IteratorRecord,
    ListRecord,
    Many,
    Num,
    Opaque,
    Range,
    Ref,
    SetRecord,
    ShapeSeq,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from distml.interp.machine import Machine

MAX_ITEMS = 256
"""Longer known sequences are followed as if their length were unknown."""


def iterate(vm: Machine, value: Value) -> tuple[Value, ...] | Many:
    """The items one by one, or `Many` when their number is not known (or too large)."""
    if isinstance(value, Tup):
        return value.items
    if isinstance(value, Many):
        return value
    if isinstance(value, Ref):
        return _record(vm, value)
    if isinstance(value, Range):
        return _range(vm, value)
    if isinstance(value, Tensor):
        return _tensor(vm, value)
    if isinstance(value, ShapeSeq):
        dims = vm.facts.shape(value.shape).dims
        if dims is None:
            return Many(Num(vm.facts.symbol("size")))
        return tuple(vm.number(d) for d in dims)
    if isinstance(value, Const) and isinstance(value.value, str) and len(value.value) <= MAX_ITEMS:
        return tuple(Const(c) for c in value.value)
    if isinstance(value, Union):
        return _union(vm, value)
    if isinstance(value, Class):
        members = vm.at(value.address).members
        return members or Many(vm.opaque("member"))
    return Many(vm.opaque("item"))


def fresh_item(vm: Machine, many: Many) -> Value:
    """One item of an iterable of unknown length; two draws are two values."""
    item = many.item
    return vm.opaque(item.name, item.origin) if isinstance(item, Opaque) else item


def _record(vm: Machine, ref: Ref) -> tuple[Value, ...] | Many:
    record = vm.record(ref)
    if isinstance(record, IteratorRecord):
        vm.replace(ref, IteratorRecord((), None) if record.items is not None else record)
        return _items(vm, record.items, record.item)
    if isinstance(record, ListRecord | SetRecord):
        length = record.length if isinstance(record, ListRecord) else None
        found = _items(vm, record.items, record.item)
        return Many(found.item, "list", length) if isinstance(found, Many) else found
    if isinstance(record, DictRecord):
        return tuple(record.items) if record.exact else Many(vm.opaque("key"))
    if isinstance(record, InstanceRecord):
        return _instance(vm, ref, record)
    return Many(vm.opaque("item"))


def _items(vm: Machine, items: tuple[Value, ...] | None, item: Value | None) -> tuple[Value, ...] | Many:
    if items is not None and len(items) <= MAX_ITEMS:
        return items
    if items is not None:
        item = join_many(vm, list(dict.fromkeys(items))[:MAX_ITEMS])
    return Many(vm.opaque("item") if item is None else item)


def _instance(vm: Machine, ref: Ref, record: InstanceRecord) -> tuple[Value, ...] | Many:
    method = vm.attribute(ref, "__iter__")
    if method is not None and not isinstance(method, Opaque):
        result = vm.apply(method, [])
        return iterate(vm, result) if result != ref else _by_next(vm, ref)
    if "__items__" in record.attrs:
        return iterate(vm, record.attrs["__items__"])
    method = vm.attribute(ref, "__getitem__")
    if method is not None and not isinstance(method, Opaque):
        return Many(vm.apply(method, [Num(vm.facts.symbol("index"))]))
    return Many(vm.opaque("item"))


def _by_next(vm: Machine, ref: Ref) -> Many:
    method = vm.attribute(ref, "__next__")
    return Many(vm.opaque("item") if method is None else vm.apply(method, []))


def _range(vm: Machine, value: Range) -> tuple[Value, ...] | Many:
    parts = (value.start, value.stop, value.step)
    bounds = [p.value for p in parts if isinstance(p, Const) and isinstance(p.value, int)]
    if len(bounds) == len(parts) and bounds[2] != 0:
        numbers = range(*bounds)
        if len(numbers) <= MAX_ITEMS:
            return tuple(Const(n) for n in numbers)
        return Many(Num(vm.facts.symbol("i", min(numbers[0], numbers[-1]))))
    start = value.start.value if isinstance(value.start, Const) else None
    rising = isinstance(value.step, Const) and isinstance(value.step.value, int) and value.step.value > 0
    return Many(Num(vm.facts.symbol("i", start if rising and isinstance(start, int) else None)))


def _tensor(vm: Machine, value: Tensor) -> tuple[Value, ...] | Many:
    shape = vm.facts.shape(value.shape)
    if shape.rank is None and shape.least < 1:
        return Many(vm.opaque("row"))
    length = vm.facts.axis(shape, 0)
    if length is None:
        return Many(vm.opaque("row"))
    if value.content is not None and shape.rank == 1:
        return value.content
    row = subscript(vm, value, Num(vm.facts.symbol("i")))
    count = length.constant
    if count is not None and 0 <= count <= MAX_ITEMS:
        return (row,) * count
    return Many(row, "iterable", length)


def _union(vm: Machine, value: Union) -> tuple[Value, ...] | Many:
    found = [iterate(vm, option) for option in value.options]
    tuples = [f for f in found if isinstance(f, tuple)]
    if len(tuples) == len(found) and len({len(t) for t in tuples}) == 1:
        return tuple(join_many(vm, column) for column in zip(*tuples, strict=True))
    items: list[Value] = []
    for each in found:
        items.extend(each if isinstance(each, tuple) else [each.item])
    unique = list(dict.fromkeys(items))
    if any(isinstance(i, Opaque | Expr) for i in unique):
        return Many(vm.opaque("item"))
    return Many(join_many(vm, unique) if unique else vm.opaque("item"))
