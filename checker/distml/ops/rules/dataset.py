"""Data sets: how long they are, what one item is, and what a batch of items is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import ShapeError
from distml.ops.python.likeness import either
from distml.ops.registry import find_op
from distml.ops.rules.strides import require_forward
from distml.ops.rules.widths import DEFAULTS, as_wide, width_of
from distml.shapes import Dim, Shape
from distml.values import (
    NONE,
    PACKED,
    Claimed,
    Const,
    DictRecord,
    InstanceRecord,
    Last,
    Lib,
    ListRecord,
    Many,
    Num,
    Opaque,
    Prim,
    Ref,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from distml.ops.call import Call

MAX_ALTERNATIVES = 6
NUMBERS = {"int": "int", "float": "float", "bool": "bool"}


def length_of(call: Call, dataset: Value) -> Dim | None:
    """`len(dataset)`, None when unknown."""
    if isinstance(dataset, Tensor):
        return call.shape(dataset).at(0)
    record = call.world.record(dataset) if isinstance(dataset, Ref) else None
    if isinstance(record, ListRecord) and record.items is None:
        return record.length
    if isinstance(record, InstanceRecord):
        found = _method(call, dataset, record, "__len__")
        return call.dim(found) if isinstance(found, Const | Num) else None
    items = call.items(dataset)
    return None if items is None else Dim.of(len(items))


def item_of(call: Call, dataset: Value, length: Dim | None = None) -> Value | None:
    """What `dataset[i]` is, None when unknown; `i` is less than `length`, where that is known."""
    if isinstance(dataset, Tensor):
        shape = call.shape(dataset)
        return as_wide(call.tensor(shape.dims[1:], dataset.dtype, dataset.lib), dataset) if shape.dims else None
    record = call.world.record(dataset) if isinstance(dataset, Ref) else None
    if isinstance(record, InstanceRecord):
        index = call.symbol("index", 0, None if length is None else length - 1)
        return _method(call, dataset, record, "__getitem__", call.number(index))
    if isinstance(record, ListRecord) and record.items is None:
        return record.item
    items = call.items(dataset)
    return None if items is None or isinstance(record, DictRecord) else one_of(call, items)


def one_of(call: Call, items: tuple[Value, ...]) -> Value | None:
    """Any of the items, or where they are many what covers them all; None when there are none."""
    options = tuple(dict.fromkeys(items))
    if len(options) > MAX_ALTERNATIVES:
        return _covering(call, options)
    return call.any_of(*options) if options else None


def _covering(call: Call, options: tuple[Value, ...]) -> Value:
    """What every one of many items is like, part by part."""
    tuples = [option for option in options if isinstance(option, Tup)]
    if len(tuples) == len(options) and len({(len(each.items), each.kind, each.fields) for each in tuples}) == 1:
        columns = zip(*(each.items for each in tuples), strict=True)
        parts = tuple(_covering(call, tuple(dict.fromkeys(column))) for column in columns)
        return Tup(parts, tuples[0].kind, tuples[0].fields, tuples[0].cls)
    lists = [call.world.record(option) if isinstance(option, Ref) else None for option in options]
    if len(options) > 1 and all(isinstance(record, ListRecord) for record in lists):
        found = [_elements(call, option) for option in options]
        known = tuple(dict.fromkeys(item for items in found for item in items or ()))
        item = _covering(call, known) if known and None not in found else call.unknown("item")
        lengths = {length_of(call, option) for option in options}
        return call.world.allocate(ListRecord(None, item, lengths.pop() if len(lengths) == 1 else None))
    return either(call, options)


def _elements(call: Call, value: Value) -> tuple[Value, ...] | None:
    """What a list holds, each or one for all; None where nothing is known of them."""
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(record, ListRecord) and record.items is None:
        return None if record.item is None else (record.item,)
    return call.items(value)


def _method(call: Call, dataset: Value, record: InstanceRecord, name: str, *args: Value) -> Value | None:
    rule = find_op(f"{record.cls.name}.{name}") if isinstance(record.cls, Lib) else None
    try:
        if rule is not None:
            own: Value = rule(call, dataset, *args)
            return own
        method = call.world.attribute(dataset, name)
        return _iterated(call, dataset, name) if method is None else call.apply(method, *args)
    except ShapeError:
        # The data set may be empty, so that its method never runs.
        return None


def _iterated(call: Call, dataset: Value, name: str) -> Value | None:
    """An iterable data set has no `__getitem__`: an item is what iterating gives."""
    if name != "__getitem__":
        return None
    found = call.iterate(dataset)
    return found.item if isinstance(found, Many) else one_of(call, found)


def streamed(call: Call, dataset: Value, workers: Value) -> Dim | None:
    """How many items a data set hands out that can only be gone through; None where that is not known, it has items by index,
    or several workers each go through it. What it says of its length is a claim that nobody holds it to."""
    record = call.world.record(dataset) if isinstance(dataset, Ref) else None
    if not isinstance(record, InstanceRecord) or workers not in (NONE, Const(0), Const(1)):
        return None
    if call.world.attribute(dataset, "__getitem__") is not None:
        return None
    try:
        found = call.iterate(dataset)
    except ShapeError:
        return None
    return found.length if isinstance(found, Many) else Dim.of(len(found))


def batch_size(call: Call, length: Dim | None, size: Dim | None, drop_last: bool | None) -> Dim:
    """The size that every batch has; a new symbol where the last one may be smaller."""
    if size is not None and drop_last:
        return size
    if length is not None and size is not None and size.is_nonzero:
        if not (length % size).terms:
            return size
        if drop_last is False and _at_most(length, size):
            return length
    return call.symbol("batch", 1)


def by_index(call: Call, dataset: Value) -> bool:
    """Whether items are certainly asked for by index, and not drawn, in which case more or fewer may come than it says."""
    record = call.world.record(dataset) if isinstance(dataset, Ref) else None
    if isinstance(record, InstanceRecord) and isinstance(record.cls, Lib):
        return find_op(f"{record.cls.name}.__getitem__") is not None
    if isinstance(record, InstanceRecord):
        return call.world.attribute(dataset, "__iter__") is None
    return isinstance(dataset, Tensor | Tup) or isinstance(record, ListRecord)


def last_batch(length: Dim | None, size: Dim | None, drop_last: bool | None) -> Dim | None:
    """The size of the last batch where it is certainly another one than that of the others; None where that is not known."""
    total, each = (None if dim is None else dim.constant for dim in (length, size))
    if drop_last is not False or total is None or not each or each < 0 or total <= each or total % each == 0:
        return None
    return Dim.of(total % each)


def unlike(item: Value, before: Value, last: Dim, size: Dim | None, option: str) -> Last:
    """The last batch, those before it, and what is said where only it does not fit."""
    hint = f"take the size from the batch, or leave the last one out with {option}=True"
    return Last(item, before, f"the last batch has {last}, the others {size}", hint)


def _at_most(length: Dim, size: Dim) -> bool:
    room = (size - length).low
    return room is not None and room >= 0


def batch_count(length: Dim | None, size: Dim | None, drop_last: bool | None) -> Dim | None:
    """How many batches there are."""
    if length is None or size is None or drop_last is None or size.constant == 0:
        return None
    return length // size if drop_last else (length + size - 1) // size


def collate(call: Call, item: Value, batch: Dim) -> Value:
    """A batch of items: torch.utils.data.default_collate."""
    if isinstance(item, Tensor):
        require_forward(call, item)
        strides = PACKED if item.lib == "torch" and item.strides == PACKED else None
        shape = call.facts.framed((batch,), call.shape(item))
        return Tensor("torch", shape, item.dtype, strides=strides, width=width_of(item))
    kind = type(item.value).__name__ if isinstance(item, Const) else item.kind if isinstance(item, Prim) else None
    if isinstance(item, Num):
        kind = "int"
    if kind in NUMBERS:
        # Python's numbers become what NumPy makes of them.
        width = None if isinstance(item, Claimed) else DEFAULTS["numpy"].get(kind)
        return Tensor("torch", Shape((batch,)), NUMBERS[kind], width=width)
    if kind in ("str", "bytes"):
        return call.world.allocate(ListRecord(None, Prim(kind), batch))
    if isinstance(item, Union):
        return call.any_of(*(collate(call, option, batch) for option in item.options))
    if isinstance(item, Tup):
        inner = tuple(collate(call, part, batch) for part in item.items)
        return Tup(inner, item.kind, item.fields, item.cls) if item.fields else call.list_of(inner)
    return _collate_record(call, item, batch)


def _collate_record(call: Call, item: Value, batch: Dim) -> Value:
    record = call.world.record(item) if isinstance(item, Ref) else None
    if isinstance(record, DictRecord):
        rest = None if record.rest is None else collate(call, record.rest, batch)
        parts = {key: collate(call, value, batch) for key, value in record.items.items()}
        return call.world.allocate(DictRecord(parts, record.exact, rest))
    if isinstance(record, ListRecord) and record.items is not None:
        return call.list_of(tuple(collate(call, part, batch) for part in record.items))
    return call.unknown("batch")


def split_lengths(call: Call, length: Dim | None, wanted: tuple[Value, ...]) -> list[Dim | None]:
    """The lengths of the parts of random_split: integers that sum to the length, or fractions of it."""
    numbers = [call.const(value, (int, float)) for value in wanted]
    known = [n for n in numbers if isinstance(n, int | float)]
    fractions = any(isinstance(n, float) for n in known)
    if len(known) == len(numbers) and abs(sum(known) - 1) < 1e-9:
        return _portions(length, known)
    if fractions:
        if len(known) == len(numbers) and sum(known) > 1 and not float(sum(known)).is_integer():
            call.fail("SHP502", f"{call.text}: the fractions {known} sum to {sum(known):g}, more than 1")
        return [None] * len(wanted)
    dims = [call.dim(value) for value in wanted]
    if any(isinstance(value, Prim | Opaque) for value in wanted) and None in dims:
        return dims
    total = sum((dim for dim in dims if dim is not None), start=Dim.of(0))
    if length is not None and None not in dims and total.differs(length) and total != 1:
        call.fail(
            "SHP502",
            f"{call.text}: the lengths {', '.join(str(d) for d in dims)} sum to {total}, the data set has {length}",
            *call.notes(length, *(d for d in dims if d is not None)),
        )
    return dims


def _portions(length: Dim | None, fractions: list[int | float]) -> list[Dim | None]:
    """Each the floor of its share; the rest goes round from the first."""
    count = None if length is None else length.constant
    if count is None:
        return [None] * len(fractions)
    sizes = [int(count * fraction) for fraction in fractions]
    for index in range(count - sum(sizes)):
        sizes[index % len(sizes)] += 1
    return [Dim.of(size) for size in sizes]
