"""torch.nn: Sequential, ModuleList and ParameterList, containers in a row.

Their children are in the attribute `__items__`, a reference to a list.
https://docs.pytorch.org/docs/stable/nn.html#containers
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call, ShapeError
from distml.ops.python.likeness import either
from distml.ops.registry import layer, op
from distml.values import (
    Const,
    DictRecord,
    InstanceRecord,
    Lib,
    ListRecord,
    Many,
    Prim,
    Ref,
    Slice,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ITEMS = "__items__"
KINDS = ("torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ParameterList")


def methods(*names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register an op as a method of all containers of this file."""
    return op(*(f"{kind}.{name}" for kind in KINDS for name in names))


def children(call: Call, self: Value) -> ListRecord:
    """The list of a container's children; an unknown one where it is not known."""
    attrs = call.attrs(self) or {}
    items = attrs.get(ITEMS)
    record = call.world.record(items) if isinstance(items, Ref) else None
    return record if isinstance(record, ListRecord) else ListRecord(None)


def store(call: Call, self: Value, record: ListRecord) -> None:
    """Give a container other children."""
    attrs = call.attrs(self)
    items = attrs.get(ITEMS) if attrs is not None else None
    if isinstance(items, Ref):
        call.world.replace(items, record)


def from_iterable(call: Call, value: Value) -> ListRecord:
    """The list of what an iterable holds."""
    if call.is_none(value):
        return ListRecord(())
    found = call.iterate(value)
    if isinstance(found, Many):
        return ListRecord(None, found.item, found.length)
    return ListRecord(found)


def _joined(call: Call, left: ListRecord, right: ListRecord) -> ListRecord:
    if left.items is not None and right.items is not None:
        return ListRecord(left.items + right.items)
    options = [*(left.items or ()), *(right.items or ())]
    options += [record.item for record in (left, right) if record.items is None and record.item is not None]
    known = all(record.items is not None or record.item is not None for record in (left, right))
    return ListRecord(None, either(call, options) if known and options else None)


@layer("torch.nn.Sequential")
class Sequential:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html

    An argument that is a `Many` stands for unknown star arguments.
    """

    bases = ("torch.nn.Module",)
    as_given = True
    """A child that is one of several layers stays that: there is one container, not one for each of them."""

    @staticmethod
    def init(call: Call, *args: Value) -> dict[str, Value]:
        """Layers in order, or one OrderedDict of them; named ones are attributes too."""
        named = _named(call, args)
        if named is not None:
            items = call.list_of(tuple(named.values()))
            return {ITEMS: items, **{str(k.value): v for k, v in named.items() if isinstance(k, Const)}}
        record = ListRecord(None) if _is_dict(call, args) else ListRecord(())
        for arg in () if record.items is None else args:
            more = ListRecord(None, arg.item, arg.length) if isinstance(arg, Many) else ListRecord((arg,))
            record = _joined(call, record, more)
        return {ITEMS: call.world.allocate(record)}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """Each layer on the result of the one before."""
        items = attrs.get(ITEMS)
        record = call.world.record(items) if isinstance(items, Ref) else None
        if not isinstance(record, ListRecord):
            return call.unknown()
        if record.items is None:
            return _repeated(call, record.item, input)
        for item in record.items:
            input = call.apply(item, input)
        return input


def _named(call: Call, args: Sequence[Value]) -> dict[Value, Value] | None:
    record = call.world.record(args[0]) if len(args) == 1 and isinstance(args[0], Ref) else None
    return record.items if isinstance(record, DictRecord) and record.exact else None


def _is_dict(call: Call, args: Sequence[Value]) -> bool:
    """Whether the one argument is a dict, of which not all is known."""
    return len(args) == 1 and isinstance(args[0], Ref) and isinstance(call.world.record(args[0]), DictRecord)


def _repeated(call: Call, item: Value | None, input: Value) -> Value:
    """Unknown many like layers: known only if one of them keeps the shape.

    There may be none of them, so that a failure of one is no failure.
    """
    if item is None or not isinstance(input, Tensor):
        return call.unknown()
    try:
        once = call.apply(item, input)
    except ShapeError:
        return call.unknown()
    if isinstance(once, Tensor) and call.shape(once) == call.shape(input):
        return once
    return call.unknown()


@layer("torch.nn.ModuleList", "torch.nn.ParameterList")
class ModuleList:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, modules: Value = NONE, *, values: Value = NONE) -> dict[str, Value]:
        """A copy of the iterable."""
        given = modules if call.is_none(values) else values
        return {ITEMS: call.world.allocate(from_iterable(call, given))}


@methods("append")
def append(call: Call, self: Value, module: Value) -> Value:
    """Append and give the container."""
    store(call, self, _joined(call, children(call, self), ListRecord((module,))))
    return self


@methods("extend", "__iadd__")
def extend(call: Call, self: Value, modules: Value) -> Value:
    """Append all and give the container."""
    store(call, self, _joined(call, children(call, self), from_iterable(call, modules)))
    return self


@methods("insert")
def insert(call: Call, self: Value, index: Value, module: Value) -> Value:
    """Insert before an index; `Sequential` gives itself."""
    record, at = children(call, self), index.value if isinstance(index, Const) else None
    if record.items is None or not isinstance(at, int):
        store(call, self, _joined(call, ListRecord(None, record.item), ListRecord((module,))))
    else:
        items = list(record.items)
        items.insert(at, module)
        store(call, self, ListRecord(tuple(items)))
    return self if call.name.startswith(KINDS[0]) else NONE


@methods("__len__")
def length(call: Call, self: Value) -> Value:
    """The number of children."""
    record = children(call, self)
    if record.items is not None:
        return Const(len(record.items))
    return Prim("int") if record.length is None else call.number(record.length)


@methods("__iter__", "values")
def iterate(call: Call, self: Value) -> Value:
    """The children in order."""
    record = children(call, self)
    if record.items is not None:
        return Tup(record.items)
    return Many(record.item if record.item is not None else call.unknown("item"), length=record.length)


@methods("__getitem__")
def getitem(call: Call, self: Value, index: Value) -> Value:
    """One child, or for a slice a container of the same class."""
    record = children(call, self)
    if isinstance(index, Slice):
        return _container(call, self, _sliced(call, record, index))
    at = index.value if isinstance(index, Const) else None
    if record.items is None:
        return record.item if record.item is not None else call.unknown("item")
    if isinstance(at, int):
        inside = -len(record.items) <= at < len(record.items)
        return record.items[at] if inside else call.unknown("item")
    return either(call, record.items)


def _bounds(call: Call, index: Value) -> slice | None:
    """A slice whose bounds are known."""
    parts = (index.start, index.stop, index.step) if isinstance(index, Slice) else (Prim("int"),)
    bounds = [call.const(part, (int, type(None))) for part in parts]
    return slice(*bounds) if all(b is None or isinstance(b, int) for b in bounds) else None


def _sliced(call: Call, record: ListRecord, index: Slice) -> ListRecord:
    bounds = _bounds(call, index)
    if record.items is not None and bounds is not None:
        return ListRecord(record.items[bounds])
    item = record.item
    return ListRecord(None, either(call, record.items) if record.items else item)


def _container(call: Call, self: Value, record: ListRecord) -> Value:
    own = call.world.record(self) if isinstance(self, Ref) else None
    kind = call.name.rpartition(".")[0]
    cls: Value = Lib(kind if kind in KINDS else KINDS[0])
    if isinstance(own, InstanceRecord) and isinstance(own.cls, Lib):
        cls = own.cls
    return call.world.allocate(InstanceRecord(cls, {ITEMS: call.world.allocate(record)}))


@methods("__setitem__")
def setitem(call: Call, self: Value, index: Value, module: Value) -> Value:
    """Replace one child."""
    record, at = children(call, self), index.value if isinstance(index, Const) else None
    if record.items is not None and isinstance(at, int) and -len(record.items) <= at < len(record.items):
        items = list(record.items)
        items[at] = module
        store(call, self, ListRecord(tuple(items)))
    else:
        joined = _joined(call, ListRecord(record.items, record.item), ListRecord(None, module))
        store(call, self, ListRecord(None, joined.item, record.length))
    return NONE


@methods("__delitem__", "pop")
def delitem(call: Call, self: Value, index: Value = Const(-1)) -> Value:
    """Remove one child or a slice of them, and give it; those that stay are named by their numbers."""
    record = children(call, self)
    found, at = getitem(call, self, index), _place(call, record, index)
    _forget_names(call, self, record)
    if record.items is None or at is None:
        store(call, self, _sliced(call, record, Slice(Prim("int"))))
    else:
        left = list(record.items)
        del left[at]
        store(call, self, ListRecord(tuple(left)))
    return found


def _place(call: Call, record: ListRecord, index: Value) -> int | slice | None:
    """A place that a container has, or a slice, where they are known."""
    at, count = index.value if isinstance(index, Const) else None, len(record.items or ())
    return at if isinstance(at, int) and -count <= at < count else _bounds(call, index)


def _forget_names(call: Call, self: Value, record: ListRecord) -> None:
    own = call.world.record(self) if isinstance(self, Ref) else None
    if isinstance(own, InstanceRecord) and isinstance(self, Ref) and record.items:
        attrs = {name: value for name, value in own.attrs.items() if value not in record.items}
        call.world.replace(self, replace(own, attrs=attrs))


@methods("__add__")
def add(call: Call, self: Value, other: Value) -> Value:
    """A new container with the children of both."""
    return _container(call, self, _joined(call, children(call, self), from_iterable(call, other)))


@methods("__contains__")
def contains(call: Call, self: Value, module: Value) -> Value:
    """Whether it is a child."""
    record = children(call, self)
    return Const(True) if record.items is not None and module in record.items else Prim("bool")
