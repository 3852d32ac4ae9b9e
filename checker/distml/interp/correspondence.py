"""Which unknown of a recorded call is which unknown now.

Two calls that differ only in which unknowns they are given go the same way. A correspondence pairs the symbols,
unknown parts of shapes, unknown values and objects of what was recorded with those of what is there now, one to
one: two that were different are different, and one that was met twice is met twice.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from distml.shapes import Dim, Middle, Origin, Quotient, Shape, Symbol
from distml.values import ClaimedTensor, Class, Const, Function, KeyTensor, Opaque, Ref, Tensor
from distml.values.model import REMEMBERED

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

Unknown = Symbol | Middle | Opaque | int
"""What may be another one in another call; an integer is the address of an object."""


class Correspondence:
    """Pairs of unknowns, and what else differs between equal calls: tensor objects and where numbers come from."""

    __slots__ = ("_back", "_fixed", "_objects", "families", "idents", "origins", "there")

    def __init__(self) -> None:
        self.there: dict[Unknown, Unknown] = {}
        self.idents: dict[int, int] = {}
        self._objects: dict[int, int] = {}
        self.families: dict[int, frozenset[int]] = {}
        self.origins: dict[Origin, Origin] = {}
        self._back: dict[Unknown, Unknown] = {}
        self._fixed: list[Any] = []

    def match(self, before: Any, now: Any) -> bool:
        """Whether what was recorded is what is there now but for the unknowns, which are paired."""
        kind = type(before)
        if before is now and kind not in _UNKNOWNS:
            if kind not in _ATOMS:
                self._fixed.append(before)
            return True
        if kind is not type(now):
            return False
        rule = _RULES.get(kind)
        if rule is not None:
            return rule(self, before, now)
        if is_dataclass(before):
            return all(self.match(getattr(before, name), getattr(now, name)) for name in names_of(kind))
        if before != now:
            return False
        self._fixed.append(before)
        return True

    def pair(self, before: Unknown, now: Unknown) -> bool:
        """Pair two unknowns; False if either is another one's."""
        known = self.there.get(before)
        if known is not None:
            return known is now or (type(known) is int and known == now)
        if now in self._back:
            return False
        self.there[before] = now
        self._back[now] = before
        return True

    def stays(self, value: Any) -> bool:
        """Whether every unknown in what a key names is paired, if need be with itself."""
        return all(unknown in self.there or self.pair(unknown, unknown) for unknown in unknowns_in(value))

    def holds(self, mentioned: Callable[[Any], frozenset[Unknown]]) -> bool:
        """Whether what was not looked into, since it is the same object, has none of the unknowns that are others now."""
        moved = {a for a, b in self.there.items() if a is not b and a != b}
        if not moved:
            return True
        moved |= {self.there[a] for a in moved}
        return not any(mentioned(value) & moved for value in self._fixed)

    def _tensor(self, before: Tensor, now: Tensor) -> bool:
        if self.idents.setdefault(before.ident, now.ident) != now.ident:
            return False
        if self._objects.setdefault(now.ident, before.ident) != before.ident:
            return False  # two objects were two keys of a dict
        family = now.kin | {now.ident}
        self.families[before.ident] = family
        for ident in before.kin:
            self.families[ident] = self.families.get(ident, frozenset()) | family
        return (
            (before.lib, before.dtype, before.width, before.parameter, before.largest)
            == (now.lib, now.dtype, now.width, now.parameter, now.largest)
            and self.match(before.shape, now.shape)
            and self.match(before.content, now.content)
            and self.match(before.places, now.places)
            and self.match(before.strides, now.strides)
        )

    def _shape(self, before: Shape, now: Shape) -> bool:
        return (
            before.least == now.least
            and self.match(before.middle, now.middle)
            and self.match(before.head, now.head)
            and self.match(before.tail, now.tail)
        )

    def _dim(self, before: Dim, now: Dim) -> bool:
        self._came_from(before.origin, now.origin)
        return self.match(before.terms, now.terms)

    def _came_from(self, before: Origin | None, now: Origin | None) -> None:
        if before is not None and now is not None and before != now:
            self.origins.setdefault(before, now)

    def _const(self, before: Const, now: Const) -> bool:
        self._came_from(before.origin, now.origin)
        return before == now

    def _symbol(self, before: Symbol, now: Symbol) -> bool:
        alike = (before.low, before.dynamic) == (now.low, now.dynamic) and self.match(before.high, now.high)
        return alike and self.pair(before, now)

    def _middle(self, before: Middle, now: Middle) -> bool:
        return before.dynamic == now.dynamic and self.pair(before, now)

    def _quotient(self, before: Quotient, now: Quotient) -> bool:
        return self.match(before.numerator, now.numerator) and self.match(before.denominator, now.denominator)

    def _ref(self, before: Ref, now: Ref) -> bool:
        return self.pair(before.address, now.address)

    def _function(self, before: Function, now: Function) -> bool:
        return (
            before.node is now.node
            and (before.frame, before.owner, before.kind) == (now.frame, now.owner, now.kind)
            and self.match(before.defaults, now.defaults)
            and self.match(before.kw_defaults, now.kw_defaults)
        )

    def _tuple(self, before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
        return len(before) == len(now) and all(self.match(a, b) for a, b in zip(before, now, strict=True))

    def _dict(self, before: dict[Any, Any], now: dict[Any, Any]) -> bool:
        return len(before) == len(now) and all(
            self.match(a, b) and self.match(before[a], now[b]) for a, b in zip(before, now, strict=True)
        )


_UNKNOWNS = frozenset({Symbol, Middle, Opaque, Ref})
_ATOMS = frozenset({type(None), str, int, bool, float, Const})
_RULES: dict[type[Any], Callable[[Correspondence, Any, Any], bool]] = {
    Opaque: Correspondence.pair,
    Ref: Correspondence._ref,
    Symbol: Correspondence._symbol,
    Middle: Correspondence._middle,
    Quotient: Correspondence._quotient,
    Const: Correspondence._const,
    Dim: Correspondence._dim,
    Shape: Correspondence._shape,
    Function: Correspondence._function,
    Tensor: Correspondence._tensor,
    ClaimedTensor: Correspondence._tensor,
    KeyTensor: Correspondence._tensor,
    tuple: Correspondence._tuple,
    dict: Correspondence._dict,
}


_NAMES: dict[type[Any], tuple[str, ...]] = {}


def names_of(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a dataclass, less those that only remember something of the others; of another class none."""
    known = _NAMES.get(kind)
    if known is None:
        found = fields(kind) if is_dataclass(kind) else ()
        known = _NAMES[kind] = tuple(field.name for field in found if REMEMBERED not in field.metadata)
    return known


def unknowns_in(value: Any) -> Iterator[Unknown]:
    """Every unknown that something the store holds, or a key of it, mentions; may repeat."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        kind = type(part)
        if kind in _ATOMS:
            continue
        if kind is Symbol or kind is Middle or kind is Opaque:
            yield part
        elif kind is Ref or kind is Class:
            yield part.address
        elif kind is Dim:
            yield from part.symbols()
        elif kind is Shape:
            waiting += (*part.head, part.middle, *part.tail)
        elif kind is tuple or kind is frozenset:
            waiting += part
        elif kind is dict:
            waiting += (*part, *part.values())
        elif kind is Function:
            yield part.frame
            if part.owner is not None:
                yield part.owner
            waiting += (part.defaults, part.kw_defaults)
        else:
            waiting += [getattr(part, name) for name in names_of(kind)]


def youngest(key: Hashable) -> int:
    """The serial number of the youngest thing that a key of the store names."""
    kind = type(key)
    if kind is int:
        return key  # type: ignore[return-value]
    if kind is Symbol or kind is Middle:
        return int(key.serial)  # type: ignore[attr-defined]
    if kind is not tuple:
        return 0
    first = key[0]  # type: ignore[index]
    if type(first) is int:
        return first
    about = key[1] if len(key) > 1 else 0  # type: ignore[index, arg-type]
    if type(about) is Opaque:
        return about.serial if len(key) == 2 or type(key[2]) is str else _youngest_in(key)  # type: ignore[index, arg-type]
    return _youngest_in(key)


def _youngest_in(value: Any) -> int:
    return max((each if isinstance(each, int) else each.serial for each in unknowns_in(value)), default=0)
