"""Renaming what a call made, so that its summary can be replayed as a new call."""

from __future__ import annotations

from dataclasses import replace
from operator import is_not
from typing import TYPE_CHECKING, Any

from distml.interp.correspondence import names_of
from distml.shapes import Dim, Middle, Origin, Shape, Symbol
from distml.values import Const, Opaque, Ref, Value, object_mark
from distml.values.model import ANY_OBJECT, MAX_KIN

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from distml.interp.correspondence import Correspondence
    from distml.interp.machine import Machine


class Renaming:
    """Gives everything made after `mark` a new identity, the same one each time it occurs.

    What is older is what `pairs` says that it is now.
    """

    def __init__(
        self, vm: Machine, mark: int, changes: Iterable[Hashable], objects: int, pairs: Correspondence
    ) -> None:
        self.vm = vm
        self.mark = mark
        self._pairs = pairs
        # Modules that were first imported meanwhile are not the call's own.
        self._own = {key[0] if isinstance(key, tuple) else key for key in changes}
        self._made: dict[Any, Any] = {}
        self._objects = objects
        self._idents: dict[int, int] = pairs.idents

    def ident(self, ident: int) -> int:
        """A tensor object, renamed."""
        if ident not in self._idents:
            if ident <= self._objects:
                return ident
            self._idents[ident] = object_mark()
        return self._idents[ident]

    def _kin(self, kin: frozenset[int]) -> frozenset[int]:
        """The objects that one may be, renamed: for one that was given, all that it may be now."""
        families = self._pairs.families
        found = frozenset(each for ident in kin for each in families.get(ident, (self.ident(ident),)))
        return found if len(found) <= MAX_KIN else frozenset({ANY_OBJECT})

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
        return self.entry(key)

    def address(self, address: int) -> int:
        """A heap address or frame number, renamed."""
        if address <= self.mark or address not in self._own:
            return self._pairs.there.get(address, address)  # type: ignore[return-value]
        if address not in self._made:
            self._made[address] = self.vm.serial()
            if self.vm.has_frame(address):
                self.vm.open_frame(self.vm.frame_of(address).again(self._made[address], self.value))
        renamed: int = self._made[address]
        return renamed

    def symbol(self, symbol: Symbol) -> Symbol:
        """A symbol, renamed."""
        if symbol.serial <= self.mark:
            return self._pairs.there.get(symbol, symbol)  # type: ignore[return-value]
        if symbol not in self._made:
            high = None if symbol.high is None else self.dim(symbol.high)
            self._made[symbol] = Symbol(symbol.name, self.vm.serial(), symbol.low, high=high)
        renamed: Symbol = self._made[symbol]
        return renamed

    def middle(self, middle: Middle) -> Middle:
        """The unknown part of a shape, renamed."""
        if middle.serial <= self.mark:
            return self._pairs.there.get(middle, middle)  # type: ignore[return-value]
        if middle not in self._made:
            self._made[middle] = Middle(middle.name, self.vm.serial())
        renamed: Middle = self._made[middle]
        return renamed

    def dim(self, dim: Dim) -> Dim:
        """A dimension, renamed."""
        origin = self._origin(dim.origin)
        others = {}
        for symbol in dim.symbols():
            other = self.symbol(symbol)
            if other is not symbol:
                others[symbol] = Dim.symbol(other)
        if others:
            dim = dim.substitute(others)
        return dim if origin is dim.origin else dim.at(origin)

    def _origin(self, origin: Origin | None) -> Origin | None:
        """Where a number comes from, if it was given."""
        return None if origin is None else self._pairs.origins.get(origin, origin)

    def shape(self, shape: Shape) -> Shape:
        """A shape, renamed."""
        middle = None if shape.middle is None else self.middle(shape.middle)
        head = tuple(self.dim(d) for d in shape.head)
        tail = tuple(self.dim(d) for d in shape.tail)
        pairs = zip((*head, *tail), (*shape.head, *shape.tail), strict=True)
        if middle is shape.middle and all(a is b for a, b in pairs):
            return shape
        return Shape(head, middle, tail, shape.least)

    def value(self, value: Value) -> Value:
        """A value, renamed."""
        if isinstance(value, Const):
            origin = self._origin(value.origin)
            return value if origin is value.origin else Const(value.value, origin)
        if isinstance(value, Opaque):
            if value.serial <= self.mark:
                return self._pairs.there.get(value, value)  # type: ignore[return-value]
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
        kind = type(entry)
        rule = _RULES.get(kind)
        if rule is not None:
            return rule(self, entry)
        changes = {}
        for name in names_of(kind):
            before = getattr(entry, name)
            after = self._field(name, before)
            if after is not before:
                changes[name] = after
        return replace(entry, **changes) if changes else entry

    def _tuple(self, entry: tuple[Any, ...]) -> tuple[Any, ...]:
        items = tuple([self.entry(each) for each in entry])
        return items if any(map(is_not, items, entry)) else entry

    def _set(self, entry: frozenset[Any]) -> frozenset[Any]:
        items = frozenset(self.entry(each) for each in entry)
        return entry if items == entry else items

    def _dict(self, entry: dict[Any, Any]) -> dict[Any, Any]:
        keys, values = [self.entry(each) for each in entry], [self.entry(each) for each in entry.values()]
        same = not any(map(is_not, keys, entry)) and not any(map(is_not, values, entry.values()))
        return entry if same else dict(zip(keys, values, strict=True))

    def _field(self, name: str, before: Any) -> Any:
        if name in ("address", "frame") and isinstance(before, int):
            return self.address(before)
        if name == "ident":
            return self.ident(before)
        if name == "kin":
            renamed = self._kin(before)
            return before if renamed == before else renamed
        return self.entry(before)


_RULES: dict[type[Any], Callable[[Renaming, Any], Any]] = {
    **dict.fromkeys((Const, Opaque, Ref), Renaming.value),
    **dict.fromkeys((str, int, bool, float, type(None)), lambda _, entry: entry),
    Symbol: Renaming.symbol,
    Middle: Renaming.middle,
    Dim: Renaming.dim,
    Shape: Renaming.shape,
    tuple: Renaming._tuple,
    frozenset: Renaming._set,
    dict: Renaming._dict,
}
