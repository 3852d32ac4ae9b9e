"""Between Python objects and abstract values: proxies and real tensors become values, values become proxies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from distml.gradual.tracing.proxies import (
    PROXIES,
    Known,
    Size,
    Sizes,
    Truth,
    Unknown,
    UnrankedSizes,
)
from distml.shapes import Shape
from distml.values import (
    NONE,
    SHAPE_KINDS,
    Condition,
    Const,
    DictRecord,
    InstanceRecord,
    IteratorRecord,
    Lib,
    ListRecord,
    Many,
    Num,
    Opaque,
    Prim,
    Range,
    Ref,
    ShapeSeq,
    Slice,
    Tensor,
    Tup,
    Union,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distml.gradual.tracing.tracer import Tracer
    from distml.values import Value

PLAIN = (int, float, bool, str, complex, bytes)
KINDS = {"float": torch.float32, "int": torch.int64, "bool": torch.bool, "complex": torch.complex64}
"""What a tensor says its dtype is, where only the kind is known."""


def kind_of(dtype: torch.dtype) -> str:
    """ "float", "int", "bool" or "complex"."""
    if dtype is torch.bool:
        return "bool"
    return "float" if dtype.is_floating_point else "complex" if dtype.is_complex else "int"


def proxies_in(value: object, depth: int = 4) -> bool:
    """Whether there is a proxy among arguments."""
    if type(value) in PLAIN or value is None or depth == 0:
        return False
    if issubclass(type(value), PROXIES):
        return True
    return any(proxies_in(item, depth - 1) for item in _parts(value))


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, tuple | list | set):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, slice):
        yield from (value.start, value.stop, value.step)


def lift(tracer: Tracer, value: Any) -> Value:
    """The abstract value of an object of the running program."""
    kind = type(value)
    if value is None:
        return NONE
    if kind in PLAIN or value is Ellipsis:
        return Const(value)
    if kind is Known:
        return Const(int(value))
    if kind is not Sizes and issubclass(kind, PROXIES):
        found: Value = value.value
        return found
    if issubclass(kind, torch.Tensor):
        return Tensor("torch", Shape.of(*value.shape), kind_of(value.dtype), issubclass(kind, torch.nn.Parameter))
    if kind is torch.dtype:
        return Lib(str(value))
    return _lift_container(tracer, value)


def _lift_container(tracer: Tracer, value: Any) -> Value:
    kind = type(value)
    if kind is slice:
        return Slice(*(lift(tracer, part) for part in (value.start, value.stop, value.step)))
    if kind is range:
        return Range(Const(value.start), Const(value.stop), Const(value.step))
    if issubclass(kind, tuple):
        items = tuple(lift(tracer, item) for item in tuple.__iter__(value))
        fields = getattr(value, "_fields", ())
        return Tup(items, "size" if kind in (Sizes, torch.Size) else "tuple", tuple(fields))
    if kind is list:
        return tracer.vm.allocate(ListRecord(tuple(lift(tracer, item) for item in value)))
    if kind is dict and all(type(key) in PLAIN for key in value):
        return tracer.vm.allocate(DictRecord({Const(key): lift(tracer, item) for key, item in value.items()}))
    return tracer.vm.opaque(kind.__name__)


def lower(tracer: Tracer, value: Value, array: bool = False) -> Any:
    """The object that stands for a value in the running program.

    `array` says that a value of which nothing is known comes from a function that makes tensors.
    """
    if isinstance(value, Const):
        return tracer.known(value.value) if type(value.value) is int else value.value
    if isinstance(value, Tensor):
        return tracer.tensor(value)
    if isinstance(value, Tup):
        return _lower_tuple(tracer, value, array)
    if isinstance(value, ShapeSeq):
        return UnrankedSizes(tracer, value)
    if isinstance(value, Condition) or (type(value) is Prim and value.kind == "bool"):
        return Truth(tracer, value)
    if isinstance(value, Num) or (type(value) is Prim and value.kind == "int"):
        return Size(tracer, value)
    if isinstance(value, Lib) and value.name.startswith("torch.") and value.name.count(".") == 1:
        return getattr(torch, value.name[6:], None)
    if isinstance(value, Ref):
        return _lower_record(tracer, value, array)
    if isinstance(value, Many):
        return Unknown(tracer, value)
    if array and isinstance(value, Opaque | Union):
        return tracer.tensor(value)
    return Unknown(tracer, value)


def _lower_tuple(tracer: Tracer, value: Tup, array: bool) -> Any:
    items = [lower(tracer, item, array) for item in value.items]
    if value.kind in SHAPE_KINDS:
        return tracer.sizes(items)
    if value.fields:
        from collections import namedtuple

        return namedtuple("Result", value.fields)(*items)  # noqa: PYI024
    return tuple(items)


def _lower_record(tracer: Tracer, ref: Ref, array: bool) -> Any:
    record = tracer.vm.record(ref)
    if isinstance(record, ListRecord | IteratorRecord) and record.items is not None:
        return [lower(tracer, item, array) for item in record.items]
    if isinstance(record, DictRecord) and record.exact and all(isinstance(key, Const) for key in record.items):
        return {key.value: lower(tracer, item) for key, item in record.items.items() if isinstance(key, Const)}
    return Unknown(tracer, ref)


def layer_attributes(tracer: Tracer, module: torch.nn.Module, name: str) -> dict[str, Value]:
    """What the rules of a layer read of it, from the real one."""
    found: dict[str, Value] = {"__name__": Const(name)}
    for part in (module.__dict__, module._parameters, module._buffers):
        for key, value in part.items():
            if not key.startswith("_"):
                found[key] = _fixed(tracer, value)
    return found


def _fixed(tracer: Tracer, value: Any) -> Value:
    """An attribute of a layer; a list is a tuple, since nothing changes it."""
    return lift(tracer, tuple(value) if isinstance(value, list | torch.Size) else value)


def record_of(tracer: Tracer, module: torch.nn.Module, name: str, library: str) -> InstanceRecord:
    """A layer as an object of the interpreter's heap."""
    return InstanceRecord(Lib(library), layer_attributes(tracer, module, name))
