"""Functions whose results are kept: a call with arguments that are equal to earlier ones runs nothing.

https://docs.python.org/3/library/functools.html#functools.cache
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.class_record import ClassRecord
from distml.interp.several import are_several
from distml.ops.python.keys import canonical
from distml.values import Class, Const, DictRecord, InstanceRecord, Lib, Ref, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.arguments import Arguments
    from distml.interp.machine import Machine

MAX_KEPT = 64
"""Results that are kept of one function. A cache that Python makes holds 128 where nothing is said."""


def call_kept(vm: Machine, cell: Ref, arguments: Arguments, follow: Callable[[], Value]) -> Value:
    """What the call with the same arguments gave, if it is known; else what `follow` gives, which is kept."""
    key, record = _key(vm, arguments), vm.record(cell)
    if key is None:
        return follow()
    if isinstance(record, DictRecord) and key in record.items:
        return record.items[key]
    result = follow()
    record = vm.record(cell)
    if isinstance(record, DictRecord) and len(record.items) < MAX_KEPT:
        vm.replace(cell, DictRecord({**record.items, key: result}, record.exact, record.rest))
    return result


def _key(vm: Machine, arguments: Arguments) -> Value | None:
    """The arguments as the cache tells them apart: by place or by name, and in the order that they were given."""
    parts = [_told(vm, value) for value in (*arguments.args, *arguments.kwargs.values())]
    known = tuple(part for part in parts if part is not None)
    if arguments.open or len(known) < len(parts):
        return None
    return Tup((*known, *map(Const, arguments.kwargs)))


def _told(vm: Machine, value: Value) -> Value | None:
    """A value that equals another one only where both are the same; None where that is not known."""
    known = canonical(vm, value)
    if known is not None or not isinstance(value, Ref) or are_several(vm, value):
        return known
    record = vm.record(value)
    owner = (
        vm.record(Ref(record.cls.address))
        if isinstance(record, InstanceRecord) and isinstance(record.cls, Class)
        else None
    )
    return value if isinstance(owner, ClassRecord) and all(_by_identity(vm, base) for base in owner.mro) else None


def _by_identity(vm: Machine, base: Value | None) -> bool:
    """Whether objects of a class are equal to themselves only, as far as this class says."""
    if isinstance(base, Lib):
        return base.name == "builtins.object"
    record = vm.record(Ref(base.address)) if isinstance(base, Class) else None
    return (
        isinstance(record, ClassRecord) and record.fields is None and not {"__eq__", "__hash__"} & record.attrs.keys()
    )
