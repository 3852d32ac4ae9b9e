"""The module `collections`, and objects that are nothing but their attributes."""

from __future__ import annotations

import keyword

from distml.ops.call import FALSE, NONE, TRUE, Call
from distml.ops.python.dicts import dict_from, length_of_dict, record_of
from distml.ops.python.iterating import as_list, drawn
from distml.ops.python.joined import merged
from distml.ops.python.keys import find_key
from distml.ops.python.lists import shuffled
from distml.ops.registry import op
from distml.values import (
    Const,
    DictRecord,
    InstanceRecord,
    Lib,
    ListRecord,
    Many,
    Num,
    Partial,
    Ref,
    Tup,
    Value,
)

MAKE = Lib("collections.namedtuple.make")
"""Makes one tuple of a named tuple: called with the class's name, its fields and its defaults first."""


@op("collections.defaultdict")
def defaultdict(call: Call, default_factory: Value = NONE, mapping: Value | None = None, /, **named: Value) -> Value:
    """defaultdict(default_factory): https://docs.python.org/3/library/collections.html#collections.defaultdict"""
    record = DictRecord({}) if mapping is None else dict_from(call, mapping)
    record = merged(call, record, DictRecord({Const(name): value for name, value in named.items()}))
    factory = None if default_factory == NONE else default_factory
    return call.world.allocate(DictRecord(record.items, record.exact, record.rest, factory))


@op("collections.deque")
def deque(call: Call, iterable: Value = Tup(()), maxlen: Value = NONE) -> Value:
    """deque(iterable, maxlen): https://docs.python.org/3/library/collections.html#collections.deque"""
    record = as_list(call, drawn(call, iterable))
    if maxlen == NONE:
        return call.world.allocate(record)
    bound = call.const(maxlen, int)
    if not isinstance(bound, int):
        return call.world.allocate(ListRecord(None))
    items = None if record.items is None else record.items[max(len(record.items) - bound, 0) :]
    return call.world.allocate(ListRecord(items, record.item, None, record.same, bound))


@op("collections.Counter")
def counter(call: Call, iterable: Value | None = None, /, **named: Value) -> Value:
    """Counter(iterable): https://docs.python.org/3/library/collections.html#collections.Counter"""
    if iterable is None:
        return call.world.allocate(
            DictRecord({Const(name): value for name, value in named.items()}, True, None, Lib("builtins.int"))
        )
    values = drawn(call, iterable)
    if record_of(call, iterable) is not None or isinstance(values, Many):
        return call.world.allocate(DictRecord({}, False, None, Lib("builtins.int")))
    counts: dict[Value, int] = {}
    for value in values:
        if not isinstance(value, Const):
            return call.world.allocate(DictRecord({}, False, Num(call.symbol("count")), Lib("builtins.int")))
        counts[value] = counts.get(value, 0) + 1
    items: dict[Value, Value] = {key: Const(number) for key, number in counts.items()}
    return call.world.allocate(DictRecord(items, True, None, Lib("builtins.int")))


@op("builtins.dict.most_common", "collections.Counter.most_common")
def most_common(call: Call, self: Value, n: Value = NONE) -> Value:
    """Counter.most_common(n): https://docs.python.org/3/library/collections.html#collections.Counter.most_common"""
    record = record_of(call, self)
    if record is None:
        return call.world.allocate(ListRecord(None))
    pairs = ListRecord(tuple(Tup(pair) for pair in record.items.items()))
    length = length_of_dict(call, record) if n == NONE else None
    found = shuffled(call, pairs) if record.exact else ListRecord(None)
    return call.world.allocate(ListRecord(None, found.item, length))


@op("builtins.dict.elements", "collections.Counter.elements", "builtins.dict.total", "collections.Counter.total")
@op("collections.ChainMap")
def unknown_contents(call: Call, self: Value = NONE, *rest: Value) -> Value:
    """What is not followed: https://docs.python.org/3/library/collections.html"""
    return call.unknown()


@op("builtins.dict.subtract", "collections.Counter.subtract")
def subtract(call: Call, self: Value, *args: Value, **named: Value) -> Value:
    """Counter.subtract(iterable): https://docs.python.org/3/library/collections.html#collections.Counter.subtract"""
    if isinstance(self, Ref) and record_of(call, self) is not None:
        call.world.replace(self, DictRecord({}, False, None, Lib("builtins.int")))
    return NONE


@op("builtins.dict.move_to_end", "collections.OrderedDict.move_to_end")
def move_to_end(call: Call, self: Value, key: Value, last: Value = TRUE) -> Value:
    """OrderedDict.move_to_end(key): https://docs.python.org/3/library/collections.html#collections.OrderedDict"""
    record = record_of(call, self)
    if record is None or not isinstance(self, Ref):
        return NONE
    known = find_key(call.world, record, key)
    if known is not None and isinstance(last, Const):
        others = {name: value for name, value in record.items.items() if name != known}
        moved = {known: record.items[known]}
        items = {**others, **moved} if last.value else {**moved, **others}
        call.world.replace(self, DictRecord(items, record.exact, record.rest, record.factory))
    else:
        call.world.replace(self, DictRecord(record.items, False, record.rest, record.factory))
    return NONE


@op("collections.namedtuple", "typing.NamedTuple")
def namedtuple(
    call: Call, typename: Value, field_names: Value = Tup(()), *, defaults: Value = NONE, **options: Value
) -> Value:
    """namedtuple(typename, field_names): https://docs.python.org/3/library/collections.html#collections.namedtuple"""
    names = field_names_of(call, field_names)
    given: tuple[Value, ...] | Many = () if defaults == NONE else drawn(call, defaults)
    if names is None or isinstance(given, Many):
        return call.unknown()
    if call.flag(options.get("rename", FALSE)):
        names = tuple(_renamed(names))
    return Partial(MAKE, (typename, Tup(tuple(Const(name) for name in names)), Tup(given)))


def field_names_of(call: Call, value: Value) -> tuple[str, ...] | None:
    """The field names: one string, several, or (name, type) pairs; None when not known."""
    text = call.const(value, str)
    if isinstance(text, str):
        return tuple(text.replace(",", " ").split())
    items = drawn(call, value)
    if isinstance(items, Many):
        return None
    names = [item.items[0] if isinstance(item, Tup) and item.items else item for item in items]
    plain = [call.const(name, str) for name in names]
    return tuple(plain) if all(isinstance(name, str) for name in plain) else None


def _renamed(names: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for position, name in enumerate(names):
        valid = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_") and name not in found
        found.append(name if valid else f"_{position}")
    return found


@op("collections.namedtuple.make")
def make_namedtuple(
    call: Call, typename: Value, fields: Value, defaults: Value, /, *args: Value, **named: Value
) -> Value:
    """A call of the class that `namedtuple` made."""
    names = [call.const(name, str) for name in call.items(fields) or ()]
    given = call.items(defaults) or ()
    values: dict[str, Value] = dict(zip(names[len(names) - len(given) :], given, strict=True)) if given else {}
    values.update(zip(names, args, strict=False))
    values.update(named)
    if len(args) > len(names) or set(values) != set(names):
        return call.unknown()
    kind = call.const(typename, str)
    return Tup(tuple(values[name] for name in names), kind if isinstance(kind, str) else "tuple", tuple(names))


@op("types.SimpleNamespace", "argparse.Namespace")
def simple_namespace(call: Call, mapping: Value | None = None, /, **named: Value) -> Value:
    """types.SimpleNamespace(**named): https://docs.python.org/3/library/types.html#types.SimpleNamespace"""
    exact = mapping is None
    record = None if mapping is None else record_of(call, mapping)
    attrs: dict[str, Value] = {}
    if record is not None:
        attrs = {str(k.value): value for k, value in record.items.items() if isinstance(k, Const)}
        exact = record.exact
    return call.world.allocate(InstanceRecord(Lib(call.name), {**attrs, **named}, exact))


@op("types.MappingProxyType")
def mapping_proxy(call: Call, mapping: Value, /) -> Value:
    """types.MappingProxyType(mapping): https://docs.python.org/3/library/types.html#types.MappingProxyType"""
    return mapping


@op("builtins.tuple._asdict")
def asdict(call: Call, self: Value) -> Value:
    """somenamedtuple._asdict(): https://docs.python.org/3/library/collections.html#collections.somenamedtuple._asdict"""
    if not isinstance(self, Tup) or not self.fields:
        return call.unknown()
    pairs = zip(self.fields, self.items, strict=True)
    return call.world.allocate(DictRecord({Const(name): value for name, value in pairs}))
