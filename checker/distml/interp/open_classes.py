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
    from distml.interp.classes import ClassRecord
    from distml.interp.machine import Machine


def may_be_another(vm: Machine, function: Function, bound: dict[str, Value]) -> bool:
    """Whether a method, called with its object as the first of `bound`, may be one of a subclass."""
    if not vm.symbolic or is_left_open(function.node):
        return vm.symbolic
    own = next(iter(bound.values()), None)
    if function.name == "__init__" or not is_any_of_its_class(vm, own):
        return False
    record = vm.record(own)  # type: ignore[arg-type]
    first = _owners(vm, record.cls, function.name)  # type: ignore[union-attr]
    return first[:1] == [function.owner] and _is_written_anew(vm, record.cls, function.name, first[:1])  # type: ignore[union-attr]


def may_have_another(vm: Machine, own: Value, name: str) -> bool:
    """Whether a class attribute that is no method may be one of a subclass."""
    if not is_any_of_its_class(vm, own):
        return False
    cls = vm.record(own).cls  # type: ignore[arg-type, union-attr]
    owner = _owners(vm, cls, name)[:1]
    return bool(owner) and (is_open(vm, cls) or _is_written_anew(vm, cls, name, owner))


def is_any_of_its_class(vm: Machine, own: Value | None) -> bool:
    """Whether a value is the object, made up, whose method is what is analyzed."""
    if not vm.symbolic or not isinstance(own, Ref) or len(vm.stack) < 2 or own != vm.stack[1].receiver:
        return False
    record = vm.record(own)
    return isinstance(record, InstanceRecord) and isinstance(record.cls, Class)


def type_of(vm: Machine, own: Value, record: InstanceRecord) -> Value:
    """`type(own)`"""
    if is_any_of_its_class(vm, own) and is_open(vm, record.cls):
        return vm.opaque("type")
    return record.cls


def is_open(vm: Machine, cls: Value) -> bool:
    """Whether a class leaves methods to its subclasses, so that no object is of this class itself."""
    record: ClassRecord | None = vm.at(cls.address) if isinstance(cls, Class) else None
    if record is None:
        return False
    names = {name for base in record.mro if isinstance(base, Class) for name in vm.at(base.address).attrs}
    found = (lookup(vm, record.mro, name)[0] for name in names)
    return any(isinstance(each, Function) and is_left_open(each.node) for each in found)


def _is_written_anew(vm: Machine, base: Value, name: str, owner: list[int]) -> bool:
    return any(_owners(vm, cls, name)[:1] not in ([], owner) for cls in vm.classes if _derives(vm, cls, base))


def _owners(vm: Machine, cls: Value, name: str) -> list[int]:
    """The classes that an object has an attribute from, in the order in which it is looked for."""
    record = vm.at(cls.address) if isinstance(cls, Class) else None
    bases = [] if record is None else [base for base in record.mro if isinstance(base, Class)]
    return [base.address for base in bases if name in vm.at(base.address).attrs]


def _derives(vm: Machine, cls: Class, base: Value) -> bool:
    record = vm.at(cls.address)
    return record is not None and cls != base and base in record.mro
