"""Dicts: reading, writing, and their methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.python.folding import MAX_ITEMS
from distml.ops.python.joined import merged
from distml.ops.python.keys import canonical, find_key, is_canonical, is_told, stored
from distml.ops.python.likeness import either, fresh
from distml.ops.registry import op
from distml.shapes import Dim
from distml.values import Const, DictRecord, Many, Ref, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPES = ("builtins.dict", "collections.OrderedDict", "collections.defaultdict", "collections.Counter")


def _method(name: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    return op(*(f"{kind}.{name}" for kind in _TYPES))


def record_of(call: Call, value: Value) -> DictRecord | None:
    """The record of a dict."""
    record = call.world.record(value) if isinstance(value, Ref) else None
    return record if isinstance(record, DictRecord) else None


def dict_get(call: Call, self: Ref, record: DictRecord, key: Value, default: Value | None = None) -> Value:
    """`self[key]`, or `self.get(key, default)` with a default."""
    if not is_told(call.world, record, key):
        if record.factory is not None and default is None:
            # The factory may have made a new entry.
            call.world.replace(self, DictRecord(record.items, False, None, record.factory))
        return _any_value(call, record, default)
    known = find_key(call.world, record, key)
    if known is not None:
        return record.items[known]
    if record.exact and default is not None:
        return default
    if record.factory is not None and default is None:
        value = _made(call, record) if record.exact else call.unknown()
    elif record.exact:
        return call.unknown()
    else:
        value = call.unknown(_shown(call, key)) if record.rest is None else fresh(call, record.rest)
    if default is not None:
        return either(call, [value, default])
    # Read again, it is the same value: the key is there.
    call.world.replace(self, DictRecord({**record.items, key: value}, record.exact, record.rest, record.factory))
    return value


def _shown(call: Call, key: Value) -> str:
    """What messages call the value of a key: `cfg["hidden"]`, which the call of a subscript is named already."""
    return call.text if call.name.endswith("__getitem__") else f"{call.text}({key!r})"


def _made(call: Call, record: DictRecord) -> Value:
    return call.unknown() if record.factory is None else call.apply(record.factory)


def _any_value(call: Call, record: DictRecord, default: Value | None) -> Value:
    values = list(record.items.values())
    if not record.exact:
        if record.rest is None:
            return call.unknown()
        values.append(fresh(call, record.rest))
    if record.factory is not None and default is None:
        return call.unknown()
    if default is not None:
        values.append(default)
    return either(call, values)


def dict_set(call: Call, self: Ref, record: DictRecord, key: Value, value: Value) -> None:
    """`self[key] = value`."""
    items = dict(record.items)
    if canonical(call.world, key) is not None and len(items) < MAX_ITEMS:
        items[find_key(call.world, record, key) or stored(key)] = value
        plain = record.plain and is_canonical(key)
        call.world.replace(self, DictRecord(items, record.exact, record.rest, record.factory, plain))
        return
    changed = {known: either(call, [old, value]) for known, old in items.items()}
    if record.exact:
        rest: Value | None = value
    else:
        rest = None if record.rest is None else either(call, [record.rest, value])
    call.world.replace(self, DictRecord(changed, False, rest, record.factory))


def dict_remove(call: Call, self: Ref, record: DictRecord, key: Value) -> None:
    """`del self[key]`; of a key that is not known, any may be gone."""
    if is_told(call.world, record, key):
        known = find_key(call.world, record, key)
        items = {name: value for name, value in record.items.items() if name != known}
        call.world.replace(self, DictRecord(items, record.exact, record.rest, record.factory))
        return
    rest = _any_value(call, record, NONE) if record.items or record.rest is not None else None
    call.world.replace(self, DictRecord({}, False, rest, record.factory))


@_method("get")
def get(call: Call, self: Value, key: Value, default: Value = NONE, /) -> Value:
    """dict.get(key, default): https://docs.python.org/3/library/stdtypes.html#dict.get"""
    record = record_of(call, self)
    return call.unknown() if record is None or not isinstance(self, Ref) else dict_get(call, self, record, key, default)


@_method("setdefault")
def setdefault(call: Call, self: Value, key: Value, default: Value = NONE, /) -> Value:
    """dict.setdefault(key, default): https://docs.python.org/3/library/stdtypes.html#dict.setdefault"""
    record = record_of(call, self)
    if record is None or not isinstance(self, Ref):
        return call.unknown()
    value = dict_get(call, self, record, key, default)
    dict_set(call, self, record, key, value)
    return value


@_method("pop")
def pop(call: Call, self: Value, key: Value, default: Value | None = None, /) -> Value:
    """dict.pop(key, default): https://docs.python.org/3/library/stdtypes.html#dict.pop"""
    record = record_of(call, self)
    if record is None or not isinstance(self, Ref):
        return call.unknown()
    plain = DictRecord(record.items, record.exact, record.rest)
    value = dict_get(call, call.world.allocate(plain), plain, key, default)
    dict_remove(call, self, record, key)
    return value


@_method("popitem")
def popitem(call: Call, self: Value, last: Value = NONE) -> Value:
    """dict.popitem(): https://docs.python.org/3/library/stdtypes.html#dict.popitem"""
    record = record_of(call, self)
    if record is None or not isinstance(self, Ref):
        return call.unknown()
    if record.exact and record.items and last == NONE:
        key, value = next(reversed(record.items.items()))
        dict_remove(call, self, record, key)
        return Tup((key, value))
    dict_remove(call, self, record, call.unknown())
    return Tup((call.unknown(), _any_value(call, record, None)))


def keys_of(call: Call, record: DictRecord) -> tuple[Value, ...] | Many:
    """The keys of a dict, in order."""
    return tuple(record.items) if record.exact else Many(call.unknown("key"))


def values_of(call: Call, record: DictRecord) -> tuple[Value, ...] | Many:
    """The values of a dict, in order."""
    if record.exact:
        return tuple(record.items.values())
    if record.rest is None:
        return Many(call.unknown("value"))
    return Many(either(call, [*record.items.values(), record.rest]))


@_method("keys")
def keys(call: Call, self: Value) -> Value:
    """dict.keys(): https://docs.python.org/3/library/stdtypes.html#dict.keys"""
    record = record_of(call, self)
    return _view(Many(call.unknown("key")) if record is None else keys_of(call, record))


@_method("values")
def values(call: Call, self: Value) -> Value:
    """dict.values(): https://docs.python.org/3/library/stdtypes.html#dict.values"""
    record = record_of(call, self)
    return _view(Many(call.unknown("value")) if record is None else values_of(call, record))


@_method("items")
def items(call: Call, self: Value) -> Value:
    """dict.items(): https://docs.python.org/3/library/stdtypes.html#dict.items"""
    record = record_of(call, self)
    if record is not None and record.exact:
        return _view(tuple(Tup(pair) for pair in record.items.items()))
    value = call.unknown("value") if record is None else values_of(call, record)
    return Many(Tup((call.unknown("key"), value.item if isinstance(value, Many) else call.unknown("value"))))


def _view(values: tuple[Value, ...] | Many) -> Value:
    # A view follows its dict; nearly all are iterated at once.
    return Tup(values, "view") if isinstance(values, tuple) else values


@_method("update")
def update(call: Call, self: Value, other: Value = NONE, /, **named: Value) -> Value:
    """dict.update(other): https://docs.python.org/3/library/stdtypes.html#dict.update"""
    record = record_of(call, self)
    if record is None or not isinstance(self, Ref):
        return NONE
    if other != NONE:
        record = merged(call, record, dict_from(call, other))
    extra = DictRecord({Const(name): value for name, value in named.items()})
    call.world.replace(self, merged(call, record, extra))
    return NONE


def _is_text(key: Value) -> bool:
    return isinstance(key, Const) and isinstance(key.value, str)


def dict_from(call: Call, value: Value) -> DictRecord:
    """The dict made of a mapping or of pairs."""
    record = record_of(call, value)
    if record is not None:
        return DictRecord(dict(record.items), record.exact, record.rest)
    held = (call.attrs(value) or {}).get("__items__")
    if held is not None and record_of(call, held) is not None:
        return dict_from(call, held)
    listed = call.items(value)
    pairs = call.iterate(value) if listed is None else listed
    if isinstance(pairs, Many):
        item = call.items(pairs.item)
        return DictRecord({}, False, item[1] if item is not None and len(item) == 2 else None)
    rows = [call.items(pair) for pair in pairs]
    if all(row is not None and len(row) == 2 and _is_text(row[0]) for row in rows):
        return DictRecord({row[0]: row[1] for row in rows if row is not None})
    made = call.world.allocate(DictRecord({}))
    for parts in rows:
        known = record_of(call, made)
        if parts is None or len(parts) != 2 or known is None:
            return DictRecord({}, False)
        dict_set(call, made, known, parts[0], parts[1])
    return record_of(call, made) or DictRecord({}, False)


@_method("__ior__")
def inplace_or(call: Call, self: Value, other: Value) -> Value:
    """`self |= other`: https://docs.python.org/3/library/stdtypes.html#dict"""
    update(call, self, other)
    return self


@_method("clear")
def clear(call: Call, self: Value) -> Value:
    """dict.clear(): https://docs.python.org/3/library/stdtypes.html#dict.clear"""
    record = record_of(call, self)
    if record is not None and isinstance(self, Ref):
        call.world.replace(self, DictRecord({}, True, None, record.factory))
    return NONE


@_method("copy")
def copy(call: Call, self: Value) -> Value:
    """dict.copy(): https://docs.python.org/3/library/stdtypes.html#dict.copy"""
    record = record_of(call, self)
    if record is None:
        return call.unknown()
    return call.world.allocate(DictRecord(dict(record.items), record.exact, record.rest, record.factory))


@_method("fromkeys")
def fromkeys(call: Call, iterable: Value, value: Value = NONE, /) -> Value:
    """dict.fromkeys(iterable, value): https://docs.python.org/3/library/stdtypes.html#dict.fromkeys"""
    keys = call.iterate(iterable)
    if isinstance(keys, Many):
        return call.world.allocate(DictRecord({}, False, value))
    made = call.world.allocate(DictRecord({}))
    for key in keys:
        dict_set(call, made, record_of(call, made) or DictRecord({}), key, value)
    return made


def length_of_dict(call: Call, record: DictRecord) -> Dim:
    """`len` of a dict."""
    count = len(record.items)
    return Dim.of(count) if record.exact else call.symbol("length", count)
