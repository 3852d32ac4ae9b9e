"""What `reveal_shape(x)` says of a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops import Call
from distml.ops.dialect import dialect
from distml.values import (
    Const,
    Expr,
    InstanceRecord,
    ListRecord,
    Num,
    Opaque,
    Prim,
    Ref,
    ShapeSeq,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from distml.interp.machine import Machine


def describe(vm: Machine, value: Value) -> str:
    """A value in one line: `Tensor[b, 128]`, `int 3`, `tuple (...)`."""
    if isinstance(value, Tensor):
        return f"{dialect(value.lib).shown}{vm.facts.shape(value.shape)!r}"
    if isinstance(value, Union):
        return " | ".join(describe(vm, option) for option in value.options)
    if isinstance(value, Tup):
        return f"({', '.join(describe(vm, item) for item in value.items)})"
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Num):
        return f"int {vm.facts.dim(value.dim)!r}"
    if isinstance(value, Prim):
        return value.kind
    if isinstance(value, ShapeSeq):
        return f"shape {vm.facts.shape(value.shape)!r}"
    if isinstance(value, Ref):
        return _object(vm, value)
    if isinstance(value, Opaque | Expr):
        known = vm.get(("shape", value))
        if known is not None:
            return f"unknown{Call(vm, 'reveal', 'array').shape(value)!r}"
    return "unknown"


def _object(vm: Machine, value: Ref) -> str:
    record = vm.record(value)
    if isinstance(record, ListRecord):
        if record.items is not None:
            return f"[{', '.join(describe(vm, item) for item in record.items)}]"
        item = "unknown" if record.item is None else describe(vm, record.item)
        return f"list of {item}"
    if isinstance(record, InstanceRecord):
        return getattr(record.cls, "name", "object").rpartition(".")[2]
    return type(record).__name__.removesuffix("Record").lower()
