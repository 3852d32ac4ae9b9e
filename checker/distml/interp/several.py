"""Objects that stand for many: what is made anew at one place of a program, turn by turn.

Of such objects is known what all of them agree in. What is written to one of them may be written to any, so that the
record of each that may be it only gets vaguer.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from distml.interp.correspondence import unknowns_in
from distml.ops.call import TRUE
from distml.ops.python.likeness import kind_of
from distml.shapes import Dim, Middle, Shape, Symbol
from distml.values import (
    Bound,
    Const,
    DictRecord,
    InstanceRecord,
    ListRecord,
    Num,
    Opaque,
    Prim,
    Record,
    Ref,
    Tensor,
    Tup,
    Union,
    Value,
    alternatives,
    union,
)
from distml.values.model import MAX_ALTERNATIVES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from distml.interp.machine import Machine

_SEVERAL = "*several"
"""Under this name the store says of a record's address that the record stands for more than one object."""


def make_several(vm: Machine, mark: int) -> None:
    """What was made since `mark` is made any number of times: each record stands for all the objects that are made so.

    Not what modules made that were imported meanwhile.
    """
    several = Several(vm, mark)
    for address in range(mark + 1, vm.serial()):
        if address not in vm.base and isinstance(vm.state.get(address), Record):
            vm.assign(address, _SEVERAL, TRUE)
            several.stands(Ref(address))
    several.settle()


def are_several(vm: Machine, value: Value) -> bool:
    """Whether a value may be any of several objects."""
    return isinstance(value, Ref) and vm.variable(value.address, _SEVERAL) is not None


def like(vm: Machine, left: Ref, right: Ref) -> bool:
    """Whether two objects are of one kind, so that one may stand for both."""
    a, b = vm.at(left.address), vm.at(right.address)
    if type(a) is not type(b) or not isinstance(a, ListRecord | DictRecord | InstanceRecord):
        return False
    return not isinstance(a, InstanceRecord) or a.cls == b.cls


def can_stand(vm: Machine, value: Value) -> bool:
    """Whether an object is of a kind that may stand for many."""
    return isinstance(value, Ref) and like(vm, value, value)


MAX_ALIKE = 256
"""More objects are not looked through for what they agree in."""


def standing_for(vm: Machine, objects: Sequence[Ref]) -> Ref | None:
    """An object that may be any of several; None where they are not alike."""
    first = objects[0]
    if len(objects) > MAX_ALIKE or not all(like(vm, first, each) for each in objects):
        return None
    key = ("standing for", tuple(objects))
    known: Ref | None = vm.get(key)
    if known is None:
        several = Several(vm, vm.serial())
        known = vm.allocate(vm.at(first.address))
        several.include(known, first)
        several.stands(known)
        for each in objects[1:]:
            several.take(known, each)
        several.settle()
        vm.put(key, known)
    return known


class Several:
    """Objects that are taken for others. What is younger than `since` was made anew in the turn that is looked at."""

    def __init__(self, vm: Machine, since: int) -> None:
        self.vm = vm
        self.since = since
        self.standing: set[int] = set()
        self._begun: list[Ref] = []
        self._taken: list[tuple[Ref, Ref]] = []

    def stands(self, ref: Ref) -> None:
        """Let an object stand for those that other turns make in its place."""
        if ref.address not in self.standing:
            self.standing.add(ref.address)
            self._begun.append(ref)

    def take(self, ref: Ref, other: Ref) -> None:
        """Let an object stand for another one too."""
        if ref != other:
            self._taken.append((ref, other))

    def in_place(self, old: Value, new: Value, since: int = sys.maxsize) -> Value:
        """A new value in which objects that this turn made are the ones of `old` that stand for those of every turn.
        Others that are younger than `since` get one that stands for them."""
        known = alternatives(old)
        found: list[Value] = []
        for each in alternatives(new):
            same = next((other for other in known if self._matches(other, each, since)), None)
            if isinstance(each, Ref):
                found.append(self._instead_of(each, same, since))
            elif isinstance(each, Tup):
                places = same.items if isinstance(same, Tup) else (each,) * len(each.items)
                items = (self.in_place(a, b, since) for a, b in zip(places, each.items, strict=True))
                found.append(replace(each, items=tuple(items)))
            else:
                found.append(each)
        return union(tuple(found))

    def _instead_of(self, ref: Ref, known: Value | None, since: int) -> Ref:
        if isinstance(known, Ref):
            self.take(known, ref)
            return known
        if ref.address <= since or ref.address in self.standing or not can_stand(self.vm, ref):
            return ref
        made = self.vm.allocate(self.vm.at(ref.address))
        self.include(made, ref)
        self.stands(made)
        return made

    def _matches(self, known: Value, value: Value, since: int) -> bool:
        if isinstance(known, Ref) and isinstance(value, Ref):
            new = value.address > min(since, self.since) and value.address not in self.standing
            return known.address in self.standing and new and like(self.vm, known, value)
        return isinstance(known, Tup) and isinstance(value, Tup) and _form(known) == _form(value)

    def settle(self) -> bool:
        """Make the records of what stands for others say what all agree in; whether any of them changed."""
        vm, changed, seen = self.vm, False, set()
        while self._begun or self._taken:
            if self._begun:
                ref = self._begun.pop()
                self._write(ref, self._plain_record(vm.at(ref.address)))
                continue
            pair = self._taken.pop()
            if pair in seen:
                continue
            seen.add(pair)
            ref, other = pair
            self.include(ref, other)
            before = vm.at(ref.address)
            after = self._agreed_record(before, vm.at(other.address))
            if after != before:
                changed = True
                self._write(ref, after)
        return changed

    def include(self, ref: Ref, other: Ref) -> None:
        """What happens to either may happen to the other."""
        vm = self.vm
        vm.alike.setdefault(ref.address, set()).add(other.address)
        vm.alike.setdefault(other.address, set()).add(ref.address)
        vm.assign(other.address, _SEVERAL, TRUE)

    def _write(self, ref: Ref, record: Record) -> None:
        self.vm.state.set(ref.address, record)
        self.vm.assign(ref.address, _SEVERAL, TRUE)

    def _is_young(self, value: object) -> bool:
        return any(
            (each if isinstance(each, int) else each.serial) > self.since and each not in self.standing
            for each in unknowns_in(value)
        )

    def _plain_record(self, record: Record) -> Record:
        """What one turn made, as far as it may be what each makes."""
        if isinstance(record, ListRecord):
            items = None if record.items is None else tuple(map(self.plain, record.items))
            length = None if record.length is None or self._is_young(Num(record.length)) else record.length
            item = None if record.item is None else self.plain(record.item)
            return replace(record, items=items, item=item, length=length)
        if isinstance(record, DictRecord):
            if any(self._is_young(key) for key in record.items):
                return DictRecord({}, exact=False, factory=record.factory)
            rest = None if record.rest is None else self.plain(record.rest)
            return replace(record, items={key: self.plain(value) for key, value in record.items.items()}, rest=rest)
        if isinstance(record, InstanceRecord):
            return replace(record, attrs={name: self.plain(value) for name, value in record.attrs.items()})
        return record

    def plain(self, value: Value) -> Value:
        """A value of one turn, as far as it may be that of each."""
        if isinstance(value, Const | Prim | Opaque):
            return value
        if isinstance(value, Union):
            return self._covered((), value.options)
        if isinstance(value, Tensor):
            return value.either().overwritten(self._loose(value.shape))
        if isinstance(value, Tup):
            return replace(value, items=tuple(map(self.plain, value.items)))
        if isinstance(value, Ref) and self._is_young(value) and can_stand(self.vm, value):
            self.stands(value)
            return value
        if isinstance(value, Bound):
            receiver = self.plain(value.receiver)
            return value if receiver == value.receiver and not self._is_young(value) else self.vm.opaque("item")
        if not self._is_young(value):
            return value
        return Num(self._each(value.dim.low)) if isinstance(value, Num) else self.vm.opaque("item")

    def _each(self, low: int | None = 0) -> Dim:
        """A size that each of many has of its own: nothing is learned of it."""
        return Dim.symbol(Symbol("n", self.vm.serial(), low, dynamic=True))

    def _loose(self, shape: Shape) -> Shape:
        """A shape of one turn as that of each."""
        if shape.middle is not None and self._is_young(shape.middle):
            return self._any_shape()
        dims = (*shape.head, *shape.tail)
        loose = tuple(self._each(each.low) if self._is_young(each) and not each.is_dynamic else each for each in dims)
        return shape if loose == dims else shape.map(loose)

    def _any_shape(self) -> Shape:
        return Shape((), Middle("shape", self.vm.serial(), dynamic=True))

    def _agreed_shape(self, left: Shape, right: Shape) -> Shape:
        if left == right or (left.middle is not None and left.middle.dynamic):
            return left
        if left.rank is None or left.rank != right.rank:
            return self._any_shape()
        pairs = zip(left.head, right.head, strict=True)
        return Shape(tuple(a if a == b or a.is_dynamic else self._each(_least(a.low, b.low)) for a, b in pairs))

    def _agreed_record(self, left: Record, right: Record) -> Record:
        if isinstance(left, ListRecord) and isinstance(right, ListRecord):
            return self._agreed_list(left, right)
        if isinstance(left, DictRecord) and isinstance(right, DictRecord):
            keys = [key for key in left.items if key in right.items]
            exact = left.exact and right.exact and len(keys) == len(left.items) == len(right.items)
            items = {key: self.agreed(left.items[key], right.items[key]) for key in keys}
            return DictRecord(items, exact, factory=left.factory if left.factory == right.factory else None)
        if isinstance(left, InstanceRecord) and isinstance(right, InstanceRecord):
            names = [name for name in left.attrs if name in right.attrs]
            exact = left.exact and right.exact and len(names) == len(left.attrs) == len(right.attrs)
            attrs = {name: self.agreed(left.attrs[name], right.attrs[name]) for name in names}
            sometimes = tuple(sorted({*left.sometimes, *right.sometimes}))
            return replace(left, attrs=attrs, exact=exact, sometimes=sometimes)
        return left

    def _agreed_list(self, left: ListRecord, right: ListRecord) -> ListRecord:
        if left.items is not None and right.items is not None and len(left.items) == len(right.items):
            return replace(left, items=tuple(map(self.agreed, left.items, right.items)))
        found = [*_elements(left), *_elements(right)]
        lengths = [Dim.of(len(each.items)) if each.items is not None else each.length for each in (left, right)]
        item = found[0] if found else None
        for each in found[1:]:
            item = None if item is None or each is None else self.agreed(item, each)
        return ListRecord(None, item, lengths[0] if lengths[0] == lengths[1] else None, bound=left.bound)

    def agreed(self, left: Value, right: Value) -> Value:
        """What covers a value of what stands for others and one of what it is to stand for too."""
        if left == right:
            return left
        if isinstance(left, Tup) and isinstance(right, Tup) and _form(left) == _form(right):
            return replace(left, items=tuple(map(self.agreed, left.items, right.items)))
        return self._covered(alternatives(left), alternatives(right))

    def _covered(self, known: Sequence[Value], more: Sequence[Value]) -> Value:
        options: list[Value] = list(known)
        for each in more:
            options = self._with(options, each)
        if any(isinstance(each, Opaque) for each in options) or len(options) > MAX_ALTERNATIVES:
            return known[0] if known and isinstance(known[0], Opaque) else self.vm.opaque("item")
        return union(tuple(options))

    def _with(self, options: list[Value], value: Value) -> list[Value]:
        """Alternatives that cover a value too."""
        if isinstance(value, Ref):
            for each in options:
                if isinstance(each, Ref) and (each.address in self.standing or self._is_young(each)):
                    if like(self.vm, each, value) and each != value:
                        self.stands(each)
                        self.take(each, value)
                        return options
        value = self.plain(value)
        if value in options:
            return options
        kind = kind_of(value)
        for place, each in enumerate(options):
            if isinstance(value, Tensor) and isinstance(each, Tensor) and each.lib == value.lib:
                shape = self._agreed_shape(each.shape, value.shape)
                dtype = each.dtype if each.dtype == value.dtype else None
                merged = replace(each.agreed(value), shape=shape, dtype=dtype)
                return [*options[:place], merged, *options[place + 1 :]]
            if kind is not None and kind_of(each) == kind:
                return [*options[:place], self._of_kind(kind, each, value), *options[place + 1 :]]
        return [*options, value]

    def _of_kind(self, kind: str, left: Value, right: Value) -> Value:
        if kind != "int":
            return Prim(kind)
        if isinstance(left, Num) and left.dim.is_dynamic:
            return left
        lows = [each.dim.low if isinstance(each, Num) else getattr(each, "value", None) for each in (left, right)]
        return Num(self._each(_least(*lows)))


def _least(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else min(left, right)


def _form(value: Tup) -> tuple[object, ...]:
    return len(value.items), value.kind, value.fields, value.cls


def _elements(record: ListRecord) -> Iterable[Value | None]:
    return record.items if record.items is not None else (record.item,)
