"""Reading and setting attributes."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.callables import is_called_as_it_is, of_function, of_partial
from distml.interp.callbacks import give_away
from distml.interp.calls import call_value, each_alternative, read_attribute
from distml.interp.changes import STORAGE
from distml.interp.class_record import ClassRecord, Property, Super, SuperMethod
from distml.interp.classes import CONTAINERS, COPY, HAVING, entry, is_known_base, lookup
from distml.interp.data_files import is_open_file
from distml.interp.guess import guessed_attribute
from distml.interp.imports import module_attribute, part_of_library, set_module_attribute
from distml.interp.join import join_many, join_values
from distml.interp.library import CLASS_METHODS, is_module, library_member
from distml.interp.metaclasses import of_class, of_super
from distml.interp.open_classes import may_have_another, type_of
from distml.interp.patches import Patches
from distml.interp.public_names import CONSTANTS, canonical
from distml.interp.state import CHANGED
from distml.interp.storage import child, held_by, replace_attributes, set_child, view_of
from distml.interp.unsettled import forget_around
from distml.ops import Call
from distml.ops.dialect import dialect, library_of
from distml.ops.registry import find_attribute, find_layer, find_op
from distml.values import (
    Bound,
    Class,
    Const,
    DictRecord,
    Expr,
    Function,
    InstanceRecord,
    IteratorRecord,
    Lib,
    LibMethod,
    ListRecord,
    Many,
    Module,
    Num,
    Opaque,
    Partial,
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


def get_attribute(vm: Machine, value: Value, name: str, node: ast.AST) -> Value:
    """`value.name`; an unknown value where it cannot be told."""
    if isinstance(value, Union):
        return each_alternative(vm, (value,), lambda v: get_attribute(vm, v, name, node))
    found = find_attribute_of(vm, value, name, node)
    if found is None:
        return vm.opaque(vm.snippet(node), vm.origin(node))
    return found


def find_attribute_of(vm: Machine, value: Value, name: str, node: ast.AST | None = None) -> Value | None:
    """The attribute, None when the value is known to have none of that name."""
    if name == "__call__" and is_called_as_it_is(vm, value):
        return value
    if isinstance(value, Tensor):
        return _of_tensor(vm, value, name)
    if isinstance(value, Ref):
        return _of_record(vm, value, name, node)
    if isinstance(value, Opaque):
        return _of_opaque(vm, value, name, node)
    if isinstance(value, Expr):
        return _guess(value, name)
    if isinstance(value, Module):
        return module_attribute(vm, value, name)
    if isinstance(value, Lib):
        return _of_library(vm, value, name)
    if isinstance(value, Class):
        return _of_class(vm, value, name)
    if isinstance(value, Super):
        return _of_super(vm, value, name)
    if isinstance(value, Tup):
        return _of_tuple(vm, value, name)
    if isinstance(value, Function | Bound):
        return of_function(vm, value, name)
    if isinstance(value, Partial):
        return of_partial(vm, value, name)
    kind = builtin_kind(vm, value)
    return None if kind is None else _builtin_member(kind, name, value)


def builtin_kind(vm: Machine, value: Value) -> str | None:
    """The built-in type of a value, None when it has none."""
    if isinstance(value, Const):
        return type(value.value).__name__
    if isinstance(value, Prim):
        return value.kind
    if isinstance(value, Num):
        return "int"
    if isinstance(value, Tup | ShapeSeq):
        return "tuple"
    if isinstance(value, Range):
        return "range"
    if isinstance(value, Many):
        return value.kind if value.kind in ("tuple", "range") else None
    if isinstance(value, Ref):
        record = vm.record(value)
        kinds = {ListRecord: "list", DictRecord: "dict", SetRecord: "set", IteratorRecord: "iterator"}
        return kinds.get(type(record))
    return None


def _builtin_member(kind: str, name: str, value: Value) -> Value | None:
    full = f"builtins.{kind}.{name}"
    return LibMethod(full, value) if find_op(full) is not None else None


DIFFERENT = frozenset("dot transpose repeat flatten squeeze max min sort argsort split take".split())
"""Methods of one name that do not do the same in NumPy and PyTorch."""


def _of_tensor(vm: Machine, value: Tensor, name: str) -> Value | None:
    full = f"{_prefix(value)}.{name}"
    if value.lib == "array":
        used = vm.frame.module.source.text
        if name in DIFFERENT and "numpy" in used and "torch" in used:
            return LibMethod(f"?.{name}", value)
        if "torch" not in used or (find_op(full) is None and find_attribute(full) is None):
            full = f"numpy.ndarray.{name}"
    if vm.patches.has(full):
        return vm.opaque(name)
    attribute = find_attribute(full)
    if attribute is not None:
        return read_attribute(vm, full, attribute, value, value.lib) or vm.opaque(name)
    in_place = name == "__setattr__" or (name.endswith("_") and not name.startswith("_"))
    return LibMethod(full, value) if in_place or find_op(full) is not None else None


def _guess(value: Value, name: str) -> Value | None:
    return LibMethod(f"?.{name}", value)


def _of_opaque(vm: Machine, value: Opaque, name: str, node: ast.AST | None) -> Value:
    where = vm.node if node is None else node
    known = vm.get(("attr", value, name))
    if isinstance(known, Value):
        return known
    if known is CHANGED:
        return vm.child(value, "attr", name, f"{value.name}.{name}", where)
    if name == "read" and is_open_file(vm, value):
        return Bound(Lib("_elsewhere.read"), value)
    guessed = guessed_attribute(vm, value, name)
    if guessed is not None:
        return guessed
    return vm.child(value, "attr", name, f"{value.name}.{name}", where)


_SOME_CLASS = Lib("builtins.type.__call__()")
"""The class of an object whose `__class__` was set to what is not known."""


def _of_record(vm: Machine, ref: Ref, name: str, node: ast.AST | None) -> Value | None:
    record = vm.record(ref)
    if not isinstance(record, InstanceRecord):
        kind = builtin_kind(vm, ref)
        return None if kind is None else _builtin_member(kind, name, ref)
    if name in STORAGE:
        return view_of(vm, ref, record, name)
    found = child(vm, record, name) or record.attrs.get(name)
    if isinstance(record.cls, Class):
        return _of_instance(vm, ref, record, vm.at(record.cls.address), name)
    if found is not None:
        return found
    if name == "__class__":
        return record.cls
    if isinstance(record.cls, Lib):
        member = library_member(record.cls.name, name)
        if member is not None:
            return _bind_member(vm, member, ref)
        if find_layer(record.cls.name) is None or not record.exact:
            return vm.opaque(name)
    return None if record.exact else vm.opaque(name)


def _bind_member(vm: Machine, member: str, receiver: Value) -> Value:
    attribute = find_attribute(member)
    if attribute is None:
        return LibMethod(member, receiver)
    return read_attribute(vm, member, attribute, receiver, library_of(member)) or vm.opaque(member)


def _of_instance(vm: Machine, ref: Ref, record: InstanceRecord, cls: ClassRecord, name: str) -> Value | None:
    if isinstance(lookup(vm, cls.mro, "__getattribute__")[0], Function) and not name.startswith("__"):
        return vm.opaque(name)
    member, hidden = lookup(vm, cls.mro, name)
    if isinstance(member, Property):
        return _of_property(vm, ref, record, member, name)
    getter = None if member is None else _descriptor(vm, member, "__get__")
    found = child(vm, record, name) or record.attrs.get(name)
    if found is not None and (getter is None or _descriptor(vm, member, "__set__") is None):
        unclear = hidden or getter is not None
        return found if name not in record.sometimes else _or_of_class(vm, ref, found, name, member, unclear)
    if getter is not None:
        return call_value(vm, getter, Arguments([ref, record.cls]))
    if member is not None:
        if _is_each_ones_own(vm, ref, member, name):
            return _unknown_attribute(vm, ref, record, name)
        return bind_method(vm, member, ref, record.cls)
    if name == "__class__":
        return type_of(vm, ref, record)
    if hidden or not record.exact or name in ("__doc__", "__module__"):
        return _unknown_attribute(vm, ref, record, name)
    if name.startswith("__") and name.endswith("__"):
        return None
    fallback, _ = lookup(vm, cls.mro, "__getattr__")
    if isinstance(fallback, Function | Lib):
        return call_value(vm, bind_method(vm, fallback, ref, record.cls), Arguments([Const(name)]))
    if is_module(cls.mro):
        return vm.opaque(name)
    return None


def _or_of_class(vm: Machine, ref: Ref, found: Value, name: str, member: Value | None, unclear: bool) -> Value:
    """An attribute that some paths have set, or what the class gives on the others."""
    record = vm.record(ref)
    assert isinstance(record, InstanceRecord) and isinstance(record.cls, Class)
    if unclear or lookup(vm, vm.at(record.cls.address).mro, "__getattr__")[0] is not None:
        return vm.opaque(name)
    if member is None:
        return found  # who reads it has come from where it was set
    return join_values(vm, found, bind_method(vm, member, ref, record.cls))


def _of_property(vm: Machine, ref: Ref, record: InstanceRecord, member: Property, name: str) -> Value:
    if not member.kept:
        return call_value(vm, member.getter, Arguments([ref]))
    if name not in record.attrs:
        value = call_value(vm, member.getter, Arguments([ref]))
        _keep(vm, ref, name, value)
        return value
    return record.attrs[name]


def _keep(vm: Machine, ref: Ref, name: str, value: Value) -> None:
    """Set an attribute of an object itself."""
    record = vm.record(ref)
    if isinstance(record, InstanceRecord):
        vm.replace(ref, record.having({name: value}))


def _is_each_ones_own(vm: Machine, ref: Ref, member: Value, name: str) -> bool:
    """Whether what a class attribute gives may be each object's own: an unknown decorator may make a property of it, a
    subclass write it anew."""
    if isinstance(member, Opaque):
        return True
    return not isinstance(member, Function) and member != COPY and may_have_another(vm, ref, name)


def _descriptor(vm: Machine, member: Value | None, name: str) -> Value | None:
    """`__get__` or `__set__` of a class attribute, when it is an object that defines it."""
    record = vm.record(member) if isinstance(member, Ref) else None
    if not isinstance(member, Ref) or not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
        return None
    method, _ = lookup(vm, vm.at(record.cls.address).mro, name)
    return Bound(method, member) if isinstance(method, Function) else None


def _unknown_attribute(vm: Machine, ref: Ref, record: InstanceRecord, name: str) -> Value | None:
    """What an unknown base or descriptor may define; remembered, so that two reads agree."""
    if name.startswith("__") and name.endswith("__"):
        return vm.opaque(name)
    value = vm.opaque(name if not name.startswith("_") else f"self.{name}")
    _keep(vm, ref, name, value)
    return value


def bind_method(vm: Machine, member: Value, receiver: Value, cls: Value) -> Value:
    """A class attribute as an instance gives it."""
    if isinstance(member, Function):
        if member.kind == "static":
            return member
        return Bound(member, cls if member.kind == "class" else receiver)
    if member == COPY:
        return Bound(member, receiver)
    if isinstance(member, Lib) and (find_op(member.name) is not None or find_attribute(member.name) is not None):
        owner = member.name.rpartition(".")[0]
        if owner in CONTAINERS:
            return LibMethod(member.name, held_by(vm, receiver))
        if find_layer(owner) is not None or owner.startswith("torch.nn.Module") or owner in HAVING:
            return _bind_member(vm, member.name, receiver)
    if isinstance(member, Union):
        return join_many(vm, [bind_method(vm, option, receiver, cls) for option in member.options])
    return member


def _of_class(vm: Machine, value: Class, name: str) -> Value | None:
    record: ClassRecord = vm.at(value.address)
    if name == "__name__":
        return Const(record.name)
    if record.kind == "enum" and name == "__members__":
        return vm.opaque("__members__")
    member, _ = lookup(vm, record.mro, name)
    if isinstance(member, Function) and member.kind == "class":
        return Bound(member, value)
    if member is None and record.metaclass is not None:
        member = of_class(vm, value, name)
    if member is not None:
        return member
    if name == "__call__" and is_module(record.mro) and entry(record.mro) == "forward":
        return Lib("torch.nn.Module.__call__")
    if name == "register":
        for base in record.mro:
            if isinstance(base, Class):
                vm.replace(Ref(base.address), replace(vm.at(base.address), registers=True))
    given = [f"{base.name}.{name}" for base in record.mro if isinstance(base, Lib)]
    inherited = next((full for full in given if full in CLASS_METHODS), None)
    return vm.opaque(name) if inherited is None else LibMethod(inherited, value)


def _of_super(vm: Machine, value: Super, name: str) -> Value | None:
    found = of_super(vm, value.owner, value.receiver, name)
    if found is not None:
        return found
    cls = _class_of(vm, value.receiver)
    if cls is None:
        return vm.opaque(name)
    record: ClassRecord = vm.at(cls.address)
    positions = [i for i, base in enumerate(record.mro) if isinstance(base, Class) and base.address == value.owner]
    rest = record.mro[positions[0] + 1 :] if positions else (None,)
    if name in ("__init__", "__setattr__", "__init_subclass__", entry(record.mro)) or (
        name == "__call__" and is_module(record.mro)
    ):
        return SuperMethod(name, rest, value.receiver)
    member, _ = lookup(vm, rest, name)
    if name == "__new__" and all(base is not None and not _makes_itself(base) for base in rest):
        return Lib("builtins.object.__new__") if member is None else member
    if isinstance(member, Property):
        return call_value(vm, member.getter, Arguments([value.receiver]))
    if member is None:
        return vm.opaque(name)
    return bind_method(vm, member, value.receiver, cls)


def _makes_itself(base: Value) -> bool:
    """Whether a base is a library class that may make its objects in a way of its own."""
    return isinstance(base, Lib) and (base.name in CONTAINERS or not is_known_base(base.name))


def _class_of(vm: Machine, receiver: Value) -> Class | None:
    if isinstance(receiver, Class):
        return receiver
    if isinstance(receiver, Ref):
        record = vm.record(receiver)
        if isinstance(record, InstanceRecord) and isinstance(record.cls, Class):
            return record.cls
    return None


def _of_tuple(vm: Machine, value: Tup, name: str) -> Value | None:
    if name in value.fields:
        return value.items[value.fields.index(name)]
    if isinstance(value.cls, Class):
        member, _ = lookup(vm, vm.at(value.cls.address).mro, name)
        if isinstance(member, Property):
            return call_value(vm, member.getter, Arguments([value]))
        if member is not None:
            return bind_method(vm, member, value, value.cls)
    full = f"{'torch.Size' if value.kind == 'size' else value.kind}.{name}"
    if find_op(full) is not None:
        return LibMethod(full, value)
    attribute = find_attribute(full)
    if attribute is not None:
        return read_attribute(vm, full, attribute, value, library_of(full))
    return _builtin_member("tuple", name, value)


def _of_library(vm: Machine, value: Lib, name: str) -> Value:
    full = f"{value.name}.{name}"
    if vm.patches.has(full):
        return vm.opaque(full)
    known = CONSTANTS.get(full) or part_of_library(vm, full)
    if known is not None:
        return known
    attribute = find_attribute(full)
    if attribute is not None and attribute.__code__.co_argcount == 1:
        result = attribute(Call(vm, full, library_of(value.name)))
        return result if isinstance(result, Value) else vm.opaque(full)
    if find_layer(value.name) is not None and find_op(full) is None:
        # A method that the class has of its base, asked of the class: it is given the object.
        inherited = library_member(value.name, name)
        if inherited is not None and find_op(inherited) is not None:
            return Lib(inherited)
    return Lib(canonical(full))


def _is_kept(vm: Machine, item: Value) -> bool:
    """Whether an object of an unknown class has an attribute as it was set. A setter may make other data of data: an
    array of the size that it needs of a number, a list or an array. Objects it hands out as they are."""
    if isinstance(item, Ref):
        return isinstance(vm.record(item), InstanceRecord)
    return isinstance(item, Function | Bound | Class | Lib | LibMethod | Module)


def set_attribute(vm: Machine, value: Value, name: str, item: Value, node: ast.AST, plain: bool = False) -> None:
    """`value.name = item`; what is `plain` is not for `__setattr__` to say, as in `object.__setattr__(value, name, item)`."""
    options = value.options if isinstance(value, Union) else (value,)
    for option in options:
        if isinstance(option, Ref):
            _set_on_record(vm, option, name, item, node, len(options) > 1, plain)
        elif isinstance(option, Opaque):
            # A setter may set other attributes too.
            forget_around(vm, option)
            give_away(vm, item)
            vm.put(("attr", option, name), item if _is_kept(vm, item) else vm.opaque(f"{option.name}.{name}"[:60]))
            vm.note_child(("attr", option, name))
        elif isinstance(option, Class):
            record: ClassRecord = vm.at(option.address)
            changed = item if len(options) == 1 else vm.opaque(name)
            vm.replace(Ref(option.address), record.having({name: changed}))
        elif isinstance(option, Lib):
            vm.patches = vm.patches | Patches(frozenset([f"{option.name}.{name}"]))
        elif isinstance(option, Tensor) and find_op(f"{_prefix(option)}.{name}.setter"):
            call_value(vm, LibMethod(f"{_prefix(option)}.{name}.setter", option), Arguments([item]), node)
        elif isinstance(option, Module):
            set_module_attribute(vm, option, name, item)


def _prefix(value: Tensor) -> str:
    return dialect(value.lib).tensor


def _set_on_record(vm: Machine, ref: Ref, name: str, item: Value, node: ast.AST, weak: bool, plain: bool) -> None:
    record = vm.record(ref)
    if not isinstance(record, InstanceRecord):
        return
    if name == "__dict__":
        replace_attributes(vm, ref, item)
        return
    if name == "__class__":
        vm.replace(ref, replace(record, cls=item if isinstance(item, Class) and not weak else _SOME_CLASS, exact=False))
        return
    if isinstance(record.cls, Class):
        cls: ClassRecord = vm.at(record.cls.address)
        setter, _ = (None, False) if plain else lookup(vm, cls.mro, "__setattr__")
        if isinstance(setter, Function | Lib):
            call_value(vm, bind_method(vm, setter, ref, record.cls), Arguments([Const(name), item]), node)
            return
        member, _ = lookup(vm, cls.mro, name)
        if isinstance(member, Property) and not member.kept:
            if member.setter is not None:
                call_value(vm, member.setter, Arguments([ref, item]), node)
            return
        setter = _descriptor(vm, member, "__set__")
        if setter is not None:
            call_value(vm, setter, Arguments([ref, item]), node)
            return
    if weak and name in record.attrs:
        item = join_values(vm, record.attrs[name], item)
    _name_layer(vm, item, name)
    record = vm.record(ref)
    if isinstance(record, InstanceRecord):
        set_child(vm, record, name, item)
        vm.replace(ref, record.having({name: item}))


def _name_layer(vm: Machine, value: Value, name: str) -> None:
    """A layer is called in messages by the first attribute it is assigned to."""
    if not isinstance(value, Ref):
        return
    record = vm.record(value)
    if isinstance(record, InstanceRecord) and isinstance(record.cls, Lib):
        if "__name__" not in record.attrs and find_layer(record.cls.name) is not None:
            vm.replace(value, record.having({"__name__": Const(name)}))
