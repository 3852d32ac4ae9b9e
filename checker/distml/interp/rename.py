"""Renaming what a call made, so that its summary can be replayed as a new call."""

from __future__ import annotations

from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from distml.shapes import Dim, Middle, Shape, Symbol
from distml.values import Const, Opaque, Ref, Tensor, Value, object_mark

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from distml.interp.machine import Machine


class Renaming:
    """Gives everything made after `mark` a new identity, the same one each time it occurs."""

    def __init__(self, vm: Machine, mark: int, changes: Iterable[Hashable], objects: int) -> None:
        self.vm = vm
        self.mark = mark
        # Modules that were first imported meanwhile are not the call's own.
        self._own = {key[0] if isinstance(key, tuple) else key for key in changes}
        self._made: dict[Any, Any] = {}
        self._objects = objects
        self._idents: dict[int, int] = {}

    def take(self, before: Any, now: Any) -> None:
        """The tensor objects in one value are those in an equal one now."""
        if isinstance(before, Tensor) and isinstance(now, Tensor):
            self._idents[before.ident] = now.ident
        elif isinstance(before, tuple) and isinstance(now, tuple):
            for a, b in zip(before, now, strict=False):
                self.take(a, b)
        elif before is not now and type(before) is type(now):
            for name in ("items", "attrs"):
                self.take(_values(before, name), _values(now, name))

    def ident(self, ident: int) -> int:
        """A tensor object, renamed."""
        if ident not in self._idents:
            if ident <= self._objects:
                return ident
            self._idents[ident] = object_mark()
        return self._idents[ident]

    def key(self, key: Hashable) -> Any:
        """A key of the store, renamed."""
        if isinstance(key, int):
            return self.address(key)
        if isinstance(key, Symbol):
            return self.symbol(key)
        if isinstance(key, Middle):
            return self.middle(key)
        if isinstance(key, tuple) and isinstance(key[0], int):
            return (self.address(key[0]), *key[1:])
        if isinstance(key, tuple):
            return tuple(self.value(k) if isinstance(k, Value) else k for k in key)
        return key

    def address(self, address: int) -> int:
        """A heap address or frame number, renamed."""
        if address <= self.mark or address not in self._own:
            return address
        if address not in self._made:
            self._made[address] = self.vm.serial()
            if self.vm.has_frame(address):
                frame = copy(self.vm.frame_of(address))
                frame.ident = self._made[address]
                self.vm.open_frame(frame)
        renamed: int = self._made[address]
        return renamed

    def symbol(self, symbol: Symbol) -> Symbol:
        """A symbol, renamed."""
        if symbol.serial <= self.mark:
            return symbol
        if symbol not in self._made:
            self._made[symbol] = Symbol(symbol.name, self.vm.serial(), symbol.low)
        renamed: Symbol = self._made[symbol]
        return renamed

    def middle(self, middle: Middle) -> Middle:
        """The unknown part of a shape, renamed."""
        if middle.serial <= self.mark:
            return middle
        if middle not in self._made:
            self._made[middle] = Middle(middle.name, self.vm.serial())
        renamed: Middle = self._made[middle]
        return renamed

    def dim(self, dim: Dim) -> Dim:
        """A dimension, renamed."""
        if dim.constant is not None:
            return dim
        young = {s: Dim.symbol(self.symbol(s)) for s in dim.symbols() if s.serial > self.mark}
        return dim.substitute(young) if young else dim

    def shape(self, shape: Shape) -> Shape:
        """A shape, renamed."""
        middle = None if shape.middle is None else self.middle(shape.middle)
        head = tuple(self.dim(d) for d in shape.head)
        renamed = Shape(head, middle, tuple(self.dim(d) for d in shape.tail), shape.least)
        return shape if renamed == shape else renamed

    def value(self, value: Value) -> Value:
        """A value, renamed."""
        if isinstance(value, Const):
            return value
        if isinstance(value, Opaque):
            if value.serial <= self.mark:
                return value
            if value not in self._made:
                self._made[value] = Opaque(value.name, self.vm.serial(), value.origin)
            renamed: Opaque = self._made[value]
            return renamed
        if isinstance(value, Ref):
            address = self.address(value.address)
            return value if address == value.address else Ref(address)
        changed: Value = self.entry(value)
        return changed

    def entry(self, entry: Any) -> Any:
        """Anything the store holds, renamed; the same object where nothing changes."""
        if isinstance(entry, Const | Opaque | Ref):
            return self.value(entry)
        if isinstance(entry, Dim):
            return self.dim(entry)
        if isinstance(entry, Shape):
            return self.shape(entry)
        if isinstance(entry, tuple):
            items = tuple(self.entry(e) for e in entry)
            return items if any(a is not b for a, b in zip(items, entry, strict=True)) else entry
        if isinstance(entry, dict):
            pairs = [(self.entry(k), self.entry(v)) for k, v in entry.items()]
            same = all(a is k and b is v for (a, b), (k, v) in zip(pairs, entry.items(), strict=True))
            return entry if same else dict(pairs)
        if is_dataclass(entry) and not isinstance(entry, type):
            changes = {}
            for field in fields(entry):
                before = getattr(entry, field.name)
                after = self._field(field.name, before)
                if after is not before:
                    changes[field.name] = after
            return replace(entry, **changes) if changes else entry
        return entry

    def _field(self, name: str, before: Any) -> Any:
        if name in ("address", "frame") and isinstance(before, int):
            return self.address(before)
        if name == "ident":
            return self.ident(before)
        if name == "kin":
            renamed = frozenset(self.ident(ident) for ident in before)
            return before if renamed == before else renamed
        return self.entry(before)


def _values(owner: Any, name: str) -> tuple[Any, ...]:
    found = getattr(owner, name, None)
    return tuple(found.values()) if isinstance(found, dict) else found if isinstance(found, tuple) else ()
