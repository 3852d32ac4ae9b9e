"""torch.nn: ModuleDict and ParameterDict, containers by name.

Their children are in the attribute `__items__`, a reference to a dict.
https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.python.keys import underlying
from distml.ops.python.likeness import either
from distml.ops.registry import layer, op
from distml.values import Const, DictRecord, Many, Prim, Ref, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS = "__items__"
KINDS = ("torch.nn.ModuleDict", "torch.nn.ParameterDict")


def methods(*names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register an op as a method of both containers of this file."""
    return op(*(f"{kind}.{name}" for kind in KINDS for name in names))


def children(call: Call, self: Value) -> DictRecord:
    """The dict of a container's children; an unknown one where it is not known."""
    items = (call.attrs(self) or {}).get(ITEMS)
    record = call.world.record(items) if isinstance(items, Ref) else None
    return record if isinstance(record, DictRecord) else DictRecord({}, exact=False)


def store(call: Call, self: Value, record: DictRecord) -> None:
    """Give a container other children."""
    items = (call.attrs(self) or {}).get(ITEMS)
    if isinstance(items, Ref):
        call.world.replace(items, record)


def from_mapping(call: Call, value: Value) -> DictRecord:
    """The dict of a mapping, or of pairs."""
    if call.is_none(value):
        return DictRecord({})
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(record, DictRecord):
        named = {underlying(call.world, key): value for key, value in record.items.items()}
        return DictRecord(named, record.exact, record.rest)
    inner = (call.attrs(value) or {}).get(ITEMS)
    if inner is not None:
        return from_mapping(call, inner)
    pairs = call.iterate(value)
    found = [call.items(pair) for pair in pairs] if isinstance(pairs, tuple) else [None]
    given = [pair for pair in found if pair is not None and len(pair) == 2 and isinstance(pair[0], Const)]
    items: dict[Value, Value] = {pair[0]: pair[1] for pair in given}
    return DictRecord(items, exact=True) if len(found) == len(items) else DictRecord({}, exact=False)


@layer(*KINDS)
class ModuleDict:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, modules: Value = NONE, *, parameters: Value = NONE) -> dict[str, Value]:
        """A copy of the mapping; its names are attributes too."""
        record = from_mapping(call, modules if call.is_none(parameters) else parameters)
        names = {k.value: v for k, v in record.items.items() if isinstance(k, Const) and isinstance(k.value, str)}
        return {ITEMS: call.world.allocate(record), **names}


def _any(call: Call, record: DictRecord) -> Value:
    options = list(dict.fromkeys(record.items.values()))
    if not record.exact:
        if record.rest is None:
            return call.unknown("item")
        options.append(record.rest)
    return either(call, options)


@methods("__getitem__")
def getitem(call: Call, self: Value, key: Value) -> Value:
    """The child of a name."""
    record, key = children(call, self), underlying(call.world, key)
    if not isinstance(key, Const):
        return _any(call, record)
    if key in record.items:
        return record.items[key]
    return record.rest if not record.exact and record.rest is not None else call.unknown("item")


@methods("get")
def get(call: Call, self: Value, key: Value, default: Value = NONE) -> Value:
    """The child of a name, or the default."""
    record, key = children(call, self), underlying(call.world, key)
    if isinstance(key, Const) and (key in record.items or record.exact):
        return record.items.get(key, default)
    return call.any_of(getitem(call, self, key), default)


@methods("__setitem__")
def setitem(call: Call, self: Value, key: Value, module: Value) -> Value:
    """Set the child of a name."""
    record, key = children(call, self), underlying(call.world, key)
    if isinstance(key, Const):
        new = DictRecord({**record.items, key: module}, record.exact, record.rest)
    else:
        rest = module if record.exact or record.rest is None else call.any_of(record.rest, module)
        items = {k: call.any_of(v, module) for k, v in record.items.items()}
        new = DictRecord(items, False, rest if record.exact or record.rest is not None else None)
    store(call, self, new)
    return NONE


@methods("update")
def update(call: Call, self: Value, modules: Value) -> Value:
    """Set the children of all names of a mapping."""
    record, more = children(call, self), from_mapping(call, modules)
    if more.exact:
        store(call, self, DictRecord({**record.items, **more.items}, record.exact, record.rest))
    else:
        store(call, self, DictRecord({}, exact=False))
    return NONE


@methods("__delitem__", "pop")
def pop(call: Call, self: Value, key: Value) -> Value:
    """Remove the child of a name, and give it."""
    found, record = getitem(call, self, key), children(call, self)
    key = underlying(call.world, key)
    if isinstance(key, Const):
        left = {k: v for k, v in record.items.items() if k != key}
        store(call, self, DictRecord(left, record.exact, record.rest))
    else:
        store(call, self, DictRecord({}, exact=False))
    return found


@methods("__len__")
def length(call: Call, self: Value) -> Value:
    """The number of children."""
    record = children(call, self)
    return Const(len(record.items)) if record.exact else Prim("int")


@methods("__iter__", "keys")
def keys(call: Call, self: Value) -> Value:
    """The names."""
    record = children(call, self)
    return Tup(tuple(record.items)) if record.exact else Many(Prim("str"))


@methods("values")
def values(call: Call, self: Value) -> Value:
    """The children."""
    record = children(call, self)
    return Tup(tuple(record.items.values())) if record.exact else Many(_any(call, record))


@methods("items")
def items(call: Call, self: Value) -> Value:
    """Pairs of name and child."""
    record = children(call, self)
    if record.exact:
        return Tup(tuple(Tup((key, value)) for key, value in record.items.items()))
    return Many(Tup((Prim("str"), _any(call, record))))


@methods("__contains__")
def contains(call: Call, self: Value, key: Value) -> Value:
    """Whether there is a child of a name."""
    record, key = children(call, self), underlying(call.world, key)
    if isinstance(key, Const) and (key in record.items or record.exact):
        return Const(key in record.items)
    return Prim("bool")
