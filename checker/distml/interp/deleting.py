"""`del x.name`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.interp.class_record import Property
from distml.interp.classes import lookup
from distml.interp.storage import drop_child
from distml.values import Bound, Class, Const, Function, InstanceRecord, Opaque, Ref, Value

if TYPE_CHECKING:
    from distml.interp.class_record import ClassRecord
    from distml.interp.machine import Machine


def delete_attribute(vm: Machine, value: Value, name: str) -> None:
    """`del value.name`."""
    record = vm.record(value) if isinstance(value, Ref) else None
    if isinstance(record, InstanceRecord) and isinstance(value, Ref):
        if isinstance(record.cls, Class) and _deletes(vm, value, vm.at(record.cls.address), name):
            return
        drop_child(vm, record, name)
        attrs = {key: item for key, item in record.attrs.items() if key != name}
        vm.replace(value, replace(record, attrs=attrs))
    elif isinstance(value, Opaque):
        vm.put(("attr", value, name), vm.opaque(name))
        vm.note_child(("attr", value, name))


def _deletes(vm: Machine, ref: Ref, cls: ClassRecord, name: str) -> bool:
    """Whether the class has code of its own for `del`, which is run."""
    own, _ = lookup(vm, cls.mro, "__delattr__")
    member, _ = lookup(vm, cls.mro, name)
    if isinstance(own, Function):
        vm.apply(Bound(own, ref), [Const(name)])
    elif isinstance(member, Property) and member.deleter is not None:
        vm.apply(member.deleter, [ref])
    else:
        return False
    return True
