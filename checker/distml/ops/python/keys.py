"""Keys of dicts: values of which it is known whether two of them are one key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.values import Class, Const, InstanceRecord, Lib, Ref, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import World
    from distml.values import DictRecord

PLAIN = frozenset({"enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "builtins.int", "builtins.str"})
"""Bases that make the members of an enumeration numbers or text."""


def canonical(world: World, key: Value) -> Value | None:
    """The same value for keys that are equal; None for what cannot be compared.

    1, True and 1.0 are one key, and so are a member of a `str` enumeration and its text.
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
    return key if isinstance(key, Class) else _member(world, key)


def _member(world: World, key: Value) -> Value | None:
    """A member of an enumeration, by its class and value: one value may have two names."""
    owner = _owner(world, key)
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
    if wanted is None or (isinstance(wanted, Const) and all(_is_text(known) for known in record.items)):
        return None
    return next((known for known in record.items if canonical(world, known) == wanted), None)


def _is_text(key: Value) -> bool:
    return isinstance(key, Const) and isinstance(key.value, str)


def underlying(world: World, value: Value) -> Value:
    """The number or text that a member of an `IntEnum` or `str` enumeration is; other values as they are."""
    owner = _owner(world, value)
    record = world.record(value) if isinstance(value, Ref) else None
    if owner is None or not isinstance(record, InstanceRecord):
        return value
    inner = record.attrs.get("value")
    plain = isinstance(inner, Const) and any(isinstance(base, Lib) and base.name in PLAIN for base in owner.mro)
    return inner if plain and inner is not None else value


def _owner(world: World, value: Value) -> Any:
    """The record of the enumeration that a value is a member of."""
    record = world.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
        return None
    owner: Any = world.record(Ref(record.cls.address))
    return owner if getattr(owner, "kind", "") == "enum" else None
