"""Assignment targets and unpacking."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.findings import fail
from distml.interp.iteration import fresh_item
from distml.interp.names import assign_name
from distml.interp.one_value import items_of
from distml.interp.subscripts import store_subscript
from distml.ops import Call, ShapeError
from distml.values import (
    SHAPE_KINDS,
    Claimed,
    Const,
    DictRecord,
    IteratorRecord,
    ListRecord,
    Range,
    Ref,
    SetRecord,
    ShapeSeq,
    Tensor,
    Tup,
    Union,
    Value,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.interp.machine import Machine
    from distml.shapes import Dim


def assign_target(vm: Machine, target: ast.expr, value: Value) -> None:
    """Bind the target of an assignment, a loop or a `with`."""
    if vm.shape_log is not None and isinstance(target, ast.Name | ast.Attribute):
        vm.shape_log.note("assignment", target, value)
    if isinstance(target, ast.Name):
        assign_name(vm, target.id, value)
    elif isinstance(target, ast.Attribute):
        vm.language.set_attribute(vm, vm.language.evaluate(vm, target.value), target.attr, value, target)
    elif isinstance(target, ast.Subscript):
        container, index = vm.language.evaluate(vm, target.value), vm.language.evaluate(vm, target.slice)
        store_subscript(vm, container, index, value, target)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(vm, target, value)
    elif isinstance(target, ast.Starred):
        assign_target(vm, target.value, value)


def _unpack(vm: Machine, target: ast.Tuple | ast.List, value: Value) -> None:
    items = unpack(vm, target, value)
    for element, item in zip(target.elts, items, strict=True):
        assign_target(vm, element, item)


def unpack(vm: Machine, target: ast.Tuple | ast.List, value: Value) -> list[Value]:
    """The values that the elements of a target receive."""
    count = len(target.elts)
    starred = [i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)]
    if isinstance(value, ShapeSeq):
        value = _ranked(vm, target, value, starred)
    if isinstance(value, Union):
        value = _fitting(vm, value, count, bool(starred))
    items = items_of(vm, value, target)
    if not isinstance(items, tuple):
        length = items.length.constant if items.length is not None else None
        if length is not None and (length < count - 1 if starred else length != count):
            _mismatch(vm, target, value, length)
        return [
            vm.allocate(ListRecord(None, items.item)) if i in starred else fresh_item(vm, items) for i in range(count)
        ]
    if starred and len(items) >= count - 1:
        return _with_star(vm, items, count, starred[0])
    if len(items) != count:
        _mismatch(vm, target, value, len(items))
        return [vm.opaque("item") for _ in range(count)]
    return list(items)


def _ranked(vm: Machine, target: ast.Tuple | ast.List, value: ShapeSeq, starred: list[int]) -> Value:
    """`b, c, h, w = x.shape` says that x has four axes."""
    shape = vm.facts.shape(value.shape)
    if starred:
        return value
    names = tuple(e.id if isinstance(e, ast.Name) and e.id != "_" else "size" for e in target.elts)
    known = vm.facts.of_rank(shape, len(target.elts), names)
    if known is None or known.dims is None:
        if shape.rank is None:
            _mismatch(vm, target, value, shape.least)
            return Tup(tuple(vm.opaque("size") for _ in target.elts))
        return Tup(tuple(vm.number(d) for d in shape.head), "size")
    return Tup(tuple(vm.number(d) for d in known.dims), "size")


def _fitting(vm: Machine, value: Union, count: int, starred: bool) -> Value:
    """The alternatives that can be unpacked into `count` targets; where none can, the one to tell of."""
    fits = [option for option in value.options if starred or not isinstance(option, Tup) or len(option.items) == count]
    claims = (option for option in value.options if isinstance(option, Claimed))
    return union(fits) if fits else next(claims, value.options[0])


def _with_star(vm: Machine, items: tuple[Value, ...], count: int, star: int) -> list[Value]:
    after = count - star - 1
    end = len(items) - after
    middle = vm.allocate(ListRecord(items[star:end]))
    return [*items[:star], middle, *items[end:]]


def _mismatch(vm: Machine, target: ast.Tuple | ast.List, value: Value, given: int) -> None:
    """Too many or too few values: a finding, unless an annotation alone tells how many there are."""
    call = Call(vm, "unpack", "array")
    options = value.options if isinstance(value, Union) else (value,)
    subjects = [_counted(vm, call, option, given) for option in options]
    subject = subjects[0]
    if subject is None or None in subjects:
        return
    least = "at least " if any(isinstance(element, ast.Starred) for element in target.elts) else ""
    names = len(target.elts) - bool(least)
    message = f"{subject[0]} cannot be unpacked into {least}{names} name{'s' * (names != 1)}"
    fail(vm, ShapeError("SHP306", message, call.notes(*subject[1])), target)


_COUNTED = {ListRecord: "a list", DictRecord: "a dict", SetRecord: "a set", IteratorRecord: "an iterator"}


def _counted(vm: Machine, call: Call, value: Value, given: int) -> tuple[str, Sequence[Dim]] | None:
    """What has so many items, as messages say it, and the sizes that it is about; None where only an annotation says so."""
    items = f"{given} item{'s' * (given != 1)}"
    if isinstance(value, Tensor):
        head = vm.facts.shape(value.shape).head
        return f"a tensor of shape {call.show(value)} gives {given} rows and", head[:1]
    if isinstance(value, ShapeSeq) or (isinstance(value, Tup) and value.kind in SHAPE_KINDS):
        parts = value.items if isinstance(value, Tup) else ()
        dims = [d for d in (call.dim(i) for i in parts) if d is not None]
        return f"a shape of {given} axes [{', '.join(map(str, dims))}]", dims[:2]
    if isinstance(value, Tup) and not isinstance(value, Claimed):
        return f"a tuple of {items} ({_brief(call, value.items)})", ()
    record = vm.record(value) if isinstance(value, Ref) else None
    if isinstance(record, ListRecord):
        shown = _brief(call, call.items(value) or (call.unknown(),))
        return (f"a list of {items} [{shown}]", ()) if given else None
    if isinstance(value, Range):
        return f"a range of {items}", ()
    if isinstance(value, Const):
        return f"the text {str(value.value)[:40]!r}", ()
    return (f"{_COUNTED[type(record)]} of {items}", ()) if given and type(record) in _COUNTED else None


def _brief(call: Call, items: tuple[Value, ...]) -> str:
    """The items of a sequence: shapes of tensors, numbers, and dots for others."""
    texts = [
        call.show(item)
        if isinstance(item, Tensor)
        else f"({_brief(call, item.items)})"
        if isinstance(item, Tup)
        else repr(item)
        if isinstance(item, Const) and (item.value is None or isinstance(item.value, int))
        else "..."
        for item in items[:6]
    ]
    return ", ".join(texts + ["..."] * (len(items) > 6))
