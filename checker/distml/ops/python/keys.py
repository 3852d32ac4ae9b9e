"""Keys of dicts: values of which it is known whether two of them are one key."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from distml.values import Class, Const, InstanceRecord, KeyTensor, Lib, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import World
    from distml.values import DictRecord

PLAIN = frozenset({"enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "builtins.int", "builtins.str"})
"""Bases that make the members of an enumeration numbers or text."""


def canonical(world: World, key: Value) -> Value | None:
    """The same value for keys that are equal; None for what cannot be compared.

    1, True and 1.0 are one key, and so are a member of a `str` enumeration and its text. A tensor is a key by itself, unless
    it may be one of several objects.
    """
    key = underlying(world, key)
    if isinstance(key, Const):
        number = key.value
        whole = isinstance(number, bool) or (isinstance(number, float) and number.is_integer())
        return Const(int(number)) if whole else key
    if isinstance(key, Tup):
        parts = [canonical(world, item) for item in key.items]
        known = tuple(part for part in parts if part is not None)
        return Tup(known) if len(known) == len(parts) else None
    if isinstance(key, Tensor):
        return None if key.kin else _by_identity(key)
    return key if isinstance(key, Class) else _member(world, key)


def stored(key: Value) -> Value:
    """A key as dicts hold it."""
    return _by_identity(key) if isinstance(key, Tensor) else key


def _by_identity(key: Tensor) -> KeyTensor:
    return KeyTensor(*(getattr(key, field.name) for field in fields(Tensor)))


def is_told(world: World, record: DictRecord, key: Value) -> bool:
    """Whether it is known which key of the dict this one is, if any. Another tensor may be the same one in another call."""
    if isinstance(key, Tensor) and find_key(world, record, key) is None:
        return not record.items and record.exact
    return canonical(world, key) is not None


def _member(world: World, key: Value) -> Value | None:
    """A member of an enumeration, by its class and value: one value may have two names."""
    owner = enumeration_of(world, key)
    record = world.record(key) if isinstance(key, Ref) else None
    if owner is None or not isinstance(record, InstanceRecord):
        return None
    classes = [world.record(Ref(base.address)) for base in owner.mro if isinstance(base, Class)]
    if any("__eq__" in getattr(each, "attrs", ()) for each in classes):
        return None
    inner = record.attrs.get("value")
    return Tup((record.cls, inner)) if isinstance(inner, Const) else key


def find_key(world: World, record: DictRecord, key: Value) -> Value | None:
    """The key of the dict that equals `key`."""
    if key in record.items:
        return key
    wanted = canonical(world, key)
    if wanted is None or wanted in record.items:
        return wanted
    if isinstance(wanted, KeyTensor):
        return None
    if record.plain is None:
        record.plain = all(map(is_canonical, record.items))
    if record.plain:
        return None
    return next(
        (known for known in record.items if not is_canonical(known) and canonical(world, known) == wanted), None
    )


_CANONICAL = frozenset({int, str, bytes, type(None)})
"""Types of constants that equal no constant of another type but what `canonical` makes one of them."""


def is_canonical(key: Value) -> bool:
    """Whether a key certainly is its own canonical form, as most are: a dict is looked up often."""
    if type(key) is Const:
        return type(key.value) in _CANONICAL
    return type(key) is Tup and key.kind == "tuple" and all(map(is_canonical, key.items))


def underlying(world: World, value: Value) -> Value:
    """The number or text that a member of an `IntEnum` or `str` enumeration is; other values as they are."""
    owner = enumeration_of(world, value)
    record = world.record(value) if isinstance(value, Ref) else None
    if owner is None or not isinstance(record, InstanceRecord):
        return value
    inner = record.attrs.get("value")
    plain = isinstance(inner, Const) and any(isinstance(base, Lib) and base.name in PLAIN for base in owner.mro)
    return inner if plain and inner is not None else value


def enumeration_of(world: World, value: Value) -> Any:
    """The record of the enumeration that a value is a member of."""
    record = world.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
        return None
    owner: Any = world.record(Ref(record.cls.address))
    return owner if getattr(owner, "kind", "") == "enum" else None
