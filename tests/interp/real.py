"""Whether an abstract value is, or covers, what the program really had."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from distml.interp.machine import Machine
from distml.shapes import Dim, Shape
from distml.values import (
    Bound,
    Class,
    Const,
    DictRecord,
    Expr,
    Function,
    InstanceRecord,
    IteratorRecord,
    ListRecord,
    Many,
    Num,
    Opaque,
    Prim,
    Range,
    Ref,
    SetRecord,
    ShapeSeq,
    Tensor,
    Tup,
    Union,
    Value,
)


class Match(IntEnum):
    """How an abstract value and a real one go together."""

    NO = 0
    COVERS = 1
    EXACT = 2


def match(vm: Machine, value: Value | None, real: Any) -> Match:
    """How well `value`, in the machine's present state, describes `real`."""
    if isinstance(value, Union):
        return min(max(match(vm, option, real) for option in value.options), Match.COVERS)
    if isinstance(value, Const):
        same = type(value.value) is type(real) and (value.value == real or value.value != value.value)
        return Match.EXACT if same else Match.NO
    if isinstance(value, Num):
        return _dim(vm, value.dim, real)
    if isinstance(value, Prim):
        return Match.COVERS if type(real).__name__ == value.kind else Match.NO
    if isinstance(value, Tup):
        return _all(vm, value.items, real) if isinstance(real, tuple) else Match.NO
    if isinstance(value, Range):
        return _all(vm, (value.start, value.stop, value.step), (real.start, real.stop, real.step))
    if isinstance(value, Many):
        return _each(vm, value.item, value.length, list(real))
    if isinstance(value, Tensor):
        return _shape(vm, value.shape, tuple(real.shape)) if hasattr(real, "shape") else Match.NO
    if isinstance(value, ShapeSeq):
        return _shape(vm, value.shape, real) if isinstance(real, tuple) else Match.NO
    if isinstance(value, Ref):
        return _record(vm, value, real)
    if isinstance(value, Function | Bound | Class):
        return _code(value, real)
    return Match.COVERS if value is None or isinstance(value, Opaque | Expr) or callable(real) else Match.NO


def _dim(vm: Machine, dim: Dim, real: Any) -> Match:
    if type(real) is not int:
        return Match.NO
    known = vm.facts.dim(dim)
    if known.constant is not None:
        return Match.EXACT if known.constant == real else Match.NO
    return Match.COVERS if known.low is None or known.low <= real else Match.NO


def _shape(vm: Machine, shape: Shape, real: tuple[int, ...]) -> Match:
    known = vm.facts.shape(shape)
    if known.dims is not None:
        if len(known.dims) != len(real):
            return Match.NO
        return min((_dim(vm, d, n) for d, n in zip(known.dims, real)), default=Match.EXACT)
    if len(real) < known.least:
        return Match.NO
    ends = [*zip(known.head, real), *zip(reversed(known.tail), reversed(real))]
    return min((_dim(vm, d, n) for d, n in ends), default=Match.COVERS) and Match.COVERS


def _all(vm: Machine, items: tuple[Value, ...], real: Any) -> Match:
    found = list(real)
    if len(items) != len(found):
        return Match.NO
    return min((match(vm, a, b) for a, b in zip(items, found)), default=Match.EXACT)


def _each(vm: Machine, item: Value | None, length: Dim | None, real: list[Any]) -> Match:
    if length is not None and not _dim(vm, length, len(real)):
        return Match.NO
    return Match.COVERS if all(match(vm, item, each) for each in real) else Match.NO


def _record(vm: Machine, ref: Ref, real: Any) -> Match:
    record = vm.record(ref)
    if isinstance(record, InstanceRecord):
        return _instance(vm, record, real)
    if isinstance(record, DictRecord):
        return _dict(vm, record, real) if isinstance(real, dict) else Match.NO
    if isinstance(record, SetRecord):
        if record.items is None:
            return _each(vm, record.item, None, list(real))
        pairs = [max((match(vm, a, b) for a in record.items), default=Match.NO) for b in real]
        return min(pairs, default=Match.EXACT) if len(record.items) == len(real) else Match.NO
    assert isinstance(record, ListRecord | IteratorRecord)
    if not hasattr(real, "__iter__") or (isinstance(record, ListRecord) and isinstance(real, tuple | dict | set | str)):
        return Match.NO
    if record.items is not None:
        return _all(vm, record.items, real)
    return _each(vm, record.item, record.length, list(real))


def _dict(vm: Machine, record: DictRecord, real: dict[Any, Any]) -> Match:
    left: dict[Value, Value] = dict(record.items)
    found = []
    for key, value in real.items():
        known = next((each for each in left if match(vm, each, key) is Match.EXACT), None)
        if known is None and record.exact:
            return Match.NO
        in_order = known is None or not record.exact or known is next(iter(left))
        item = record.rest if known is None else left.pop(known)
        found.append(match(vm, item, value) if in_order else Match.NO)
    if left:
        return Match.NO
    return min(found, default=Match.EXACT) if record.exact else min([*found, Match.COVERS])


def _instance(vm: Machine, record: InstanceRecord, real: Any) -> Match:
    if isinstance(record.cls, Class) and record.cls.name != type(real).__name__:
        return Match.NO
    own = {name: value for name, value in getattr(real, "__dict__", {}).items() if not name.startswith("_")}
    found = [match(vm, record.attrs.get(name), value) for name, value in own.items()]
    return min(found, default=Match.EXACT) if record.exact else min([*found, Match.COVERS])


def _code(value: Function | Bound | Class, real: Any) -> Match:
    if not callable(real):
        return Match.NO
    if isinstance(value, Bound):
        return Match.COVERS
    return Match.EXACT if getattr(real, "__name__", value.name) == value.name else Match.NO
