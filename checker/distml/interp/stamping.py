"""Tensors made or changed at a place: where their sizes come from, and who sees the change."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from distml.shapes import Dim, Shape
from distml.values import Const, Function, KeyTensor, Opaque, Ref, Tensor, Tup

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Iterator

    from distml.interp.machine import Machine
    from distml.shapes import Origin
    from distml.values import Value

_BARE = (Const, Opaque, Ref, Function, Dim, Shape)
MOST_KEPT = 20_000
"""Values of which it is remembered which tensors are in them."""
_SUMMARIES = frozenset({"item", "rest"})
"""Fields that speak for many objects: none of them can be changed alone."""


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
    strides = value.strides
    if type(strides) is tuple and any(d.origin is None for d in strides):
        value = replace(value, strides=tuple(_stamped(strides, vm.origin(node))))
    if all(d.origin is not None for d in dims):
        return value
    return replace(value, shape=shape.map(_stamped(dims, vm.origin(node))))


def _stamped(dims: Iterable[Dim], origin: Origin) -> Iterator[Dim]:
    return (d if d.origin is not None else d.at(origin) for d in dims)


def reshaped(vm: Machine, tensor: Tensor, shape: Shape, moved: bool = False) -> Tensor:
    """A tensor object changed in place: everything that holds it sees the new shape.

    Of what only may be the same object the shape is no longer known.
    """
    vm.reshapes += 1
    keeps = shape == tensor.shape

    def held(other: Tensor, alone: bool) -> Tensor:
        if not tensor.may_be(other):
            return other
        if other.ident == tensor.ident and alone:
            return other.overwritten(shape, moved)
        return other.overwritten(other.shape if keeps else vm.facts.unknown_shape(), moved)

    if vm.session.tensors is None:
        vm.session.tensors = {key: value for key, value in vm.base.items() if _held_by(vm, value)}
    for key, value in [*vm.session.tensors.items(), *vm.state.entries().items()]:
        if not any(map(tensor.may_be, _held_by(vm, value))):
            continue
        changed = _everywhere(value, held)
        if changed is not value and vm.state.get(key) is value:
            vm.state.set(key, changed)
    return tensor.overwritten(shape, moved)


def _held_by(vm: Machine, value: Any) -> tuple[Tensor, ...]:
    """The tensors that are somewhere in what the store holds; nothing in it ever changes, so that the answer is kept."""
    if isinstance(value, _BARE):
        return ()
    kept = vm.session.holding
    known = kept.get(id(value))
    if known is None:
        found: dict[int, Tensor] = {}

        def see(tensor: Tensor, alone: bool) -> Tensor:
            found[id(tensor)] = tensor
            return tensor

        _everywhere(value, see)
        if len(kept) > MOST_KEPT:
            kept.clear()
        # The value is kept too: no other one may get its number.
        known = kept[id(value)] = (value, tuple(found.values()))
    return known[1]


def _key(key: Any, change: Callable[[Tensor, bool], Tensor], alone: bool) -> Any:
    return change(key, alone) if isinstance(key, KeyTensor) else key


def _everywhere(value: Any, change: Callable[[Tensor, bool], Tensor], alone: bool = True) -> Any:
    """What the store holds with a change made to each tensor in it; the same object where there is none to make."""
    if isinstance(value, Tensor):
        return change(value, alone)
    if isinstance(value, _BARE):
        return value
    if isinstance(value, tuple):
        items = tuple(_everywhere(item, change, alone) for item in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        found = {_key(key, change, alone): _everywhere(item, change, alone) for key, item in value.items()}
        return (
            found
            if any(a is not b for a, b in zip(chain(*found.items()), chain(*value.items()), strict=True))
            else value
        )
    if not is_dataclass(value) or isinstance(value, type):
        return value
    parts = {f.name: getattr(value, f.name) for f in fields(value)}
    made = {name: _everywhere(part, change, alone and name not in _SUMMARIES) for name, part in parts.items()}
    changes = {name: part for name, part in made.items() if part is not parts[name]}
    return replace(value, **changes) if changes else value
