"""Classes that are there to be derived from: what an object that nobody makes in sight takes from a subclass of its own.

Code that nobody calls gets an object of any class derived from its own. A subclass may write anew what its base leaves open:
methods that do nothing or never return, and, of a class that has such, every other attribute of the class; and it does where
one in sight does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.classes import lookup
from distml.interp.scope import is_left_open
from distml.values import Class, Function, InstanceRecord, Ref, Value

if TYPE_CHECKING:
    from distml.interp.class_record import ClassRecord
    from distml.interp.machine import Machine


def may_be_another(vm: Machine, function: Function, bound: dict[str, Value]) -> bool:
    """Whether a method, called with its object as the first of `bound`, may be one of a subclass."""
    if not vm.symbolic or is_left_open(function.node):
        return vm.symbolic
    cls = None if function.name == "__init__" else _of_any(vm, next(iter(bound.values()), None))
    owner = [] if cls is None else _owners(vm, cls, function.name)[:1]
    return cls is not None and owner == [function.owner] and _is_written_anew(vm, cls, function.name, owner)


def may_have_another(vm: Machine, own: Value, name: str) -> bool:
    """Whether a class attribute that is no method may be one of a subclass."""
    cls = _of_any(vm, own)
    owner = [] if cls is None else _owners(vm, cls, name)[:1]
    return cls is not None and bool(owner) and (is_open(vm, cls) or _is_written_anew(vm, cls, name, owner))


def may_be_derived(vm: Machine, own: Value) -> bool:
    """Whether an object may be of a class derived from the one it is said to be of."""
    return _of_any(vm, own) is not None


def type_of(vm: Machine, own: Value, record: InstanceRecord) -> Value:
    """`type(own)`"""
    cls = _of_any(vm, own)
    return record.cls if cls is None or not is_open(vm, cls) else vm.opaque("type")


def _of_any(vm: Machine, own: Value | None) -> Class | None:
    """The class of the object, made up, whose method is what is analyzed; None for all other values."""
    if not vm.symbolic or not isinstance(own, Ref) or len(vm.stack) < 2 or own != vm.stack[1].receiver:
        return None
    record = vm.record(own)
    return record.cls if isinstance(record, InstanceRecord) and isinstance(record.cls, Class) else None


def is_open(vm: Machine, cls: Class) -> bool:
    """Whether a class leaves methods to its subclasses, so that no object is of this class itself."""
    record: ClassRecord | None = vm.at(cls.address)
    if record is None:
        return False
    names = {name for base in record.mro if isinstance(base, Class) for name in vm.at(base.address).attrs}
    found = (lookup(vm, record.mro, name)[0] for name in names)
    return any(isinstance(each, Function) and is_left_open(each.node) for each in found)


def _is_written_anew(vm: Machine, base: Class, name: str, owner: list[int]) -> bool:
    return any(_owners(vm, cls, name)[:1] not in ([], owner) for cls in vm.classes if _derives(vm, cls, base))


def _owners(vm: Machine, cls: Class, name: str) -> list[int]:
    """The classes that an object has an attribute from, in the order in which it is looked for."""
    record: ClassRecord | None = vm.at(cls.address)
    bases = [] if record is None else [base for base in record.mro if isinstance(base, Class)]
    return [base.address for base in bases if name in vm.at(base.address).attrs]


def _derives(vm: Machine, cls: Class, base: Class) -> bool:
    record = vm.at(cls.address)
    return record is not None and cls != base and base in record.mro
