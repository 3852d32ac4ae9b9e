"""`+`, `*`, `|` and their kin on tuples, lists, sets and dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.dialect import dialect
from distml.ops.python.folding import MAX_ITEMS
from distml.ops.python.likeness import either, kind_of
from distml.shapes import Dim, Middle, Shape
from distml.values import (
    SHAPE_KINDS,
    TENSOR_SHAPE,
    Const,
    DictRecord,
    ListRecord,
    Many,
    Opaque,
    Ref,
    SetRecord,
    ShapeSeq,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from distml.ops.call import Call


def concatenate(call: Call, op: str, left: Value, right: Value) -> Value | None:
    """`left op right` of sequences, sets or dicts; None when they are something else."""
    if op == "*":
        if kind_of(left) in ("int", "bool"):
            left, right = right, left
        return _repeat(call, left, right) if kind_of(right) in ("int", "bool") else None
    if op == "+" and isinstance(left, Tup | ShapeSeq | Many) and isinstance(right, Tup | ShapeSeq | Many):
        return _tuples(call, left, right)
    if op == "+" and TENSOR_SHAPE in (getattr(left, "kind", None), getattr(right, "kind", None)):
        # A shape of TensorFlow takes a list as a shape too.
        return None if None in (call.items(left), call.items(right)) else _tuples(call, left, right)
    records = [call.world.record(side) if isinstance(side, Ref) else None for side in (left, right)]
    a, b = records
    if op == "+" and isinstance(a, ListRecord) and isinstance(b, ListRecord):
        return call.world.allocate(chained(call, a, b))
    if op == "|" and isinstance(a, DictRecord) and isinstance(b, DictRecord):
        return call.world.allocate(merged(call, a, b))
    if op in ("|", "&", "-", "^") and isinstance(a, SetRecord) and isinstance(b, SetRecord):
        return call.world.allocate(combined(call, op, a, b))
    return None


def chained(call: Call, left: ListRecord, right: ListRecord) -> ListRecord:
    """The list `left + right`."""
    if left.items is not None and right.items is not None and len(left.items) + len(right.items) <= MAX_ITEMS:
        return ListRecord(left.items + right.items)
    lengths = [length_of(record) for record in (left, right)]
    length = lengths[0] + lengths[1] if lengths[0] is not None and lengths[1] is not None else None
    items = [pattern(call, record) for record in (left, right) if record.items != ()]
    known = [item for item in items if item is not None]
    same = left.same and right.same and left.item == right.item
    return ListRecord(None, either(call, known) if len(known) == len(items) else None, length, same)


def length_of(record: ListRecord) -> Dim | None:
    """The number of elements of a list."""
    return record.length if record.items is None else Dim.of(len(record.items))


def pattern(call: Call, record: ListRecord | SetRecord) -> Value | None:
    """One value that every element is like; None when nothing is known of them."""
    if record.items is None:
        return record.item
    return either(call, record.items) if record.items else None


def merged(call: Call, left: DictRecord, right: DictRecord) -> DictRecord:
    """The dict `left | right`, which `left.update(right)` leaves."""
    items = dict(left.items)
    if not right.exact:
        # Any key may have been overwritten by one that is not listed.
        items = {key: _or_rest(call, value, right) for key, value in items.items()}
    items.update(right.items)
    rests = [record.rest for record in (left, right) if not record.exact]
    known = [rest for rest in rests if rest is not None]
    rest = either(call, known) if rests and len(known) == len(rests) else None
    return DictRecord(items, left.exact and right.exact, rest, left.factory)


def _or_rest(call: Call, value: Value, other: DictRecord) -> Value:
    return call.unknown() if other.rest is None else either(call, [value, other.rest])


def combined(call: Call, op: str, left: SetRecord, right: SetRecord) -> SetRecord:
    """The set `left op right`."""
    if _all_constant(left) and _all_constant(right):
        a, b = dict.fromkeys(left.items or ()), dict.fromkeys(right.items or ())
        kept = {
            "|": [*a, *(item for item in b if item not in a)],
            "&": [item for item in a if item in b],
            "-": [item for item in a if item not in b],
            "^": [*(item for item in a if item not in b), *(item for item in b if item not in a)],
        }
        return SetRecord(tuple(kept[op]))
    item = pattern(call, left)
    if op in ("|", "^"):
        items = [pattern(call, record) for record in (left, right) if record.items != ()]
        known = [found for found in items if found is not None]
        item = either(call, known) if known and len(known) == len(items) else None
    return SetRecord(None, item)


def _all_constant(record: SetRecord) -> bool:
    return record.items is not None and all(isinstance(item, Const) for item in record.items)


def _repeat(call: Call, value: Value, times: Value) -> Value | None:
    count = call.dim(times)
    if isinstance(value, Tup):
        known = None if count is None else count.constant
        whole = _whole(value.items, known)
        if whole is None:
            length = _product(call, len(value.items), count)
            return Many(either(call, value.items), "tuple", length, len(set(value.items)) == 1)
        return Tup(whole, value.kind)
    if isinstance(value, ShapeSeq | Many):
        return Many(value.item if isinstance(value, Many) else call.number(call.symbol("size")), "tuple")
    record = call.world.record(value) if isinstance(value, Ref) else None
    return call.world.allocate(repeated(call, record, count)) if isinstance(record, ListRecord) else None


def is_sequence(call: Call, value: Value) -> bool:
    """Whether `value * n` repeats it."""
    if isinstance(value, Tup):
        return value.kind in ("tuple", *SHAPE_KINDS)
    record = call.world.record(value) if isinstance(value, Ref) else None
    tuples = isinstance(value, ShapeSeq) or (isinstance(value, Many) and value.kind == "tuple")
    return tuples or isinstance(record, ListRecord) or kind_of(value) in ("str", "bytes")


def as_times(call: Call, array: Tensor) -> Value | None:
    """How often a sequence is repeated that is multiplied by an array; None where the array takes the sequence for one.

    What NumPy gives without axes is a scalar mostly, and with one an integer repeats; an array without axes does not.
    PyTorch and JAX take no lists: what has one element is asked for its `__index__`.
    """
    shape = call.facts.shape(array.shape)
    own = dialect(array.lib)
    if own.scalars_are_numbers:
        return None if shape.least else call.unknown()
    if own.takes_lists or (shape.size is not None and shape.size.constant not in (1, None)):
        return None
    count = call.dim(array)
    return call.unknown() if count is None else call.number(count)


def _whole(items: tuple[Value, ...] | None, count: int | None) -> tuple[Value, ...] | None:
    """The items that many times; None where their number is not known or too large."""
    if items is None or count is None or max(count, 0) * len(items) > MAX_ITEMS:
        return None
    return items * count if items and count > 0 else ()


def repeated(call: Call, record: ListRecord, count: Dim | None) -> ListRecord:
    """The list `record * count`."""
    items = record.items
    whole = _whole(items, None if count is None else count.constant)
    if whole is not None:
        return ListRecord(whole)
    same = record.same if items is None else len(set(items)) == 1
    length = length_of(record)
    if length is not None:
        length = _product(call, length, count)
    return ListRecord(None, pattern(call, record), length, same)


def repeated_once(call: Call, value: Value) -> Value | None:
    """A list or tuple of one item, repeated an unknown number of times; None for anything else."""
    if isinstance(value, Tup):
        return Many(value.items[0], "tuple", None, True) if len(value.items) == 1 else None
    record = call.world.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, ListRecord) or record.items is None or len(record.items) != 1:
        return None
    return call.world.allocate(repeated(call, record, None))


def _product(call: Call, length: int | Dim, count: Dim | None) -> Dim | None:
    """The length repeated; a count that may be negative gives an empty sequence."""
    if count is None or count.low is None or count.low < 0:
        return None
    return call.small(count * length)


def _tuples(call: Call, left: Value, right: Value) -> Value | None:
    a, b = call.items(left), call.items(right)
    kind = next(
        (side.kind for side in (left, right) if isinstance(side, Tup | ShapeSeq) and side.kind in SHAPE_KINDS), "tuple"
    )
    if a is not None and b is not None:
        return Tup(a + b, kind) if len(a) + len(b) <= MAX_ITEMS else Many(either(call, a + b), "tuple")
    shapes = [_as_shape(call, side) for side in (left, right)]
    if shapes[0] is None or shapes[1] is None:
        return _patterns(call, left, right)
    return ShapeSeq(_chained_shapes(call, shapes[0], shapes[1]), _lib(left, right))


def _patterns(call: Call, left: Value, right: Value) -> Value:
    items: list[Value] = []
    for side in (left, right):
        known = call.items(side)
        if known is not None:
            items.extend(known)
        else:
            items.append(side.item if isinstance(side, Many) else call.number(call.symbol("size")))
    return Many(either(call, items), "tuple")


def _as_shape(call: Call, value: Value) -> Shape | None:
    """A tuple of sizes as a shape; None when an item is no integer."""
    if isinstance(value, ShapeSeq):
        return call.facts.shape(value.shape)
    items = call.items(value)
    if items is None or any(kind_of(item) != "int" and not isinstance(item, Opaque) for item in items):
        return None
    dims = [call.dim(item) for item in items]
    known = [dim for dim in dims if dim is not None]
    return Shape(tuple(known)) if len(known) == len(dims) else None


def _chained_shapes(call: Call, left: Shape, right: Shape) -> Shape:
    """The ends that are known of `left + right`, at least one of them of unknown rank."""
    head = left.head if left.middle is not None else left.head + right.head
    tail = right.tail if right.middle is not None else left.tail + right.head
    key = ("chained shapes", left, right)
    middle: Middle | None = call.world.get(key)
    if middle is None:
        middle = Middle("shape", call.world.serial())
        call.world.put(key, middle)
    return Shape(head, middle, tail, left.least + right.least)


def _lib(left: Value, right: Value) -> str:
    return next((side.lib for side in (left, right) if isinstance(side, ShapeSeq)), "array")
