"""Subscripts, read and stored, of every kind of value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.callbacks import give_away
from distml.interp.calls import call_op, call_value, each_alternative, hypothetical
from distml.interp.classes import lookup
from distml.interp.imports import loaded_module
from distml.interp.metaclasses import followed, own_method
from distml.interp.operators import tensor_prefix
from distml.interp.unsettled import unsettle
from distml.ops.dialect import dialect, library_of
from distml.ops.registry import find_op
from distml.shapes import Shape
from distml.values import (
    NONE,
    Bound,
    Class,
    Const,
    Expr,
    Function,
    Lib,
    Opaque,
    Ref,
    ShapeSeq,
    Slice,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    import ast

    from distml.interp.class_record import ClassRecord
    from distml.interp.machine import Machine

_MODULES = Lib("sys.modules")


def subscript(vm: Machine, value: Value, index: Value, node: ast.AST | None = None) -> Value:
    """`value[index]`."""
    where = vm.node if node is None else node
    return each_alternative(vm, (value, index), lambda v, i: _subscript(vm, v, i, where))


def _subscript(vm: Machine, value: Value, index: Value, node: ast.AST) -> Value:
    if isinstance(value, Tensor):
        name = f"{tensor_prefix(value)}.__getitem__"
        return call_op(vm, name, Arguments([value, index]), node, value.lib)
    if isinstance(value, ShapeSeq):
        return _shape_item(vm, value, index)
    if isinstance(value, Opaque | Expr):
        return _opaque_item(vm, value, index, node)
    if value == _MODULES and isinstance(index, Const):
        return loaded_module(vm, index.value) or vm.opaque("module")
    if isinstance(value, Lib | Class):
        return _of_class(vm, value, index, node)
    method = vm.attribute(value, "__getitem__")
    if method is not None and not isinstance(method, Opaque):
        return call_value(vm, method, Arguments([index]), node)
    return vm.opaque(vm.snippet(node))


def _shape_item(vm: Machine, value: ShapeSeq, index: Value) -> Value:
    shape = vm.facts.shape(value.shape)
    if isinstance(index, Const) and isinstance(index.value, int):
        dim = vm.facts.axis(shape, index.value)
        if dim is not None:
            return vm.number(dim)
    if isinstance(index, Slice) and index.step == NONE:
        return _shape_slice(vm, value, shape, index)
    return vm.opaque("shape item")


def _shape_slice(vm: Machine, value: ShapeSeq, shape: Shape, index: Slice) -> Value:
    start, stop = (b.value if isinstance(b, Const) else False for b in (index.start, index.stop))
    if shape.dims is not None and start is not False and stop is not False:
        return Tup(tuple(vm.number(d) for d in shape.dims[start:stop]), value.kind)
    if stop is None and isinstance(start, int) and start < 0:
        tail = vm.facts.tail(shape, -start)
        if tail is not None:
            return Tup(tuple(vm.number(d) for d in tail), value.kind)
    if start in (None, 0) and isinstance(stop, int) and stop > 0 and shape.least >= stop:
        dims = [vm.facts.axis(shape, axis) for axis in range(stop)]
        return Tup(tuple(vm.number(d) for d in dims if d is not None), value.kind)
    if start is None and isinstance(stop, int) and stop < 0:
        return _all_but_last(vm, value, shape, -stop)
    return ShapeSeq(vm.facts.unknown_shape(), value.lib)


def _all_but_last(vm: Machine, value: ShapeSeq, shape: Shape, count: int) -> ShapeSeq:
    """`x.shape[:-1]`: what is known from the front is kept as far as it must remain."""
    unknown = vm.facts.unknown_shape("batch")
    keep = max(0, min(len(shape.head), shape.least - count))
    tail = shape.tail[: len(shape.tail) - count] if len(shape.tail) > count else ()
    return ShapeSeq(Shape(shape.head[:keep], unknown.middle, tail), value.lib)


def _opaque_item(vm: Machine, value: Opaque | Expr, index: Value, node: ast.AST) -> Value:
    kind = vm.get(("kind", value))
    if kind is not None:
        return hypothetical(vm, f"{dialect(kind).tensor}.__getitem__", Arguments([value, index]), node, kind)
    if isinstance(value, Opaque) and isinstance(index, Const):
        return vm.child(value, "item", index, f"{value.name}[{index!r}]", node)
    return vm.opaque(vm.snippet(node), vm.origin(node))


def _of_class(vm: Machine, value: Lib | Class, index: Value, node: ast.AST) -> Value:
    """`list[int]`, `Enum["NAME"]`, `np.r_[...]`, `Generic[T]`."""
    if isinstance(value, Lib):
        name = f"{value.name}.__getitem__"
        if find_op(name) is not None:
            return call_op(vm, name, Arguments([index]), node, library_of(name))
        return value
    record: ClassRecord = vm.at(value.address)
    own, _ = lookup(vm, record.mro, "__class_getitem__")
    if isinstance(own, Function):
        return call_value(vm, Bound(own, value), Arguments([index]), node)
    if record.kind == "enum" and isinstance(index, Const) and index.value in record.attrs:
        return record.attrs[index.value]
    own = own_method(vm, record.metaclass, "__getitem__")
    if own is not None:
        return call_value(vm, Bound(own, value), Arguments([index]), node)
    if isinstance(record.metaclass, Class) and followed(vm, record.metaclass) is None:
        return vm.opaque(vm.snippet(node))
    return value


def store_subscript(vm: Machine, value: Value, index: Value, item: Value, node: ast.AST) -> None:
    """`value[index] = item`."""
    each_alternative(vm, (value,), lambda option: _store(vm, option, index, item, node))


def _store(vm: Machine, value: Value, index: Value, item: Value, node: ast.AST) -> Value:
    if isinstance(value, Tensor) and not dialect(value.lib).immutable:
        name = f"{tensor_prefix(value)}.__setitem__"
        return each_alternative(
            vm, (index, item), lambda i, v: call_op(vm, name, Arguments([value, i, v]), node, value.lib)
        )
    if isinstance(value, Ref):
        method = vm.attribute(value, "__setitem__")
        if method is not None and not isinstance(method, Opaque):
            call_value(vm, method, Arguments([index, item]), node)
    elif isinstance(value, Opaque):
        unsettle(vm, value)
        give_away(vm, item)
    elif isinstance(value, Tensor) or (isinstance(value, Tup) and value.kind == "tuple"):
        raise vm.raised()  # a TypeError; what a program does behind it, it does with another value
    return NONE
