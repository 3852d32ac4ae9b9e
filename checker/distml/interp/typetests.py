"""`isinstance` and `hasattr` on abstract values: decided as Python decides them for every value that is meant, or open.

Python's own types are asked themselves: their classes, and the abstract ones of the standard library, are real here.
What a class of a library may derive from or register with is known only where there are rules for it.
"""

from __future__ import annotations

import collections
import collections.abc
import enum
import functools
import numbers
import sys
import types
import typing
from typing import TYPE_CHECKING, Any

from distml.interp.classes import is_there_sometimes, lookup
from distml.interp.imports import has_module_attribute
from distml.interp.library import PYDANTIC, VERSIONS, is_module, library_bases
from distml.interp.machine import Handler, PathEnd, ProcessEnd
from distml.interp.metaclasses import followed
from distml.interp.open_classes import may_be_derived
from distml.interp.state import join_states
from distml.interp.storage import child
from distml.ops.arraylike import OF_MASKED
from distml.ops.dialect import KNOWN, TENSOR_CLASSES, dialect
from distml.ops.python.paths import is_place
from distml.ops.registry import find_layer, find_op
from distml.values import (
    NO_TUPLES,
    Bound,
    Claimed,
    Class,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    Lib,
    ListRecord,
    Module,
    Num,
    Opaque,
    Partial,
    Prim,
    Ref,
    SetRecord,
    ShapeSeq,
    Slice,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.interp.class_record import ClassRecord
    from distml.interp.machine import Machine

_BUILT_IN: dict[str, type] = {
    kind.__name__: kind
    for kind in (int, bool, float, complex, str, bytes, type(None), type(...), tuple, list, dict, slice, set, frozenset)
}
_NAMED = {**_BUILT_IN, "object": object, "type": type}
_MODULES = {"builtins": None, "collections": collections, "collections.abc": collections.abc, "numbers": numbers}
_MODULES |= {"enum": enum, "functools": functools, "types": types}
_FINAL = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.GeneratorType)
"""Classes that no other derives from."""
_CODE = (type, *_FINAL, types.ModuleType, functools.partial)
_CONTAINERS = (list, tuple, dict, set, frozenset)
_RECORDS: dict[type, str] = {ListRecord: "builtins.list", DictRecord: "builtins.dict", SetRecord: "builtins.set"}
_BARE = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
"""Bases from which a class has nothing."""
_ENUM_CLASSES = (Lib("enum.EnumMeta"), Lib("enum.EnumType"))
"""What a class of members is an instance of."""
_PROTOCOLS = (Lib("typing.Protocol"), Lib("typing_extensions.Protocol"))


def is_instance(vm: Machine, value: Value, classes: Value) -> bool | None:
    """Whether `isinstance(value, classes)`; None when unknown."""
    if isinstance(value, Union):
        answers = {is_instance(vm, option, classes) for option in value.options}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(value, Claimed):
        return None
    wanted = classes.items if isinstance(classes, Tup) else (classes,)
    found = [_is_one(vm, value, cls) for cls in wanted]
    if any(found):
        return True
    return None if any(answer is None for answer in found) else False


def has_attribute(vm: Machine, value: Value, name: str) -> bool | None:
    """Whether `hasattr(value, name)`; None when unknown."""
    if isinstance(value, Claimed):
        return None
    if isinstance(value, Const):
        return hasattr(value.value, name)
    if isinstance(value, Module):
        return has_module_attribute(vm, value, name)
    if isinstance(value, Class):
        return _class_has(vm, value, name)
    kind = _kind(vm, value)
    if kind is not None:
        defined = any(name in base.__dict__ for base in kind.__mro__)
        return defined or (False if kind in _BUILT_IN.values() and _is_plain(value) else None)
    record = vm.record(value) if isinstance(value, Ref) else None
    if isinstance(record, InstanceRecord):
        return _object_has(vm, value, record, name)
    if not isinstance(value, Tensor) or dialect(value.lib) not in KNOWN or name.startswith("__") or name in OF_MASKED:
        return None
    # Arrays have more than there are rules for.
    found = vm.language.find_attribute_of(vm, value, name, vm.node)
    return None if found is None or isinstance(found, Opaque) else True


def _class_has(vm: Machine, cls: Class, name: str) -> bool | None:
    """Whether a class has an attribute, of its own, of a base or of its metaclass."""
    record = vm.at(cls.address)
    member, hidden = lookup(vm, record.mro, name)
    meta = followed(vm, record.metaclass)
    if isinstance(member, Lib):  # what a library's objects have, its class may lack
        return None
    if hasattr(type, name) or lookup(vm, meta or (), name)[0] is not None:
        return True
    if member is not None:
        return None if is_there_sometimes(vm, record.mro, name) else True
    in_sight = not hidden and all(isinstance(base, Class) for base in record.mro) and meta is not None
    return False if in_sight and not vm.symbolic else None


def is_callable(vm: Machine, value: Value) -> bool | None:
    """Whether `callable(value)`; None when unknown."""
    if isinstance(value, Union):
        answers = {is_callable(vm, option) for option in value.options}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(value, Claimed):
        return None
    if isinstance(value, Function | Class | Bound | Partial) or (isinstance(value, Lib) and _is_called(value.name)):
        return True
    record = vm.record(value) if isinstance(value, Ref) else None
    if isinstance(record, InstanceRecord):
        return _object_is_callable(vm, value, record)
    plain = (
        dialect(value.lib) in KNOWN if isinstance(value, Tensor) else _kind(vm, value) is not None and _is_plain(value)
    )
    return False if plain else None


def _is_called(name: str) -> bool:
    """Whether a name of a library is a function or a class that there are rules for."""
    return find_op(name) is not None or find_layer(name) is not None


def _object_is_callable(vm: Machine, value: Value, record: InstanceRecord) -> bool | None:
    mro = vm.at(record.cls.address).mro if isinstance(record.cls, Class) else (record.cls,)
    if is_module(mro):
        return True
    if isinstance(record.cls, Lib):
        return None
    return has_attribute(vm, value, "__call__") or (None if has_foreign_base(vm, record) else False)


def _object_has(vm: Machine, value: Value, record: InstanceRecord, name: str) -> bool | None:
    own = name in record.attrs and name not in record.sometimes
    if isinstance(record.cls, Lib):
        if name in record.attrs and not name.startswith("__"):
            return True if own else None
        return False if _lacks(vm, record, library_bases(record.cls.name), name) else None
    assert isinstance(record.cls, Class)
    found, raises = _looked_for(vm, lambda: vm.language.find_attribute_of(vm, value, name, vm.node))
    if raises:
        return None if found is not None else False
    mro = vm.at(record.cls.address).mro
    lacking = name in record.attrs and lookup(vm, mro, name)[0] is None
    if not own and (lacking or is_there_sometimes(vm, mro, name)):
        return None
    if isinstance(found, Opaque):
        return False if name not in record.attrs and _lacks(vm, record, _own_bases(vm, record), name) else None
    open_ended = name.startswith("__") or has_foreign_base(vm, record)
    return True if found is not None else None if open_ended else False


def _looked_for(vm: Machine, find: Callable[[], Value | None]) -> tuple[Value | None, bool]:
    """What looking for an attribute gives, and whether the program's own code raises an exception meanwhile: who asks for it
    goes on, since any other exception than `AttributeError` leads elsewhere."""
    handler = Handler(catches_shapes=False)
    vm.handlers.append(handler)
    try:
        found = find()
    except PathEnd as end:
        if isinstance(end, ProcessEnd) or not handler.states:
            raise
        found = None
    finally:
        vm.handlers.remove(handler)
    if handler.states:
        vm.state = join_states(vm, handler.states if found is None else [vm.state, *handler.states])
    return found, bool(handler.states)


def _own_bases(vm: Machine, record: InstanceRecord) -> tuple[str, ...]:
    """The library's classes that an object of the program's class is also of; none where more may be behind it."""
    assert isinstance(record.cls, Class)
    mro = vm.at(record.cls.address).mro
    own = [vm.at(base.address).attrs for base in mro if isinstance(base, Class)]
    if any(name in attrs for attrs in own for name in ("__getattr__", "__getattribute__")):
        return ()
    found = [library_bases(base.name) for base in mro if isinstance(base, Lib)]
    return tuple(name for names in found for name in names if name not in _BARE)


def _lacks(vm: Machine, record: InstanceRecord, bases: tuple[str, ...], name: str) -> bool:
    """Whether an object has no attribute of that name: neither it nor a class of the program, and no layer of the library."""
    names = next((found for base in bases if (found := getattr(find_layer(base), "names", None)) is not None), None)
    if names is None or name in names or name.startswith("__") or not record.exact:
        return False
    if not all(base.startswith("torch.nn.") for base in bases) or child(vm, record, name) is not None:
        return False
    if isinstance(record.cls, Class):
        if has_foreign_base(vm, record) or lookup(vm, vm.at(record.cls.address).mro, name) != (None, False):
            return False
    return not any(vm.patches.has(f"{base}.{name}") for base in bases)


def real_class(name: str) -> type | None:
    """The class of that name if it is one of Python's own types or of the standard library's abstract ones."""
    module, _, short = name.rpartition(".")
    if module == "builtins":
        return _NAMED.get(short)
    found: Any = getattr(_MODULES.get(module), short, None) if module != "typing" else getattr(typing, short, None)
    found = getattr(found, "__origin__", found)
    return found if isinstance(found, type) else None


def _is_one(vm: Machine, value: Value, cls: Value) -> bool | None:
    if isinstance(value, Class) and cls in _ENUM_CLASSES:
        return True if vm.at(value.address).kind == "enum" else None
    if not isinstance(cls, Class):
        return True if cls == Lib("builtins.object") else _is_of_kind(vm, value, cls)
    found = _is_of_kind(vm, value, cls)
    return None if found is False and (not _is_nominal(vm, cls) or may_be_derived(vm, value)) else found


def _is_nominal(vm: Machine, cls: Class) -> bool:
    """Whether only objects of a class, and of classes derived from it, are its instances: it does not check for itself, as a
    protocol or by a metaclass or `__subclasshook__`, and no other class was registered with it.
    """
    mro = vm.at(cls.address).mro
    own = [vm.at(base.address) for base in mro if isinstance(base, Class)]
    unknown = None in mro and not all(_is_of_pydantic(each) for each in own)
    checks = unknown or any(base in _PROTOCOLS for base in mro) or any("__subclasshook__" in o.attrs for o in own)
    return not checks and not own[0].registers


def _is_of_pydantic(record: ClassRecord) -> bool:
    """Whether a class derives from models of pydantic alone, which only those that derive from them are instances of."""
    bases = [base for base in record.bases if not isinstance(base, Class)]
    own = bool(record.bases) and not record.node.keywords
    return own and all(isinstance(base, Lib) and base.name in PYDANTIC for base in bases)


def _is_of_kind(vm: Machine, value: Value, cls: Value) -> bool | None:
    record = vm.record(value) if isinstance(value, Ref) else None
    if isinstance(record, InstanceRecord):
        return _object(vm, record, cls)
    if isinstance(value, Tensor):
        return _array(vm, value, cls)
    if isinstance(value, Function) and cls == Lib("builtins.type"):
        return False  # whatever its decorators made of it
    if isinstance(cls, Lib) and (code := _code(value)) is not None:
        return _is_code(
            code, cls.name, exact=not isinstance(value, Class) or not _has_foreign(vm.at(value.address).mro)
        )
    if isinstance(cls, Class) and (
        _is_written_as_code(value) or (_code(value) is type and not _makes_classes(vm, cls))
    ):
        return False
    kind = _kind(vm, value)
    if isinstance(value, Tup) and value.cls is not None and cls == value.cls:
        return True
    if kind is None or not isinstance(cls, Lib):
        return False if kind is not None and isinstance(cls, Class) and _is_plain(value) else None
    wanted = real_class(cls.name)
    if wanted is not None:
        # What is certain of the class is certain of its subclasses; the rest only of a value of the very class.
        if issubclass(kind, wanted):
            return True
        return False if _is_plain(value) or wanted in _BUILT_IN.values() else None
    return False if cls.name in TENSOR_CLASSES or cls.name.startswith("torch.nn.") else None


def _code(value: Value) -> type | None:
    """The class of a value that is certainly a class, a function or a partial of one; `object` where it may be any of them."""
    if isinstance(value, Function):
        return types.FunctionType if not getattr(value.node, "decorator_list", ()) else object
    if isinstance(value, Class) or (isinstance(value, Lib) and _is_class(value.name)):
        return type
    if isinstance(value, Partial):
        return functools.partial if _code(value.function) not in (None, object) else None
    if isinstance(value, Bound) and _code(value.function) is types.FunctionType:
        return types.MethodType
    return object if isinstance(value, Bound) or (isinstance(value, Lib) and find_op(value.name) is not None) else None


def _is_class(name: str) -> bool:
    """Whether a library's name is certainly that of a class."""
    built_in = name.startswith("builtins.") and real_class(name) is not None
    return built_in or name in ("torch.Tensor", "numpy.ndarray") or find_layer(name) is not None


def _makes_classes(vm: Machine, cls: Class) -> bool:
    """Whether objects of a class of the program may be classes: it may be derived from `type`."""
    return _has_foreign(vm.at(cls.address).mro)


def _is_written_as_code(value: Value) -> bool:
    """Whether a value is certainly a function or one of Python's own types."""
    return isinstance(value, Function | Bound) or (isinstance(value, Lib) and real_class(value.name) is not None)


def _is_code(code: type, name: str, exact: bool) -> bool | None:
    wanted: object = real_class(name)
    if wanted is collections.abc.Callable:
        return True
    if wanted in _CODE and code is not object:
        return wanted is code
    if isinstance(wanted, type) and wanted.__module__ == "collections.abc" and exact and code is not object:
        return issubclass(code, wanted)
    layer = name.startswith("torch.nn.") or name in TENSOR_CLASSES
    return False if wanted in _BUILT_IN.values() or (layer and code is not object) else None


def _is_plain(value: Value) -> bool:
    """Whether a value is of the class itself, no named tuple and no `torch.Size`."""
    return not isinstance(value, Tup) or value.kind == "tuple"


def _array(vm: Machine, value: Tensor, cls: Value) -> bool | None:
    if not isinstance(cls, Lib):
        return None
    wanted = real_class(cls.name)
    if wanted in _CONTAINERS or wanted in _CODE:
        return False
    if cls.name == "torch.nn.Parameter":
        return True if value.parameter else None
    own = dialect(value.lib)
    if own not in KNOWN:
        return False if wanted in _BUILT_IN.values() else None
    if own.scalars_are_numbers and not vm.facts.shape(value.shape).least:
        # Of rank 0 it may be a scalar, which is no array and may be a float.
        return False if cls.name in TENSOR_CLASSES - {own.tensor} else None
    if cls.name == own.tensor:
        return True if own.one_class else None
    other = cls.name in TENSOR_CLASSES or wanted in _BUILT_IN.values() or "torch.nn.Module" in library_bases(cls.name)
    return False if other or wanted in (collections.abc.Sequence, collections.abc.Mapping) else None


def _object(vm: Machine, record: InstanceRecord, cls: Value) -> bool | None:
    if isinstance(record.cls, Class):
        bases = vm.at(record.cls.address).mro
    else:
        bases = (record.cls,)
    if cls in bases:
        return True
    names = [base.name for base in bases if isinstance(base, Lib)]
    if isinstance(cls, Lib) and any(cls.name in library_bases(name) for name in names):
        return True
    if isinstance(cls, Class):
        return False if _is_apart(vm, record.cls) else None
    if not isinstance(cls, Lib):
        return None
    wanted = real_class(cls.name)
    if wanted in _FINAL and isinstance(record.cls, Class):
        return False
    if has_foreign_base(vm, record):
        return False if wanted in _BUILT_IN.values() and _is_apart(vm, record.cls, wanted) else None
    concrete = wanted in _BUILT_IN.values() or wanted in _CODE or cls.name in TENSOR_CLASSES
    return False if concrete or cls.name.startswith("torch.nn.") or _is_other_layer(names, cls.name) else None


def _is_other_layer(names: Sequence[str], wanted: str) -> bool:
    """Whether objects of these classes are certainly none of a class of Keras: its rules say which come from which."""
    known = (
        wanted.startswith("keras.")
        and find_layer(wanted) is not None
        and all(each.startswith("keras.") for each in names)
    )
    return known and not any(VERSIONS.get(each) == wanted for each in names)


def _is_apart(vm: Machine, base: Value, wanted: type | None = None) -> bool:
    """Whether what a class derives from is in sight, or of a library that derives nothing from the program's classes; and, of a
    type of Python's, whether the class certainly does not derive from it.
    """
    if isinstance(base, Class):
        return all(_is_apart(vm, each, wanted) for each in vm.at(base.address).bases)
    if not isinstance(base, Lib):
        return False
    if wanted is not None:
        own = real_class(base.name)
        return own is not None and not issubclass(own, wanted)
    top = base.name.partition(".")[0]
    return top in sys.stdlib_module_names or base.name in PYDANTIC or not _has_foreign([base])


def has_foreign_base(vm: Machine, record: object) -> bool:
    """Whether an object has, or may have, a base of which there are no rules."""
    assert isinstance(record, InstanceRecord)
    return _has_foreign(vm.at(record.cls.address).mro if isinstance(record.cls, Class) else (record.cls,))


def _has_foreign(bases: Sequence[Value | None]) -> bool:
    return not all(
        isinstance(base, Class) or (isinstance(base, Lib) and (base.name in _BARE or find_layer(base.name) is not None))
        for base in bases
    )


def container_of(vm: Machine, value: Ref) -> str:
    """The full name of the built-in class of a list, dict or set; "" of other objects."""
    return str(vm.get(("class", value)) or _RECORDS.get(type(vm.record(value)), ""))


def _kind(vm: Machine, value: Value) -> type | None:
    """The built-in type of a value, None when it has none or it is open."""
    if isinstance(value, Const):
        return _BUILT_IN.get(type(value.value).__name__)
    if isinstance(value, Num):
        return int
    if isinstance(value, Prim):
        return _BUILT_IN.get(value.kind)
    if isinstance(value, Tup | ShapeSeq):
        return None if isinstance(value, Tup) and value.kind in NO_TUPLES else tuple
    if isinstance(value, Ref):
        return real_class(container_of(vm, value))
    if is_place(vm, value):
        return str
    return slice if isinstance(value, Slice) else None
