"""The state of objects, classes and module variables after code that is not followed.

A method meets its object after any sequence of methods, functions and hooks, in sight or not. What that leaves known:

- What a constructor fixed and no code in sight changes (`interp/changes`) stays: numbers, layers, parameters, tuples,
  containers that hold something.
- What is there to be filled is unknown: None, an empty container, a tensor without elements. The None of a class in an
  installed package is filled by that package, if at all, and its code is in sight.
- What code in sight sets is unknown; a container that it fills, or gives away, holds anything. Any code may set a module's mode.

The same holds of objects that are given to code which is not known, of class attributes, and of module variables. Code that
gets hold of the names of a module (`exec`, `globals()`, `import *`) may give them other data (`unsettle_names`).
"""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from distml.interp.changes import ANY, ANY_ITEM, ANY_MODULE, ANY_TENSOR, Changes
from distml.interp.in_place import forget_numbers
from distml.interp.module_facts import facts_of
from distml.interp.state import CHANGED
from distml.interp.storage import APART, ITEMS, MODE, holds_module
from distml.ops.rules.widths import CHOSEN
from distml.source.reading import UnreadableError
from distml.values import (
    NONE,
    Class,
    Const,
    DictRecord,
    Function,
    Imported,
    InstanceRecord,
    IteratorRecord,
    Lib,
    ListRecord,
    Module,
    Opaque,
    Prim,
    Record,
    Ref,
    SetRecord,
    Tensor,
    Tup,
    Union,
    Value,
    alternatives,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distml.interp.class_record import ClassRecord
    from distml.interp.frames import ModuleInfo
    from distml.interp.machine import Machine

INTERNAL = ("__name__", "__hooks__")
"""Attributes that only the interpreter knows."""


def unsettle(vm: Machine, value: Value, in_sight: bool = True) -> None:
    """Code that is not followed had hold of a value: objects keep what such code leaves alone, containers nothing.

    Unless `in_sight`, it was none of the code in sight.
    """
    if isinstance(value, Opaque):
        forget_children(vm, value)
        return
    forget_numbers(vm, value)
    if isinstance(value, Ref):
        _Unsettling(vm, None if in_sight else _NOTHING).given(value)


def forget_around(vm: Machine, changed: Opaque) -> None:
    """Code that is not followed changed an unknown value: what it had is unknown anew, and so is what else is in the values
    that it is a part of. They stay those that have it.
    """
    part: Opaque | None = None
    holder: Opaque | None = changed
    while holder is not None:
        forget_children(vm, holder, part)
        part, holder = holder, vm.holders.get(holder)


def forget_fields(vm: Machine, ref: Ref) -> None:
    """A method out of sight was run on an object: what a class with a base out of sight annotates in its body are fields, and
    such a base sets them.
    """
    record = vm.record(ref)
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
        return
    own = vm.at(record.cls.address)
    bases = [vm.at(base.address) for base in own.mro if isinstance(base, Class)] if own.open else []
    named = [each.target for base in bases for each in base.node.body if isinstance(each, ast.AnnAssign) and each.value]
    fields = {each.id: vm.opaque(f"self.{each.id}") for each in named if isinstance(each, ast.Name)}
    if fields:
        vm.replace(ref, record.having(fields))


def forget_children(vm: Machine, parent: Opaque, but: Opaque | None = None) -> None:
    """An unknown value may have been changed: its attributes and items are unknown anew, `but` one of them."""
    if vm.recording is not None:
        vm.recording.forget(parent)
    for key in vm.attributed.get(parent, ()):
        known = vm.state.get(key)
        if known is not None and known is not CHANGED and (but is None or known is not but):
            vm.put(key, CHANGED)


def unsettle_object(vm: Machine, ref: Ref) -> None:
    """An object was through any methods."""
    _Unsettling(vm).instance(ref)


def unsettle_parts(vm: Machine, ref: Ref, modules: Iterable[ModuleInfo], tensors: bool = False) -> None:
    """The parts of an object, or only its tensors, were handed out to code in files, and nothing tells which is which."""
    found = Changes()
    for module in modules:
        found.add(module.facts.changes.others)
    if tensors:
        found = Changes(assigned={ANY_TENSOR} if {ANY_TENSOR, ANY} & found.assigned else set())
    if found.assigned or found.filled:
        _Unsettling(vm, found).instance(ref)


def unsettle_names(vm: Machine) -> None:
    """Code that is not followed had the names of the module at hand: any of them may be given other data.

    What it may put in the place of functions, classes and imported modules is not thought of: `from x import *` would
    leave nothing known.
    """
    frame = vm.frame.module.frame
    for name in sorted(frame.scope.locals):
        value = vm.variable(frame.ident, name)
        if value is not None and not isinstance(value, Function | Class | Module | Lib | Imported):
            for option in alternatives(value):
                unsettle(vm, option)
            vm.assign(frame.ident, name, vm.opaque(name))


def unsettle_module(vm: Machine) -> None:
    """Everything that the module left, and every class it made, was met by any code."""
    work = _Unsettling(vm)
    frame = vm.frame
    for name in sorted(frame.scope.locals):
        value = vm.variable(frame.ident, name)
        if value is not None:
            later = work.later(name, value, _NOTHING)
            if later is not value:
                vm.assign(frame.ident, name, later)
    for cls in list(vm.classes):
        record: ClassRecord | None = vm.at(cls.address)
        for base in () if record is None else record.mro:
            if isinstance(base, Class):
                work.class_attributes(base)


def is_placeholder(vm: Machine, value: Value) -> bool:
    """Whether a value is there to be replaced or filled."""
    if isinstance(value, Opaque):
        return False
    if isinstance(value, Ref):
        record = vm.record(value)
        if isinstance(record, DictRecord):
            return record.exact and not record.items
        return isinstance(record, ListRecord | SetRecord) and record.items is not None and not record.items
    if isinstance(value, Tensor):
        return any(dim.constant == 0 for dim in (*value.shape.head, *value.shape.tail))
    return value == NONE or (isinstance(value, Tup) and not value.items)


def comes_with_its_code(vm: Machine, cls: Value) -> bool:
    """Whether a class is one of an installed package, whose own files fill what they leave to be filled."""
    record: ClassRecord | None = vm.at(cls.address) if isinstance(cls, Class) else None
    module = None if record is None else vm.modules.get(record.module)
    return module is not None and module.source.installed


_NOTHING = Changes()


class _Unsettling:
    """One walk over what can be reached; every record is looked at once."""

    def __init__(self, vm: Machine, changes: Changes | None = None) -> None:
        self.vm = vm
        self.changes = changes
        self.is_given = False
        self.seen: set[int] = set()

    def given(self, value: Ref) -> None:
        """What is given to unknown code."""
        self.is_given = self.changes is None
        record = self.vm.record(value)
        if isinstance(record, InstanceRecord):
            self.instance(value)
        elif not isinstance(record, IteratorRecord):
            self.forget(value)

    def instance(self, ref: Ref) -> None:
        """An object and what it holds."""
        record = self.vm.record(ref)
        if ref.address in self.seen or not isinstance(record, InstanceRecord):
            return
        self.seen.add(ref.address)
        changes = self.changes_of(record.cls)
        settled = comes_with_its_code(self.vm, record.cls)
        attrs = {
            name: item
            if name in INTERNAL or (settled and item == NONE and not changes.sets(name))
            else self.later(name, item, changes)
            for name, item in record.attrs.items()
        }
        if isinstance(record.cls, Class) and self.changes is None:
            # An attribute that no constructor set may be there by now.
            attrs.update(
                {name: self.unknown(name) for name in sorted(changes.assigned - attrs.keys()) if name.isidentifier()}
            )
        if holds_module(self.vm, ref):
            self.vm.put(CHOSEN, True)
            if MODE in attrs and attrs[MODE] is record.attrs.get(MODE):
                attrs[MODE] = Prim("bool")
        if attrs != record.attrs:
            self.vm.replace(ref, replace(record, attrs=attrs))
        items = attrs.get(ITEMS)
        if APART in attrs and ANY_ITEM in changes.filled and isinstance(items, Ref):
            self.forget(items)

    def later(self, name: str, value: Value, changes: Changes) -> Value:
        """What an attribute or variable holds by then."""
        if name != ITEMS and changes.sets(name):
            return self.unknown(name)
        if self.changes is not None and ANY_TENSOR in changes.assigned and isinstance(value, Tensor):
            return self.unknown(name)
        if ANY_MODULE in changes.assigned and holds_module(self.vm, value):
            return self.unknown(name)
        if isinstance(value, Ref):
            record = self.vm.record(value)
            if isinstance(record, InstanceRecord):
                self.instance(value)
                items = record.attrs.get(ITEMS) if name in changes.filled else None
                if isinstance(items, Ref):
                    self.forget(items)
            elif isinstance(record, ListRecord | DictRecord | SetRecord | IteratorRecord):
                self.container(name, value, changes)
            return value
        if is_placeholder(self.vm, value):
            return self.unknown(name)
        if isinstance(value, Union):
            options = [self.later(name, option, changes) for option in value.options]
            return next((option for option in options if isinstance(option, Opaque)), union(tuple(options)))
        if isinstance(value, Tup):
            held = tuple(item if item == NONE else self.later(name, item, changes) for item in value.items)
            return value if held == value.items else replace(value, items=held)
        return value

    def container(self, name: str, ref: Ref, changes: Changes) -> None:
        """A list, dict or set: what is in it stays only where nothing hands it out."""
        if ref.address in self.seen:
            return
        self.seen.add(ref.address)
        record = self.vm.record(ref)
        changing = name in changes.filled or name in changes.shared or (name == ITEMS and _sets_child(changes, record))
        if changing or isinstance(record, IteratorRecord) or is_placeholder(self.vm, ref) or self.holds_data(record):
            self.forget(ref)
            return
        inner = Changes(filled={name}) if name in changes.visited else _NOTHING
        if isinstance(record, ListRecord) and record.items is not None:
            items = tuple(self.later(name, item, inner) for item in record.items)
            if items != record.items:
                self.vm.replace(ref, replace(record, items=items))
        elif isinstance(record, DictRecord):
            held = {key: self.later(name, item, inner) for key, item in record.items.items()}
            if held != record.items:
                self.vm.replace(ref, replace(record, items=held))

    def holds_data(self, record: Record | None) -> bool:
        """Whether a container is given away that holds arrays: it collects them."""
        items = record.items if self.is_given and isinstance(record, ListRecord | DictRecord | SetRecord) else None
        held = items.values() if isinstance(items, dict) else items or ()
        return any(isinstance(item, Tensor) for item in held)

    def forget(self, ref: Ref) -> None:
        """A container holds anything."""
        record = self.vm.record(ref)
        if isinstance(record, ListRecord):
            self.vm.replace(ref, ListRecord(None))
        elif isinstance(record, DictRecord):
            self.vm.replace(ref, DictRecord({}, False, None, record.factory))
        elif isinstance(record, SetRecord):
            self.vm.replace(ref, SetRecord(None))
        elif isinstance(record, IteratorRecord):
            self.vm.replace(ref, IteratorRecord(None))

    def class_attributes(self, cls: Class) -> None:
        """The attributes of a class, which all of its objects share."""
        record: ClassRecord = self.vm.at(cls.address)
        if cls.address in self.seen or record.kind != "class":
            return
        self.seen.add(cls.address)
        changes = self.changes_of(cls)
        attrs = {
            name: item if name.startswith("__") else self.later(name, item, changes)
            for name, item in record.attrs.items()
        }
        if attrs != record.attrs:
            self.vm.replace(Ref(cls.address), replace(record, attrs=attrs))

    def changes_of(self, cls: Value) -> Changes:
        """What code in sight changes on objects of a class."""
        return changing(self.vm, cls) if self.changes is None else self.changes

    def unknown(self, name: str) -> Opaque:
        return self.vm.opaque(f"self.{name}")


def _sets_child(changes: Changes, record: Record | None) -> bool:
    """Whether code sets a child of a container by its name: those of a Sequential are numbers."""
    names = {key.value for key in record.items if isinstance(key, Const)} if isinstance(record, DictRecord) else set()
    return changes.sets(ANY_MODULE) or any(name.isdecimal() or name in names for name in changes.assigned)


def changing(vm: Machine, cls: Value) -> Changes:
    """What the files in sight change on objects of a class: the checked file, those of the class and its bases, and those
    that were given up.

    A library's objects are changed through other names than `self` only.
    """
    key = (cls, len(vm.classes), len(vm.packages.unfollowed))
    if key not in vm.changing:
        vm.changing[key] = _changing(vm, cls)
    return vm.changing[key]


def _changing(vm: Machine, cls: Value) -> Changes:
    found = Changes()
    owners, constructing = _related(vm, cls) if isinstance(cls, Class) else ({}, frozenset())
    for source in vm.packages.unfollowed.values():
        with suppress(UnreadableError):
            found.add(facts_of(source).changes.others)
    for module in {vm.main, *map(vm.modules.get, owners.values())}:
        if module is None:
            continue
        file = module.facts.changes
        found.add(file.others)
        for node, changes in file.methods.items():
            if node in owners:
                found.add(changes)
        for node, changes in file.constructors.items():
            if node in owners and node not in constructing:
                found.add(changes)
    return found


def _related(vm: Machine, cls: Class) -> tuple[dict[ast.ClassDef, str], frozenset[ast.ClassDef]]:
    """The classes whose methods may run on an object of a class, with their modules: its bases, its subclasses and
    their bases; and those whose constructors made it."""
    found: dict[ast.ClassDef, str] = {}
    for other in (cls, *vm.classes):
        record: ClassRecord | None = vm.at(other.address)
        if record is None or cls not in record.mro:
            continue
        for base in record.mro:
            if isinstance(base, Class):
                owner: ClassRecord = vm.at(base.address)
                found[owner.node] = owner.module
    record = vm.at(cls.address)
    own = frozenset(vm.at(base.address).node for base in record.mro if isinstance(base, Class))
    return found, own
