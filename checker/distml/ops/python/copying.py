"""The module `copy`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.registry import op
from distml.values import (
    Bound,
    DictRecord,
    Function,
    InstanceRecord,
    IteratorRecord,
    LibMethod,
    ListRecord,
    Many,
    Partial,
    Record,
    Ref,
    SetRecord,
    Tensor,
    Tup,
    Union,
    Value,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_RECORDS = 10_000
"""An object that reaches more records than this is not copied record by record."""


@op("copy.copy")
def copy(call: Call, x: Value) -> Value:
    """copy.copy(x): https://docs.python.org/3/library/copy.html#copy.copy"""
    record = call.world.record(x) if isinstance(x, Ref) else None
    if record is None or isinstance(record, IteratorRecord):
        return x
    if isinstance(record, InstanceRecord):
        own = _own_copy(call, x, "__copy__")
        return call.world.allocate(record.having({})) if own is None else own
    return call.world.allocate(_with(record, {}))


@op("copy.deepcopy")
def deepcopy(call: Call, x: Value, memo: Value = NONE) -> Value:
    """copy.deepcopy(x): https://docs.python.org/3/library/copy.html#copy.deepcopy"""
    return deep_copies(call, (x,))[0]


_OWN_WAYS = ("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__getnewargs_ex__", "__getnewargs__")


def _own_copy(call: Call, value: Value, name: str, *args: Value) -> Value | None:
    """What a class of the program makes as a copy of its object; None where it leaves that to Python."""
    if not isinstance(value, Ref) or not isinstance(call.world.record(value), InstanceRecord):
        return None
    method = call.world.attribute(value, name)
    if isinstance(method, Bound) and isinstance(method.function, Function):
        return call.world.apply(method, list(args))
    if any(_is_own(call.world.attribute(value, each)) for each in _OWN_WAYS):
        return call.unknown("copy")
    return None


def _is_own(method: Value | None) -> bool:
    return isinstance(method, Bound) and isinstance(method.function, Function)


def deep_copies(call: Call, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Copies that share among themselves what the originals share."""
    copies: dict[Ref, Value] = {}
    waiting = [ref for value in values for ref in _references(value)]
    found: list[tuple[Ref, Record]] = []
    while waiting:
        ref = waiting.pop()
        record = None if ref in copies else call.world.record(ref)
        if record is None:
            continue
        if len(copies) >= MAX_RECORDS:
            return tuple(call.unknown("copy") for _ in values)
        own = _own_copy(call, ref, "__deepcopy__", call.world.allocate(DictRecord({}, exact=False)))
        if own is not None:
            copies[ref] = own
            continue
        copies[ref] = call.world.allocate(record)
        found.append((ref, record))
        waiting.extend(inner for part in _parts(record) for inner in _references(part))
    for ref, record in found:
        copy_ = copies[ref]
        if isinstance(copy_, Ref):
            call.world.replace(copy_, _with(record, copies))
    return tuple(_copied(value, copies) for value in values)


def _parts(record: Record) -> Iterator[Value]:
    if isinstance(record, ListRecord | SetRecord | IteratorRecord):
        yield from record.items or ()
        if record.item is not None:
            yield record.item
    elif isinstance(record, DictRecord):
        yield from record.items.values()
        if record.rest is not None:
            yield record.rest
    elif isinstance(record, InstanceRecord):
        yield from record.attrs.values()


def _references(value: Value) -> Iterator[Ref]:
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, Tup):
        for item in value.items:
            yield from _references(item)
    elif isinstance(value, Union):
        for option in value.options:
            yield from _references(option)
    elif isinstance(value, Many):
        yield from _references(value.item)
    elif isinstance(value, Bound | LibMethod):
        yield from _references(value.receiver)
    elif isinstance(value, Partial):
        for argument in (value.function, *value.args, *(named for _, named in value.kwargs)):
            yield from _references(argument)


def _copied(value: Value, copies: dict[Ref, Value]) -> Value:
    """The value with every reference replaced by its copy."""
    if isinstance(value, Ref):
        return copies.get(value, value)
    if isinstance(value, Tensor):
        # The copy is another tensor object.
        return value.copied()
    if isinstance(value, Tup):
        return replace(value, items=tuple(_copied(item, copies) for item in value.items))
    if isinstance(value, Union):
        return union([_copied(option, copies) for option in value.options])
    if isinstance(value, Many):
        return replace(value, item=_copied(value.item, copies))
    if isinstance(value, Bound | LibMethod):
        return replace(value, receiver=_copied(value.receiver, copies))
    if isinstance(value, Partial):
        args = tuple(_copied(argument, copies) for argument in value.args)
        named = tuple((name, _copied(argument, copies)) for name, argument in value.kwargs)
        return Partial(_copied(value.function, copies), args, named)
    return value


def _with(record: Record, copies: dict[Ref, Value]) -> Record:
    """A new record like `record`, its references replaced."""
    if isinstance(record, ListRecord | SetRecord | IteratorRecord):
        items = None if record.items is None else tuple(_copied(item, copies) for item in record.items)
        return replace(record, items=items, item=None if record.item is None else _copied(record.item, copies))
    if isinstance(record, DictRecord):
        values = {key: _copied(value, copies) for key, value in record.items.items()}
        return replace(record, items=values, rest=None if record.rest is None else _copied(record.rest, copies))
    if isinstance(record, InstanceRecord):
        attrs = {name: _copied(value, copies) for name, value in record.attrs.items()}
        return replace(record, attrs=attrs)
    return record
