"""What members of a `Flag` make together: https://docs.python.org/3/library/enum.html#enum.Flag"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from distml.ops.call import FALSE, TRUE
from distml.ops.python.iterating import iterator
from distml.ops.python.keys import enumeration_of
from distml.ops.registry import op
from distml.values import Const, InstanceRecord, Lib, Prim, Ref, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

FLAGS = ("enum.Flag", "enum.IntFlag")
NOT_IMPLEMENTED = Lib("builtins.NotImplemented")
_COMBINED: dict[str, Callable[[int, int], int]] = {"or": operator.or_, "and": operator.and_, "xor": operator.xor}


def _method(*names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    return op(*(f"{kind}.__{name}__" for kind in FLAGS for name in names))


def number_of(call: Call, value: Value) -> int | None:
    """The number that a member of a flag is, or that members make."""
    record = call.world.record(value) if isinstance(value, Ref) else None
    number = record.attrs.get("_value_") if isinstance(record, InstanceRecord) else None
    return number.value if isinstance(number, Const) and type(number.value) is int else None


def _other(call: Call, self: Value, other: Value) -> int | None:
    """The number of what a flag meets: another of its class, or for an `IntFlag` a number."""
    owner = enumeration_of(call.world, self)
    if enumeration_of(call.world, other) is owner:
        return number_of(call, other)
    plain = isinstance(other, Const) and type(other.value) is int and Lib("enum.IntFlag") in owner.mro
    return other.value if plain and isinstance(other, Const) else None


def _member(call: Call, self: Value, number: int) -> Value:
    return enumeration_of(call.world, self).composites.get(number) or call.unknown()


@_method(*_COMBINED, *(f"r{name}" for name in _COMBINED))
def combined(call: Call, self: Value, other: Value, /) -> Value:
    """Flag | Flag, Flag & Flag, Flag ^ Flag: https://docs.python.org/3/library/enum.html#enum.Flag.__or__"""
    left, right = number_of(call, self), _other(call, self, other)
    if left is None or right is None:
        return call.unknown() if enumeration_of(call.world, other) else NOT_IMPLEMENTED
    return _member(call, self, _COMBINED[call.name.rpartition(".__")[2].strip("_").removeprefix("r")](left, right))


@_method("invert")
def inverted(call: Call, self: Value, /) -> Value:
    """~Flag: https://docs.python.org/3/library/enum.html#enum.Flag.__invert__"""
    number = number_of(call, self)
    every = max(enumeration_of(call.world, self).composites, default=0)
    return call.unknown() if number is None else _member(call, self, every & ~number)


@_method("contains")
def contains(call: Call, self: Value, other: Value, /) -> Value:
    """Flag in Flag: https://docs.python.org/3/library/enum.html#enum.Flag.__contains__"""
    whole, part = number_of(call, self), number_of(call, other)
    same = enumeration_of(call.world, self) is enumeration_of(call.world, other)
    return Const(whole & part == part) if same and whole is not None and part is not None else Prim("bool")


@_method("bool")
def holds(call: Call, self: Value, /) -> Value:
    """bool(Flag): https://docs.python.org/3/library/enum.html#enum.Flag.__bool__"""
    number = number_of(call, self)
    return Prim("bool") if number is None else TRUE if number else FALSE


def _parts(call: Call, self: Value) -> list[Value] | None:
    number = number_of(call, self)
    members = enumeration_of(call.world, self).members
    bits = [number_of(call, member) for member in members]
    if number is None or None in bits:
        return None
    return [member for member, bit in zip(members, bits, strict=True) if bit and bit & number]


@_method("iter")
def parts(call: Call, self: Value, /) -> Value:
    """iter(Flag), of Python 3.11 and newer: https://docs.python.org/3/library/enum.html#enum.Flag.__iter__"""
    found = _parts(call, self)
    return call.unknown() if found is None else iterator(call, found)


@_method("len")
def count(call: Call, self: Value, /) -> Value:
    """len(Flag), of Python 3.11 and newer: https://docs.python.org/3/library/enum.html#enum.Flag.__len__"""
    found = _parts(call, self)
    return Prim("int") if found is None else Const(len(found))
