"""A small world to call ops in without the interpreter, and real values made abstract."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from distml.interp.library import library_bases
from distml.ops import Call, Note, find_layer, find_op
from distml.ops.dialect import library_of
from distml.ops.python.iterating import iterate
from distml.ops.rules.widths import BITS
from distml.shapes import Dim, Shape
from distml.solver.formula import Formula
from distml.values import (
    NONE,
    Const,
    DictRecord,
    InstanceRecord,
    Lib,
    ListRecord,
    Many,
    Opaque,
    Record,
    Ref,
    SetRecord,
    Slice,
    Tensor,
    Tup,
    Value,
)


class ScratchWorld:
    """Facts and heap in two plain dicts; warnings in a list."""

    def __init__(self) -> None:
        self.store: dict[Any, Any] = {}
        self.heap: dict[int, Record] = {}
        self.warnings: list[tuple[str, str]] = []
        self.demands: list[Formula] | None = None
        self._serials = itertools.count(1)

    def get(self, key: Any) -> Any:
        return self.store.get(key)

    def put(self, key: Any, value: Any) -> None:
        self.store[key] = value

    def serial(self) -> int:
        return next(self._serials)

    def record(self, ref: Ref) -> Record | None:
        return self.heap.get(ref.address)

    def allocate(self, record: Record) -> Ref:
        address = self.serial()
        self.heap[address] = record
        return Ref(address)

    def replace(self, ref: Ref, record: Record) -> None:
        self.heap[ref.address] = record

    def library_classes(self, record: InstanceRecord) -> tuple[str, ...] | None:
        return library_bases(record.cls.name) if isinstance(record.cls, Lib) else None

    def any_of_alike(self, objects: Any) -> Ref | None:
        return None

    def apply(self, function: Value, args: Any, kwargs: dict[str, Value] | None = None) -> Value:
        if isinstance(function, Lib):
            return self.call(function.name, *args, **(kwargs or {}))
        record = self.record(function) if isinstance(function, Ref) else None
        if isinstance(record, InstanceRecord) and isinstance(record.cls, Lib):
            rules: Any = find_layer(record.cls.name)
            if rules is not None and hasattr(rules, "forward"):
                call = self.begin(record.cls.name)
                result: Value = rules.forward(call, record.attrs, *args, **(kwargs or {}))
                return result
        return Opaque("call", self.serial())

    def apply_perhaps(self, function: Value, args: Any) -> Value:
        return self.apply(function, args)

    def iterate(self, value: Value) -> tuple[Value, ...] | Many:
        return iterate(self.begin("builtins.iter"), value)

    def truth(self, value: Value) -> bool | None:
        return bool(value.value) if isinstance(value, Const) else None

    def attribute(self, value: Value, name: str) -> Value | None:
        record = self.record(value) if isinstance(value, Ref) else None
        return record.attrs.get(name) if isinstance(record, InstanceRecord) else None

    def warn(self, code: str, message: str, notes: tuple[Note, ...], hint: str | None) -> None:
        self.warnings.append((code, message))

    def reshaped(self, tensor: Tensor, shape: Shape, moved: bool = False) -> Tensor:
        return Tensor(tensor.lib, shape, tensor.dtype, tensor.parameter)

    @property
    def watched(self) -> bool:
        return self.demands is not None

    def demand(self, formula: Formula, code: str, text: str) -> None:
        assert self.demands is not None
        self.demands.append(formula)

    def excused(self, code: str) -> bool:
        return False

    def begin(self, name: str) -> Call:
        """A call object for the op `name`."""
        return Call(self, name, library_of(name))

    def call(self, name: str, *args: Value, **kwargs: Value) -> Any:
        """Call the op or construct the layer registered as `name`."""
        rules: Any = find_layer(name)
        if rules is not None:
            attrs = rules.init(self.begin(name), *args, **kwargs)
            return self.allocate(InstanceRecord(Lib(name), attrs))
        function = find_op(name)
        assert function is not None, f"no op {name}"
        return function(self.begin(name), *args, **kwargs)


def leaves(world: ScratchWorld, made: Any, real: Any) -> Iterator[tuple[Tensor, Any]]:
    """Each tensor that is told, and what is really in its place."""
    if isinstance(made, Tensor):
        yield made, real
        return
    record = world.record(made) if isinstance(made, Ref) else made
    items = record.items if isinstance(record, Tup | ListRecord) else None
    for item, part in zip(items or (), real if items else (), strict=False):
        yield from leaves(world, item, part)


def lift(world: ScratchWorld, value: Any) -> Value:
    """The abstract value of a real one: tensors and arrays by shape, the rest exactly."""
    kind = type(value)
    if value is None:
        return NONE
    if kind in (int, float, bool, str, complex, bytes) or value is Ellipsis:
        return Const(value)
    if kind is slice:
        return Slice(*(lift(world, v) for v in (value.start, value.stop, value.step)))
    if isinstance(value, tuple):
        return Tup(tuple(lift(world, v) for v in value))
    if isinstance(value, list):
        return world.allocate(ListRecord(tuple(lift(world, v) for v in value)))
    if isinstance(value, set):
        return world.allocate(SetRecord(tuple(lift(world, v) for v in value)))
    if isinstance(value, dict):
        return world.allocate(DictRecord({Const(k): lift(world, v) for k, v in value.items()}))
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return _array(value)
    return Opaque(kind.__name__, world.serial())


def _array(value: Any) -> Tensor:
    name = str(value.dtype).removeprefix("torch.")
    families = {"int": "int", "uint": "int", "bool": "bool", "float": "float", "bfloat": "float", "complex": "complex"}
    dtype = next((kind for prefix, kind in families.items() if name.startswith(prefix)), None)
    lib = "torch" if str(value.dtype).startswith("torch.") else "numpy"
    width = name if name in BITS else None
    return Tensor(lib, Shape(tuple(Dim.of(int(n)) for n in value.shape)), dtype, width=width)
