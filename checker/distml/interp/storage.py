"""Where objects keep their attributes: `x.__dict__`, `x._modules`, `vars(x)`, and the children of containers by name.

Such a dict is made anew each time it is read; what is written into it later is written to its object too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.interp.changes import STORAGE
from distml.interp.class_record import Property
from distml.interp.join import join_records
from distml.interp.library import entry_of, is_module, library_bases
from distml.interp.several import are_several
from distml.ops.call import FALSE, TRUE
from distml.ops.registry import LIBRARIES
from distml.values import (
    Class,
    Const,
    DictRecord,
    Expr,
    Function,
    InstanceRecord,
    Lib,
    ListRecord,
    Opaque,
    Record,
    Ref,
    Union,
    Value,
)

if TYPE_CHECKING:
    from distml.interp.machine import Machine

ITEMS = "__items__"
"""The attribute that refers to the children of a library container, or to what an object derived from dict or list holds."""
APART = "__apart__"
"""The attribute of an object derived from dict or list: whether what it holds and its attributes are two things. They are
one after `self.__dict__ = self`."""
_PLAIN = frozenset(
    {"builtins.object", *(f"torch.nn.{name}" for name in ("Module", "ModuleDict", "ModuleList", "Sequential"))}
)
"""Bases that have no children of their own but those that they are given."""
MODE = "training"
"""The attribute of a module that `train` and `eval` set."""


def view_of(vm: Machine, owner: Ref, record: InstanceRecord, name: str) -> Ref:
    """The dict that an object keeps attributes in; those it may hold beside the known ones are unknown."""
    whole = name == "__dict__"
    kept = {key: (value, True if whole else _is_kept(vm, name, value)) for key, value in _by_name(vm, record)}
    items: dict[Value, Value] = {Const(key): value for key, (value, there) in kept.items() if there is not False}
    told = whole or (_shows_children(vm, name, record) and None not in (there for _, there in kept.values()))
    exact = told and record.exact and not record.sometimes and not vm.symbolic
    rest = None if exact else vm.opaque(name)
    made = vm.allocate(DictRecord(items, exact, rest))
    vm.views[made.address] = owner
    if whole and _is_module(vm, record):
        inner: dict[Value, Value] = {Const(each): view_of(vm, owner, record, each) for each in sorted(STORAGE - {name})}
        vm.state.set(made.address, DictRecord({**items, **inner}, exact, rest))
    return made


def _is_kept(vm: Machine, name: str, value: Value) -> bool | None:
    """Whether an attribute is kept in `_modules` or among the parameters and buffers; None where it may be."""
    if name == "_modules":
        return is_submodule(vm, value)
    return None if isinstance(value, Opaque) else not isinstance(value, Ref)


def library_classes(vm: Machine, record: InstanceRecord) -> tuple[str, ...] | None:
    """The library classes that an object is of, its own or those that its class comes from; None where not all are known."""
    order = vm.at(record.cls.address).mro if isinstance(record.cls, Class) else (record.cls,)
    if any(base is None or not isinstance(base, Class | Lib) for base in order):
        return None
    return tuple(name for base in order if isinstance(base, Lib) for name in library_bases(base.name))


def is_submodule(vm: Machine, value: Value) -> bool | None:
    """Whether a value is a layer, which becomes part of the one whose attribute it is; None where that is not known."""
    if isinstance(value, Union):
        found = {is_submodule(vm, option) for option in value.options}
        return found.pop() if len(found) == 1 else None
    record = vm.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord):
        # what another package names may be a layer; functions, classes and types of the libraries that are known are none
        foreign = isinstance(value, Lib) and value.name.partition(".")[0] not in LIBRARIES
        return None if foreign or isinstance(value, Opaque | Expr) else False
    if isinstance(record.cls, Class):
        cls = vm.at(record.cls.address)
        return True if is_module(cls.mro) else None if cls.open and cls.kind != "enum" else False
    return isinstance(record.cls, Lib) and "torch.nn.Module" in library_bases(record.cls.name)


def _shows_children(vm: Machine, name: str, record: InstanceRecord) -> bool:
    """Whether all that an object has in `_modules` is in sight: its class is the program's, on top of a module or a container."""
    if name != "_modules":
        return False
    held = _named(vm, record)
    counted = held is None or (held.exact if isinstance(held, DictRecord) else getattr(held, "items", None) is not None)
    bases = vm.at(record.cls.address).mro if isinstance(record.cls, Class) else (record.cls,)
    return counted and all(isinstance(base, Class) or (isinstance(base, Lib) and base.name in _PLAIN) for base in bases)


def _by_name(vm: Machine, record: InstanceRecord) -> list[tuple[str, Value]]:
    """The attributes of an object and the children of a container, with their names."""
    found = {
        name: value
        for name, value in record.attrs.items()
        if not name.startswith("__") and name not in record.sometimes
    }
    held = _named(vm, record)
    if isinstance(held, DictRecord):
        found = {key.value: value for key, value in held.items.items() if isinstance(key, Const)} | found
    elif isinstance(held, ListRecord) and held.items is not None:
        named = set(found.values())
        found.update({str(i): value for i, value in enumerate(held.items) if value not in named})
    return list(found.items())


def as_kept(vm: Machine, ref: Ref, record: Record) -> Record:
    """What the store keeps of an object that is changed. Of several objects one is changed, so that each may be as before."""
    if ref.address in vm.views:
        write_through(vm, ref, record)
    before = vm.record(ref) if are_several(vm, ref) else None
    if before is None:
        return record
    for other in sorted(vm.alike.get(ref.address, ())):
        known = vm.state.get(other)
        if isinstance(known, Record):
            vm.state.set(other, join_records(vm, known, record))
    return join_records(vm, before, record)


def write_through(vm: Machine, view: Ref, new: Record) -> None:
    """A dict of attributes is changed: so is its object."""
    owner, old = vm.views[view.address], vm.record(view)
    if not isinstance(old, DictRecord) or not isinstance(new, DictRecord):
        return
    if old.exact != new.exact or old.rest != new.rest:
        forget_attributes(vm, owner)
        return
    for key in old.items:
        if key not in new.items and isinstance(key, Const):
            vm.language.delete_attribute(vm, owner, str(key.value))
    for key, value in new.items.items():
        if isinstance(key, Const) and old.items.get(key) != value:
            vm.language.set_attribute(vm, owner, str(key.value), value, vm.node, plain=True)


def held_by(vm: Machine, value: Value) -> Value:
    """What an object derived from dict or list holds; anything else is itself."""
    record = vm.record(value) if isinstance(value, Ref) else None
    return record.attrs[ITEMS] if isinstance(record, InstanceRecord) and APART in record.attrs else value


def record_held_by(vm: Machine, value: Value) -> Record | None:
    """The record of a container, or of the one that an object derived from dict or list holds."""
    held = held_by(vm, value)
    return vm.record(held) if isinstance(held, Ref) else None


def replace_attributes(vm: Machine, owner: Ref, value: Value) -> None:
    """`x.__dict__ = value`."""
    old = vm.record(owner)
    if value == owner and isinstance(old, InstanceRecord) and APART in old.attrs:
        vm.replace(owner, replace(old, attrs={**old.attrs, APART: FALSE}, exact=False))
        return
    forget_attributes(vm, owner)
    record = vm.record(value) if isinstance(value, Ref) else None
    for key, item in record.items.items() if isinstance(record, DictRecord) else ():
        if isinstance(key, Const):
            vm.language.set_attribute(vm, owner, str(key.value), item, vm.node, plain=True)


def forget_attributes(vm: Machine, owner: Ref) -> None:
    """Attributes of names that are not known were set: each may be one of them, also those that the class has."""
    record = vm.record(owner)
    if not isinstance(record, InstanceRecord):
        return
    names = {name for name in record.attrs if not name.startswith("__")}
    if isinstance(record.cls, Class):
        for base in vm.at(record.cls.address).mro:
            attrs = vm.at(base.address).attrs if isinstance(base, Class) else {}
            names.update(name for name, value in attrs.items() if not _of_the_class(name, value))
    attrs = {name: vm.opaque(name) for name in sorted(names)}
    vm.replace(owner, InstanceRecord(record.cls, attrs, False))


def _of_the_class(name: str, value: Value) -> bool:
    return name.startswith("__") or isinstance(value, Function | Property | Class)


def _named(vm: Machine, record: InstanceRecord) -> Record | None:
    """What an object holds, if its names are attributes too."""
    items = record.attrs.get(ITEMS)
    return vm.record(items) if isinstance(items, Ref) and record.attrs.get(APART) != TRUE else None


def child(vm: Machine, record: InstanceRecord, name: str) -> Value | None:
    """The child of a library container by its name."""
    held = _named(vm, record)
    if isinstance(held, DictRecord):
        return held.items.get(Const(name))
    if isinstance(held, ListRecord) and held.items is not None and name.isdecimal() and int(name) < len(held.items):
        return held.items[int(name)]
    return None


def set_child(vm: Machine, record: InstanceRecord, name: str, item: Value) -> None:
    """A layer that becomes an attribute of a container (`self.norm = ...` in a Sequential) is one of its children, in
    the place of the one that had its name; with what may be a layer or not, its children are not known any more."""
    items, held = record.attrs.get(ITEMS), _named(vm, record)
    becomes = APART in record.attrs or _is_kept(vm, "_modules", item)
    if not isinstance(items, Ref) or becomes is False:
        return
    if isinstance(held, DictRecord):
        changed = replace(held, items={**held.items, Const(name): item}) if becomes else DictRecord({}, exact=False)
        vm.replace(items, changed)
    if not isinstance(held, ListRecord) or held.items is None:
        return
    old = child(vm, record, name)
    old = record.attrs.get(name) if old is None else old
    at = (
        int(name)
        if name.isdecimal()
        else next((i for i, each in enumerate(held.items) if each == old), len(held.items))
    )
    if at < len(held.items):
        vm.replace(items, replace(held, items=(*held.items[:at], item, *held.items[at + 1 :])))
    elif not becomes:
        vm.replace(items, ListRecord(None))
    else:
        vm.replace(items, replace(held, items=(*held.items, item)))


def drop_child(vm: Machine, record: InstanceRecord, name: str) -> None:
    """A child is removed by name; those behind it keep theirs, so that these are no longer numbers of places."""
    items, held = record.attrs.get(ITEMS), _named(vm, record)
    if not isinstance(items, Ref):
        return
    if isinstance(held, DictRecord):
        vm.replace(items, replace(held, items={k: v for k, v in held.items.items() if k != Const(name)}))
    elif isinstance(held, ListRecord) and held.items is not None:
        is_last = name == str(len(held.items) - 1)
        vm.replace(items, replace(held, items=held.items[:-1]) if is_last else ListRecord(None))


def holds_module(vm: Machine, value: Value) -> bool:
    """Whether a value is a module, or the children of one."""
    record = vm.record(value) if isinstance(value, Ref) else None
    return isinstance(record, InstanceRecord) and _is_module(vm, record)


def _is_module(vm: Machine, record: InstanceRecord) -> bool:
    if isinstance(record.cls, Class):
        return is_module(vm.at(record.cls.address).mro)
    return entry_of(getattr(record.cls, "name", "")) is not None
