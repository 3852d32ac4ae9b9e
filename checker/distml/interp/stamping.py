"""Tensors made or changed at a place: where their sizes come from, and who sees the change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.values import InstanceRecord, ListRecord, Tensor, Tup

if TYPE_CHECKING:
    import ast

    from distml.interp.machine import Machine
    from distml.shapes import Shape
    from distml.values import Value


def stamp(vm: Machine, value: Value, node: ast.AST) -> Value:
    """The value with every dimension that has no origin yet said to come from `node`."""
    if isinstance(value, Tensor):
        return _stamp_tensor(vm, value, node)
    if isinstance(value, Tup) and any(isinstance(item, Tensor) for item in value.items):
        items = tuple(stamp(vm, item, node) for item in value.items)
        return Tup(items, value.kind, value.fields, value.cls)
    return value


def _stamp_tensor(vm: Machine, value: Tensor, node: ast.AST) -> Tensor:
    shape = value.shape
    dims = shape.head + shape.tail
    if all(d.origin is not None for d in dims):
        return value
    origin = vm.origin(node)
    stamped = shape.map(d if d.origin is not None else d.at(origin) for d in dims)
    return Tensor(value.lib, stamped, value.dtype, value.parameter, value.content, value.ident)


def reshaped(vm: Machine, tensor: Tensor, shape: Shape) -> Tensor:
    """A tensor object changed in place: everything that holds it sees the new shape."""
    changed = Tensor(tensor.lib, shape, tensor.dtype, tensor.parameter, None, tensor.ident)
    for key, value in vm.state.entries().items():
        if value is tensor:
            vm.state.set(key, changed)
        elif isinstance(value, ListRecord) and value.items and any(i is tensor for i in value.items):
            items = tuple(changed if i is tensor else i for i in value.items)
            vm.state.set(key, replace(value, items=items))
        elif isinstance(value, InstanceRecord) and any(a is tensor for a in value.attrs.values()):
            attrs = {n: changed if a is tensor else a for n, a in value.attrs.items()}
            vm.state.set(key, replace(value, attrs=attrs))
    return changed
