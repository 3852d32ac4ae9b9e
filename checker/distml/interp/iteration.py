"""What iterating over a value gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.join import Wild, join_many, widen_records, widen_values
from distml.ops import Call
from distml.ops.python.iterating import iterate as built_in
from distml.ops.python.likeness import fresh
from distml.shapes import Dim
from distml.values import Class, Const, Expr, InstanceRecord, Many, Num, Opaque, Ref, Tensor, Union, Value

if TYPE_CHECKING:
    from distml.interp.machine import Machine


def iterate(vm: Machine, value: Value) -> tuple[Value, ...] | Many:
    """The items one by one, or `Many` when their number is not known (or too large)."""
    if isinstance(value, Union):
        return _union(vm, value)
    if isinstance(value, Class):
        members = vm.at(value.address).members
        return members or Many(vm.opaque("member"))
    if isinstance(value, Ref):
        record = vm.record(value)
        if isinstance(record, InstanceRecord):
            return _instance(vm, value, record)
    items = _limited(vm, built_in(Call(vm, "iter", "builtins"), value))
    if vm.flow is not None and isinstance(value, Tensor):
        if not isinstance(items, Many):  # each row is a tensor of its own
            items = tuple(item.copied() if isinstance(item, Tensor) else item for item in items)
        vm.flow.taken(value, (items.item,) if isinstance(items, Many) else items)
    return items


def _limited(vm: Machine, items: tuple[Value, ...] | Many) -> tuple[Value, ...] | Many:
    if isinstance(items, Many) or len(items) <= vm.limits.items:
        return items
    distinct = list(dict.fromkeys(items))[: vm.limits.items]
    return Many(join_many(vm, distinct), "iterable", Dim.of(len(items)))


def fresh_item(vm: Machine, many: Many) -> Value:
    """One item of an iterable of unknown length; two draws are two values."""
    if many.same:
        return many.item
    item = fresh(Call(vm, "next", "builtins"), many.item)
    if vm.flow is not None:
        vm.flow.same(item, many.item)
    return item


def _instance(vm: Machine, ref: Ref, record: InstanceRecord) -> tuple[Value, ...] | Many:
    method = vm.attribute(ref, "__iter__")
    if method is not None and not isinstance(method, Opaque):
        result = vm.apply(method, [])
        return iterate(vm, result) if result != ref else _by_next(vm, ref)
    if "__items__" in record.attrs:
        return iterate(vm, record.attrs["__items__"])
    if _is_empty(vm, ref):
        return ()
    method = vm.attribute(ref, "__getitem__")
    if method is not None and not isinstance(method, Opaque):
        return Many(vm.apply(method, [Num(vm.facts.symbol("index"))]))
    return Many(vm.opaque("item"))


def _is_empty(vm: Machine, ref: Ref) -> bool:
    """Whether an object says that it has no items: it gives none by number either."""
    method = vm.attribute(ref, "__len__")
    return method is not None and not isinstance(method, Opaque) and vm.apply(method, []) == Const(0)


def _by_next(vm: Machine, ref: Ref) -> Many:
    """What `__next__` gives, from a state of the object that covers those between two calls."""
    method = vm.attribute(ref, "__next__")
    before = vm.record(ref)
    start = vm.state.fork()
    found: list[Value] = []
    after = None
    if method is not None and before is not None:
        after = vm.follow(lambda: found.extend([vm.apply(method, []), vm.apply(method, [])]))
    if after is None or before is None or len(found) != 2:
        vm.state = start
        return Many(vm.opaque("item"))
    wild = Wild()
    vm.replace(ref, widen_records(vm, before, vm.record(ref) or before, wild))
    return Many(widen_values(vm, found[0], found[1], wild))


def _union(vm: Machine, value: Union) -> tuple[Value, ...] | Many:
    found = [iterate(vm, option) for option in value.options]
    tuples = [f for f in found if isinstance(f, tuple)]
    if len(tuples) == len(found) and len({len(t) for t in tuples}) == 1:
        return tuple(join_many(vm, column) for column in zip(*tuples, strict=True))
    items: list[Value] = []
    for each in found:
        items.extend(each if isinstance(each, tuple) else [each.item])
    unique = list(dict.fromkeys(items))
    if any(isinstance(i, Opaque | Expr) for i in unique):
        return Many(vm.opaque("item"))
    return Many(join_many(vm, unique) if unique else vm.opaque("item"))
