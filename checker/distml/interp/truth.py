"""Truth values of abstract values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.storage import held_by
from distml.interp.typetests import has_foreign_base
from distml.ops.python.keys import underlying
from distml.solver.formula import FALSE, TRUE
from distml.values import (
    Bound,
    Claimed,
    Class,
    Condition,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    ListRecord,
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

if TYPE_CHECKING:
    from distml.interp.machine import Machine


def is_bool(value: Value) -> bool:
    """Whether a value is True or False, whichever it is."""
    return (isinstance(value, Prim) and value.kind == "bool") or (
        isinstance(value, Const) and isinstance(value.value, bool)
    )


def truth(vm: Machine, value: Value) -> bool | None:
    """Whether a value counts as true; None when unknown."""
    if isinstance(value, Opaque):
        known: bool | None = vm.get(("truth", value))
        return known
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Claimed):
        return None
    if isinstance(value, Tup):
        return bool(value.items)
    if isinstance(value, Function | Class | Bound):
        return True
    if isinstance(value, Num):
        dim = vm.facts.dim(value.dim)
        constant = dim.constant
        if constant is not None:
            return constant != 0
        return True if dim.is_nonzero else None
    if isinstance(value, Condition):
        return {TRUE: True, FALSE: False}.get(value.formula)
    if isinstance(value, Union):
        answers = {truth(vm, option) for option in value.options}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(value, Ref):
        return _of_record(vm, value)
    if isinstance(value, ShapeSeq):
        return True if vm.facts.shape(value.shape).least else None
    if isinstance(value, Tensor):
        return truth(vm, value.number) if value.shape.rank == 0 and value.number is not None else None
    if isinstance(value, Range):
        items = vm.iterate(value)
        return bool(items) if isinstance(items, tuple) else None
    return None


def _of_record(vm: Machine, ref: Ref) -> bool | None:
    record = vm.record(ref)
    if isinstance(record, ListRecord | SetRecord):
        return None if record.items is None else bool(record.items)
    if isinstance(record, DictRecord):
        return True if record.items else (False if record.exact else None)
    if isinstance(record, InstanceRecord):
        held = held_by(vm, ref)
        for name in ("__bool__", "__len__"):
            method = vm.attribute(ref, name)
            if method is not None and (held == ref or isinstance(method, Bound)):
                result = vm.apply(method, [])
                return None if isinstance(result, Opaque) else truth(vm, result)
        if held != ref:
            return truth(vm, held)
        plain = underlying(vm, ref)
        if plain != ref:
            return truth(vm, plain)
        if isinstance(record.cls, Class) and vm.at(record.cls.address).kind == "enum":
            return None if vm.at(record.cls.address).open else True
        return True if record.exact and not has_foreign_base(vm, record) else None
    return None
