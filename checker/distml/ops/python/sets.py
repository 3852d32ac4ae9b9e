"""Sets: their methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.python.comparing import compare
from distml.ops.python.conversions import set_from
from distml.ops.python.iterating import drawn
from distml.ops.python.joined import combined, pattern
from distml.ops.python.likeness import either
from distml.ops.registry import op
from distml.values import Const, Prim, Ref, SetRecord, Value

if TYPE_CHECKING:
    from collections.abc import Callable


def _method(*names: str, frozen: bool = True) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    kinds = ("set", "frozenset") if frozen else ("set",)
    return op(*(f"builtins.{kind}.{name}" for kind in kinds for name in names))


def record_of(call: Call, value: Value) -> SetRecord | None:
    """The record of a set."""
    record = call.world.record(value) if isinstance(value, Ref) else None
    return record if isinstance(record, SetRecord) else None


def _change(call: Call, self: Value, op: str, other: SetRecord) -> None:
    record = record_of(call, self)
    if record is not None and isinstance(self, Ref):
        call.world.replace(self, combined(call, op, record, other))


def _operand(call: Call, value: Value) -> SetRecord:
    return record_of(call, value) or set_from(call, drawn(call, value))


@_method("add", frozen=False)
def add(call: Call, self: Value, elem: Value, /) -> Value:
    """set.add(elem): https://docs.python.org/3/library/stdtypes.html#frozenset.add"""
    record = record_of(call, self)
    if record is None or not isinstance(self, Ref):
        return NONE
    if record.items is not None and any(compare(call, "==", elem, item) for item in record.items):
        return NONE
    distinct = record.items is not None and all(compare(call, "==", elem, item) is False for item in record.items)
    if distinct and record.items is not None:
        call.world.replace(self, SetRecord((*record.items, elem)))
        return NONE
    known = pattern(call, record)
    call.world.replace(self, SetRecord(None, either(call, [known, elem]) if known is not None else None))
    return NONE


@_method("discard", "remove", frozen=False)
def discard(call: Call, self: Value, elem: Value, /) -> Value:
    """set.discard(elem): https://docs.python.org/3/library/stdtypes.html#frozenset.discard"""
    _change(call, self, "-", SetRecord((elem,)))
    return NONE


@_method("pop", frozen=False)
def pop(call: Call, self: Value) -> Value:
    """set.pop(): https://docs.python.org/3/library/stdtypes.html#frozenset.pop"""
    record = record_of(call, self)
    if record is None or not isinstance(self, Ref):
        return call.unknown()
    found = pattern(call, record)
    left = SetRecord(()) if record.items is not None and len(record.items) == 1 else SetRecord(None, found)
    call.world.replace(self, left)
    return call.unknown() if found is None else found


@_method("clear", frozen=False)
def clear(call: Call, self: Value) -> Value:
    """set.clear(): https://docs.python.org/3/library/stdtypes.html#frozenset.clear"""
    if isinstance(self, Ref):
        call.world.replace(self, SetRecord(()))
    return NONE


@_method("copy")
def copy(call: Call, self: Value) -> Value:
    """set.copy(): https://docs.python.org/3/library/stdtypes.html#frozenset.copy"""
    record = record_of(call, self)
    return call.unknown() if record is None else call.world.allocate(SetRecord(record.items, record.item))


_NEW = {"union": "|", "intersection": "&", "difference": "-", "symmetric_difference": "^"}
_CHANGING = {"update": "|", "intersection_update": "&", "difference_update": "-", "symmetric_difference_update": "^"}
_INPLACE = {"__ior__": "|", "__iand__": "&", "__isub__": "-", "__ixor__": "^"}


@_method(*_NEW)
def combine(call: Call, self: Value, *others: Value) -> Value:
    """set.union(*others) and its kin: https://docs.python.org/3/library/stdtypes.html#frozenset.union"""
    record = record_of(call, self)
    if record is None:
        return call.unknown()
    for other in others:
        record = combined(call, _NEW[call.name.rpartition(".")[2]], record, _operand(call, other))
    return call.world.allocate(record)


@_method(*_CHANGING, frozen=False)
def update(call: Call, self: Value, *others: Value) -> Value:
    """set.update(*others) and its kin: https://docs.python.org/3/library/stdtypes.html#frozenset.update"""
    for other in others:
        _change(call, self, _CHANGING[call.name.rpartition(".")[2]], _operand(call, other))
    return NONE


@_method(*_INPLACE, frozen=False)
def inplace(call: Call, self: Value, other: Value) -> Value:
    """`self |= other` and its kin: https://docs.python.org/3/library/stdtypes.html#frozenset.update"""
    _change(call, self, _INPLACE[call.name.rpartition(".")[2]], _operand(call, other))
    return self


@_method("issubset", "issuperset", "isdisjoint")
def relation(call: Call, self: Value, other: Value, /) -> Value:
    """set.issubset(other) and its kin: https://docs.python.org/3/library/stdtypes.html#frozenset.issubset"""
    left, right = record_of(call, self), _operand(call, other)
    if left is None or left.items is None or right.items is None:
        return Prim("bool")
    if not all(isinstance(item, Const) for item in left.items + right.items):
        return Prim("bool")
    a, b = set(left.items), set(right.items)
    answers = {"issubset": a <= b, "issuperset": a >= b, "isdisjoint": a.isdisjoint(b)}
    return Const(answers[call.name.rpartition(".")[2]])
