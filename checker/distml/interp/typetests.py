"""`isinstance` on abstract values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.library import library_bases
from distml.values import (
    Class,
    Const,
    DictRecord,
    InstanceRecord,
    Lib,
    ListRecord,
    Num,
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
    from distml.interp.machine import Machine

_PYTHON = {
    "int": {"int", "object", "numbers.Number", "numbers.Integral", "numbers.Real"},
    "bool": {"bool", "int", "object", "numbers.Number", "numbers.Integral"},
    "float": {"float", "object", "numbers.Number", "numbers.Real"},
    "complex": {"complex", "object", "numbers.Number"},
    "str": {"str", "object", "collections.abc.Sequence", "collections.abc.Iterable"},
    "bytes": {"bytes", "object"},
    "NoneType": {"NoneType", "object"},
    "tuple": {"tuple", "object", "collections.abc.Sequence", "collections.abc.Iterable"},
    "list": {"list", "object", "collections.abc.Sequence", "collections.abc.Iterable"},
    "dict": {"dict", "object", "collections.abc.Mapping", "collections.abc.Iterable"},
    "slice": {"slice", "object"},
    "set": {"set", "object", "collections.abc.Iterable"},
}
_TENSORS = {
    "torch": {"torch.Tensor", "torch.FloatTensor"},
    "numpy": {"numpy.ndarray"},
}
_PLAIN = {f"builtins.{name}" for name in _PYTHON} | {
    "torch.Tensor",
    "numpy.ndarray",
    "collections.abc.Sequence",
    "collections.abc.Mapping",
    "typing.Sequence",
    "typing.Mapping",
}


def is_instance(vm: Machine, value: Value, classes: Value) -> bool | None:
    """Whether `isinstance(value, classes)`; None when unknown."""
    if isinstance(value, Union):
        answers = {is_instance(vm, option, classes) for option in value.options}
        return answers.pop() if len(answers) == 1 else None
    wanted = classes.items if isinstance(classes, Tup) else (classes,)
    found = [_is_one(vm, value, cls) for cls in wanted]
    if any(found):
        return True
    return None if any(answer is None for answer in found) else False


def _is_one(vm: Machine, value: Value, cls: Value) -> bool | None:
    if isinstance(value, Ref):
        record = vm.record(value)
        if isinstance(record, InstanceRecord):
            return _object(vm, record, cls)
    if not isinstance(cls, Lib):
        return False if isinstance(cls, Class) and _kind(vm, value) is not None else None
    name = cls.name
    if isinstance(value, Tensor):
        if name == "torch.nn.Parameter":
            return True if value.parameter else None
        if value.lib == "array":
            return False if name.startswith("builtins.") and name[9:] in _PYTHON else None
        if name in _TENSORS.get(value.lib, ()):
            return None if name == "torch.FloatTensor" else True
        return False if name in _PLAIN else None
    kind = _kind(vm, value)
    if kind is None:
        return None
    short = name.removeprefix("builtins.").replace("typing.", "collections.abc.")
    if short in _PYTHON[kind]:
        return True
    if isinstance(value, Tup) and value.cls is not None:
        return None
    return False if name in _PLAIN or name.startswith("torch.nn.") else None


def _object(vm: Machine, record: InstanceRecord, cls: Value) -> bool | None:
    if isinstance(record.cls, Class):
        owner = vm.at(record.cls.address)
        if cls in owner.mro:
            return True
        if isinstance(cls, Lib):
            for base in owner.mro:
                if isinstance(base, Lib) and cls.name in library_bases(base.name):
                    return True
        return None if owner.open else (False if isinstance(cls, Class | Lib) else None)
    if isinstance(record.cls, Lib) and isinstance(cls, Lib):
        if cls.name in library_bases(record.cls.name):
            return True
        return False if cls.name in _PLAIN or cls.name.startswith("torch.nn.") else None
    return False if isinstance(cls, Class) and isinstance(record.cls, Lib) else None


def _kind(vm: Machine, value: Value) -> str | None:
    if isinstance(value, Const):
        name = type(value.value).__name__
        return name if name in _PYTHON else None
    if isinstance(value, Num):
        return "int"
    if isinstance(value, Prim):
        return value.kind if value.kind in _PYTHON else None
    if isinstance(value, Tup | ShapeSeq):
        return "tuple"
    if isinstance(value, Ref):
        kinds: dict[type, str] = {ListRecord: "list", DictRecord: "dict", SetRecord: "set"}
        return kinds.get(type(vm.record(value)))
    return "slice" if isinstance(value, Slice) else None
