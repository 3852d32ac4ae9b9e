"""Joining and widening values and heap records.

A join keeps a few alternatives side by side (a union); when there are too many
they are merged into the one value that covers them. Widening is a join that may
be repeated only a few times before it reaches a value that covers everything.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from distml.interp.class_record import ClassRecord
from distml.interp.correspondence import Unknown, unknowns_in
from distml.interp.several import can_stand
from distml.shapes import Dim, Shape
from distml.values import (
    Claimed,
    Const,
    DictRecord,
    InstanceRecord,
    IteratorRecord,
    ListRecord,
    Many,
    Num,
    Opaque,
    Prim,
    Record,
    Ref,
    SetRecord,
    Tensor,
    Tup,
    Union,
    Value,
    alternatives,
    believed,
    blended,
    claimed,
    objects_of,
    union,
)
from distml.values.model import MAX_ALTERNATIVES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.interp.machine import Machine
    from distml.interp.several import Several

MAX_DEPTH = 12


def join_values(vm: Machine, left: Value, right: Value, depth: int = 0) -> Value:
    """One value that covers both."""
    if type(left) is type(right) is Tensor:
        left, right = left.agreed(right), right.agreed(left)
    return blended(left, right) if left == right else limit(vm, union((left, right)), depth)


def join_many(vm: Machine, values: Sequence[Value]) -> Value:
    """One value that covers all; an opaque one for none."""
    if not values:
        return vm.opaque("nothing")
    numbers = [each.value for each in values if isinstance(each, Const) and type(each.value) is int]
    if len(numbers) == len(values) > MAX_ALTERNATIVES:
        return Num(vm.facts.symbol("n", min(numbers), high=Dim.of(max(numbers))))
    result = values[0]
    for value in values[1:]:
        result = join_values(vm, result, value)
    return result


def limit(vm: Machine, merged: Value, depth: int = 0) -> Value:
    """A union, or fewer values that cover its options."""
    if not isinstance(merged, Union):
        return merged
    options = merged.options
    booleans = [o for o in options if type(o) is Const and type(o.value) is bool]
    if len(booleans) == 2:
        options = (*(o for o in options if o not in booleans), Prim("bool"))
        merged = union(options)
    return merged if len(options) <= MAX_ALTERNATIVES else generalize(vm, options, depth)


def generalize(vm: Machine, options: Sequence[Value], depth: int = 0) -> Value:
    """One value (no union of like kinds) that covers all options."""
    groups: dict[object, list[Value]] = {}
    for option in options:
        groups.setdefault(_group(option), []).append(option)
    if len(groups) > 3 or None in groups or depth > MAX_DEPTH:
        return vm.opaque("joined value")
    merged = [_merge(vm, kind, group, depth) for kind, group in groups.items()]
    return merged[0] if len(merged) == 1 else union(merged)


def _group(value: Value) -> object:
    """Values of one group can be merged; None: nothing covers it but the unknown."""
    if type(value) is Opaque:
        return None  # the most frequent one
    if isinstance(value, Const):
        return _CONST_GROUPS.get(type(value.value))
    if isinstance(value, Num):
        return "int"
    if isinstance(value, Prim):
        return value.kind
    if isinstance(value, Tensor):
        return ("tensor", value.lib)
    if isinstance(value, Tup):
        return ("tuple", len(value.items), value.kind)
    if isinstance(value, Ref):
        return ("ref", value)
    return None


_CONST_GROUPS = {
    int: "int",
    bool: "bool",
    float: "float",
    str: "str",
    bytes: "bytes",
    complex: "complex",
    type(None): "none",
}


def _merge(vm: Machine, kind: Any, group: list[Value], depth: int) -> Value:
    if len(group) == 1 or kind == "none" or kind[0] == "ref":
        return group[0]
    if kind == "int":
        return Num(vm.facts.symbol("n", _least(group)))
    if kind[0] == "tensor":
        return merge_tensors(vm, [v for v in group if isinstance(v, Tensor)])
    if kind[0] == "tuple":
        tuples = [v for v in group if isinstance(v, Tup)]
        columns = zip(*(t.items for t in tuples), strict=True)
        items = tuple(generalize(vm, list(dict.fromkeys(c)), depth + 1) for c in columns)
        return Tup(items, tuples[0].kind, tuples[0].fields)
    return Prim(kind)


def _least(group: list[Value]) -> int | None:
    lows = [v.value if isinstance(v, Const) else v.dim.low for v in group if isinstance(v, Const | Num)]
    known = [int(low) for low in lows if low is not None]
    return min(known) if len(known) == len(lows) else None


def merge_tensors(vm: Machine, tensors: list[Tensor]) -> Tensor:
    """The tensor that covers all: dimensions that differ become new symbols."""
    first = tensors[0]
    shapes = [vm.facts.shape(t.shape) for t in tensors]
    dtype = first.dtype if all(t.dtype == first.dtype for t in tensors) else None
    shape, made = merge_shapes(vm, shapes), first.agreed(*tensors[1:]).either(*tensors[1:])
    return replace(made.overwritten(shape), dtype=dtype, parameter=False, strides=made.strides)


def merge_shapes(vm: Machine, shapes: list[Shape]) -> Shape:
    """The shape that covers all of them."""
    first = shapes[0]
    if all(s == first for s in shapes):
        return first
    if first.rank is None or any(s.rank != first.rank for s in shapes):
        return vm.facts.unknown_shape()
    columns = zip(*(s.head for s in shapes), strict=True)
    return Shape(tuple(_merge_dims(vm, column) for column in columns))


def _merge_dims(vm: Machine, dims: tuple[Dim, ...]) -> Dim:
    if all(d == dims[0] for d in dims):
        return dims[0]
    lows = [d.low for d in dims]
    known = [low for low in lows if low is not None]
    return vm.facts.symbol("size", min(known) if len(known) == len(lows) else 0)


def equal_records(left: Record, right: Record) -> Record:
    """One of two equal records: the tensors in it may be those of either."""
    if isinstance(left, ListRecord) and isinstance(right, ListRecord) and left.items and right.items:
        return replace(left, items=tuple(blended(a, b) for a, b in zip(left.items, right.items, strict=True)))
    if isinstance(left, DictRecord) and isinstance(right, DictRecord):
        return replace(left, items={key: blended(value, right.items[key]) for key, value in left.items.items()})
    if isinstance(left, InstanceRecord) and isinstance(right, InstanceRecord):
        return replace(left, attrs={name: blended(value, right.attrs[name]) for name, value in left.attrs.items()})
    return left


def join_records(vm: Machine, left: Record, right: Record) -> Record:
    """The record that covers both states of one object."""
    if isinstance(left, ListRecord) and isinstance(right, ListRecord):
        return _join_lists(vm, left, right)
    if isinstance(left, DictRecord) and isinstance(right, DictRecord):
        return _join_dicts(vm, left, right)
    if isinstance(left, InstanceRecord) and isinstance(right, InstanceRecord):
        return _join_instances(vm, left, right)
    if isinstance(left, SetRecord) and isinstance(right, SetRecord):
        return SetRecord(None, _join_items(vm, _elements(left), _elements(right)))
    if isinstance(left, IteratorRecord) and isinstance(right, IteratorRecord):
        return IteratorRecord(None, _join_items(vm, _elements(left), _elements(right)))
    return _join_classes(vm, left, right)


def _join_classes(vm: Machine, left: Record, right: Record) -> Record:
    """A class whose attributes were set on one path, or differently on two."""
    if not isinstance(left, ClassRecord) or not isinstance(right, ClassRecord):
        return left
    attrs = {**right.attrs, **left.attrs}
    for name, value in left.attrs.items():
        if name in right.attrs:
            attrs[name] = join_values(vm, value, right.attrs[name])
    return replace(left, attrs=attrs, sometimes=_on_some_paths(left, right))


def _elements(record: ListRecord | SetRecord | IteratorRecord) -> list[Value] | None:
    if record.items is not None:
        return list(record.items)
    return None if record.item is None else [record.item]


def _join_items(vm: Machine, left: list[Value] | None, right: list[Value] | None) -> Value | None:
    if left is None or right is None:
        return None
    found = list(dict.fromkeys([*left, *right]))
    return join_many(vm, found) if found else None


def _join_lists(vm: Machine, left: ListRecord, right: ListRecord) -> ListRecord:
    return replace(_joined_items(vm, left, right), bound=left.bound)


def _joined_items(vm: Machine, left: ListRecord, right: ListRecord) -> ListRecord:
    if left.items is not None and right.items is not None and len(left.items) == len(right.items):
        pairs = zip(left.items, right.items, strict=True)
        return ListRecord(tuple(join_values(vm, a, b) for a, b in pairs))
    # An empty list has no element to speak for: the other side's stands.
    if left.items == ():
        item = right.item if right.items is None else _join_items(vm, [], list(right.items))
    elif right.items == ():
        item = left.item if left.items is None else _join_items(vm, [], list(left.items))
    else:
        item = _join_items(vm, _elements(left), _elements(right))
    lengths = [Dim.of(len(r.items)) if r.items is not None else r.length for r in (left, right)]
    same = lengths[0] is not None and lengths[0] == lengths[1]
    return ListRecord(None, item, lengths[0] if same else None)


def _join_dicts(vm: Machine, left: DictRecord, right: DictRecord) -> DictRecord:
    items: dict[Value, Value] = {}
    exact = left.exact and right.exact
    dropped: list[Value] = []
    for key in {**left.items, **right.items}:
        a, b = left.items.get(key), right.items.get(key)
        if a is not None and b is not None:
            items[key] = join_values(vm, a, b)
        else:
            present = a if a is not None else b
            if present is not None:
                dropped.append(present)
    if not dropped:
        return DictRecord(items, exact, left.rest if left.rest == right.rest else None, left.factory)
    others = [r.rest for r in (left, right) if not r.exact]
    rest = None if None in others else join_many(vm, [*dropped, *(o for o in others if o is not None)])
    return DictRecord(items, False, rest, left.factory)


def _join_instances(vm: Machine, left: InstanceRecord, right: InstanceRecord) -> InstanceRecord:
    attrs: dict[str, Value] = {}
    for name in {**left.attrs, **right.attrs}:
        a, b = left.attrs.get(name), right.attrs.get(name)
        if a is not None and b is not None:
            attrs[name] = a if a is b else join_values(vm, a, b)
        else:
            # Reading it implies the path on which it was set.
            present = a if a is not None else b
            if present is not None:
                attrs[name] = present
    return InstanceRecord(left.cls, attrs, left.exact and right.exact, _on_some_paths(left, right))


def _on_some_paths(left: InstanceRecord | ClassRecord, right: InstanceRecord | ClassRecord) -> tuple[str, ...]:
    """The names of attributes that one of two states of an object or a class may lack."""
    if left.attrs.keys() == right.attrs.keys() and not left.sometimes and not right.sometimes:
        return ()
    return tuple(sorted({*left.sometimes, *right.sometimes, *(left.attrs.keys() ^ right.attrs.keys())}))


class Wild:
    """The symbols, unknown parts of shapes and unknown values that widening made: they stand for anything, so whatever
    takes their place is covered; dynamic ones are another size at each use. What is younger than `mark` was made by the
    iteration that is looked at."""

    def __init__(self, several: Several | None = None, *, dynamic: bool = False) -> None:
        self.made: set[object] = set()
        self.dynamic = dynamic
        self.mark = sys.maxsize
        self.several = several

    def __contains__(self, part: object) -> bool:
        return part in self.made

    def began(self, mark: int) -> None:
        """A turn begins: what is younger is its own."""
        self.mark = mark
        if self.several is not None:
            self.several.since = mark

    def settled(self) -> bool:
        """Whether what stands for many objects is as it was, once the values of a turn are looked at."""
        return self.several is None or not self.several.settle()


def widen_values(vm: Machine, old: Value, new: Value, wild: Wild) -> Value:
    """A value that covers both and soon stops growing."""
    if old == new or old in wild:
        return old
    if wild.several is not None and wild.several.standing:
        new = wild.several.in_place(old, new)
    new = repeated(vm, new, wild)
    if old == new:
        return old
    if isinstance(old, Tensor) and isinstance(new, Tensor) and old.lib == new.lib:
        shape = widen_shapes(vm, vm.facts.shape(old.shape), vm.facts.shape(new.shape), wild)
        dtype = old.dtype if old.dtype == new.dtype else None
        width = old.agreed(new).width
        if shape == old.shape and dtype == old.dtype and width == old.width and not old.numbers:
            return old
        return Tensor(old.lib, shape, dtype, width=width, met=objects_of(old, new))
    if isinstance(old, Union) and all(o in old.options for o in alternatives(new)):
        return old
    if isinstance(old, Tup) and isinstance(new, Tup) and _group(old) == _group(new):
        pairs = zip(old.items, new.items, strict=True)
        items = tuple(widen_values(vm, a, b, wild) for a, b in pairs)
        return old if items == old.items else Tup(items, old.kind, old.fields, old.cls)
    if isinstance(old, Many) and isinstance(new, Many):
        return Many(widen_values(vm, old.item, new.item, wild), old.kind)
    return _widen_groups(vm, old, new, wild)


def repeated(vm: Machine, value: Value, wild: Wild) -> Value:
    """What one iteration gave, for all: what it made anew, the next one makes anew."""
    if isinstance(value, Opaque):
        if value.serial > wild.mark:
            wild.made.add(value)
        return value
    if isinstance(value, Const) or not any(_is_new(unknown, wild) for unknown in unknowns_in(value)):
        return value
    if isinstance(value, Ref) and wild.several is not None and can_stand(vm, value):
        wild.made.add(value.address)
        wild.several.stands(value)
        return value
    if isinstance(value, Claimed):
        return claimed(repeated(vm, believed(value), wild))
    if isinstance(value, Num):
        return Num(_wild_dim(vm, wild))
    if isinstance(value, Tensor):
        shape = _repeated_shape(vm, value.shape, wild)
        return Tensor(value.lib, shape, value.dtype, width=value.width, met=objects_of(value))
    if isinstance(value, Tup):
        return replace(value, items=tuple(repeated(vm, item, wild) for item in value.items))
    if isinstance(value, Union):
        options = [repeated(vm, option, wild) for option in value.options]
        return _widen_groups(vm, options[0], union(options[1:]), wild)
    return _anything(vm, wild)


def _is_new(unknown: Unknown, wild: Wild) -> bool:
    return (unknown if isinstance(unknown, int) else unknown.serial) > wild.mark and unknown not in wild


def _repeated_shape(vm: Machine, shape: Shape, wild: Wild) -> Shape:
    if shape.middle is not None and shape.middle not in wild and shape.middle.serial > wild.mark:
        return _wild_shape(vm, wild)
    dims = tuple(_wild_dim(vm, wild, 0) if _is_young(dim, wild) else dim for dim in (*shape.head, *shape.tail))
    return shape if dims == (*shape.head, *shape.tail) else shape.map(dims)


def _is_young(dim: Dim, wild: Wild) -> bool:
    return any(_is_new(symbol, wild) for symbol in dim.symbols())


def _widen_groups(vm: Machine, old: Value, new: Value, wild: Wild) -> Value:
    """One general value for each kind among the alternatives; too many kinds are anything."""
    groups: dict[object, list[Value]] = {}
    for option in (*alternatives(old), *alternatives(new)):
        groups.setdefault(_group(option), []).append(option)
    references = sum(1 for kind in groups if isinstance(kind, tuple) and kind[0] == "ref")
    if None in groups or len(groups) - references > 2 or references > MAX_ALTERNATIVES:
        return _anything(vm, wild)
    kept = [_widen_group(vm, kind, group, wild) for kind, group in groups.items()]
    return old if set(kept) == set(alternatives(old)) else union(kept)


def _widen_group(vm: Machine, kind: Any, group: list[Value], wild: Wild) -> Value:
    if kind == "int":
        return next((v for v in group if isinstance(v, Num) and _is_wild_dim(v.dim, wild)), None) or (
            group[0] if len(set(group)) == 1 else Num(_wild_dim(vm, wild))
        )
    if isinstance(kind, str):
        return group[0] if len(set(group)) == 1 else Prim(kind)
    result = group[0]
    for other in group[1:]:
        result = widen_values(vm, result, other, wild)
    return result


def _anything(vm: Machine, wild: Wild) -> Opaque:
    value = vm.opaque("loop value")
    wild.made.add(value)
    return value


def _wild_dim(vm: Machine, wild: Wild, low: int | None = None) -> Dim:
    dim = vm.facts.symbol("n", low, dynamic=wild.dynamic)
    wild.made.update(dim.symbols())
    return dim


def _wild_shape(vm: Machine, wild: Wild) -> Shape:
    shape = vm.facts.unknown_shape(dynamic=wild.dynamic)
    wild.made.add(shape.middle)
    return shape


def _is_wild_dim(dim: Dim, wild: Wild) -> bool:
    return any(symbol in wild and dim == Dim.symbol(symbol) for symbol in dim.symbols())


def widen_shapes(vm: Machine, old: Shape, new: Shape, wild: Wild) -> Shape:
    """A shape that covers both: axes that changed become wild, then the rank does."""
    if old == new or (old.middle is not None and old.middle in wild):
        return old
    if old.rank is None or new.rank != old.rank:
        return _wild_shape(vm, wild)
    dims = tuple(
        a if a == b or _is_wild_dim(a, wild) else _wild_dim(vm, wild, 0)
        for a, b in zip(old.head, new.head, strict=True)
    )
    return Shape(dims)


def widen_records(vm: Machine, old: Record, new: Record, wild: Wild) -> Record:
    """The record that covers both states of an object and soon stops growing."""
    if old == new:
        return old
    if isinstance(old, ListRecord) and isinstance(new, ListRecord):
        return replace(_widen_list(vm, old, new, wild), bound=old.bound)
    if isinstance(old, InstanceRecord) and isinstance(new, InstanceRecord):
        attrs = {
            name: widen_values(vm, old.attrs[name], value, wild) if name in old.attrs else repeated(vm, value, wild)
            for name, value in new.attrs.items()
        }
        attrs = {**old.attrs, **attrs}
        return InstanceRecord(old.cls, attrs, old.exact and new.exact, _on_some_paths(old, new))
    if isinstance(old, DictRecord) and isinstance(new, DictRecord):
        return _widen_dict(vm, old, new, wild)
    if isinstance(old, SetRecord):
        return SetRecord(None)
    if isinstance(old, IteratorRecord):
        return IteratorRecord(None)
    return _widen_class(vm, old, new, wild)


def _widen_class(vm: Machine, old: Record, new: Record, wild: Wild) -> Record:
    if not isinstance(old, ClassRecord) or not isinstance(new, ClassRecord):
        return old
    attrs = {**new.attrs, **old.attrs}
    for name, value in old.attrs.items():
        if name in new.attrs:
            attrs[name] = widen_values(vm, value, new.attrs[name], wild)
    sometimes = _on_some_paths(old, new)
    return old if (attrs, sometimes) == (old.attrs, old.sometimes) else replace(old, attrs=attrs, sometimes=sometimes)


def _widen_dict(vm: Machine, old: DictRecord, new: DictRecord, wild: Wild) -> DictRecord:
    both = {key: widen_values(vm, value, new.items[key], wild) for key, value in old.items.items() if key in new.items}
    others = [each.rest for each in (old, new) if not each.exact]
    single = [value for each in (old, new) for key, value in each.items.items() if key not in both]
    if not others and not single:
        return DictRecord(both, factory=old.factory)
    rest: Value | None = None
    for value in (*others, *single):
        if value is None:
            return DictRecord(both, False, None, old.factory)
        rest = repeated(vm, value, wild) if rest is None else widen_values(vm, rest, value, wild)
    return DictRecord(both, False, rest, old.factory)


def _widen_list(vm: Machine, old: ListRecord, new: ListRecord, wild: Wild) -> ListRecord:
    if old.items is not None and new.items is not None and len(old.items) == len(new.items):
        pairs = zip(old.items, new.items, strict=True)
        return ListRecord(tuple(widen_values(vm, a, b, wild) for a, b in pairs))
    before = _elements(old)
    after = _elements(new)
    if after is None or (before is None and old.items is None):
        return ListRecord(None)
    item: Value | None = None
    for value in [*(before or []), *after]:
        item = repeated(vm, value, wild) if item is None else widen_values(vm, item, value, wild)
    return ListRecord(None, item)
