"""numpy: joining and splitting arrays.

(https://numpy.org/doc/stable/reference/routines.array-manipulation.html#joining-arrays)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, UNKNOWN, ZERO, Call
from distml.ops.numpy.dtypes import content_of
from distml.ops.numpy.ranges import slice_kind, slice_length
from distml.ops.numpy.results import array, into
from distml.ops.numpy.sorting import places_of
from distml.ops.registry import op
from distml.ops.rules import join, split
from distml.ops.rules.axes import axis_in, pad_front, replace_axis
from distml.ops.rules.kinds import element_kind, promote
from distml.ops.rules.view import ravel
from distml.shapes import Dim, Shape
from distml.values import Const, ListRecord, Many, Num, Ref, Slice, Tensor, Tup

if TYPE_CHECKING:
    from distml.values import Value


def _kind(call: Call, arrays: Value) -> str | None:
    items = call.items(arrays)
    return promote(element_kind(call, item) for item in items) if items else element_kind(call, arrays)


@op("numpy.concatenate", "numpy.concat")
def concatenate(call: Call, arrays: Value, axis: Value = ZERO, out: Value = NONE, **options: Value) -> Value:
    """numpy.concatenate(arrays, axis): https://numpy.org/doc/stable/reference/generated/numpy.concatenate.html"""
    parts = join.parts_of(call, arrays)
    absent = call.is_none(axis)
    if absent is None:
        return call.unranked()
    if absent:
        parts = [ravel(call, part) for part in parts] if isinstance(parts, list) else None
        shape = Shape((call.symbol("size"),)) if parts is None else join.concatenate(call, parts, ZERO)
        return array(call, shape, _kind(call, arrays))
    return into(call, array(call, join.concatenate(call, parts, axis), _kind(call, arrays)), out)


@op("numpy.stack")
def stack(call: Call, arrays: Value, axis: Value = ZERO, out: Value = NONE, **options: Value) -> Value:
    """numpy.stack(arrays, axis): https://numpy.org/doc/stable/reference/generated/numpy.stack.html"""
    shape = join.stack(call, join.parts_of(call, arrays), axis, _length(call, arrays))
    return into(call, array(call, shape, _kind(call, arrays)), out)


def _length(call: Call, arrays: Value) -> Dim | None:
    """How many arrays there are, where they are not known one by one."""
    if isinstance(arrays, Many):
        return arrays.length
    if isinstance(arrays, Tensor):
        return call.facts.axis(call.shape(arrays), 0)
    record = call.world.record(arrays) if isinstance(arrays, Ref) else None
    return record.length if isinstance(record, ListRecord) else None


_STACKS = {
    "vstack": join.stack_rows,
    "row_stack": join.stack_rows,
    "hstack": join.stack_columns,
    "dstack": join.stack_depth,
    "column_stack": join.column_stack,
}


@op(*(f"numpy.{name}" for name in _STACKS))
def vstack(call: Call, tup: Value, **options: Value) -> Value:
    """numpy.vstack(tup): https://numpy.org/doc/stable/reference/generated/numpy.vstack.html"""
    rule = _STACKS[call.name.rpartition(".")[2]]
    return array(call, rule(call, join.parts_of(call, tup)), _kind(call, tup))


@op("numpy.block")
def block(call: Call, arrays: Value) -> Value:
    """numpy.block(arrays): https://numpy.org/doc/stable/reference/generated/numpy.block.html"""
    depth = _depth(call, arrays)
    ranks = [call.shape(leaf).rank for leaf in _leaves(call, arrays)]
    if depth is None or any(rank is None for rank in ranks):
        return call.unranked()
    rank = max([depth, *(rank for rank in ranks if rank is not None)])
    return array(call, _block(call, arrays, rank, depth), promote(element_kind(call, v) for v in _leaves(call, arrays)))


def _depth(call: Call, value: Value) -> int | None:
    if isinstance(value, Tensor | Const | Num):
        return 0
    items = call.items(value)
    if not items:
        return None
    depths = [_depth(call, item) for item in items]
    first = depths[0]
    return first + 1 if first is not None and all(d == first for d in depths) else None


def _leaves(call: Call, value: Value) -> list[Value]:
    items = None if isinstance(value, Tensor) else call.items(value)
    return [value] if items is None else [leaf for item in items for leaf in _leaves(call, item)]


def _block(call: Call, value: Value, rank: int, depth: int) -> Shape:
    items = call.items(value)
    if not depth or items is None:
        return pad_front(call, call.shape(value), rank)
    parts = [_block(call, item, rank, depth - 1) for item in items]
    return join.concatenate(call, parts, Const(-depth))


@op("numpy.append")
def append(call: Call, arr: Value, values: Value, axis: Value = NONE) -> Value:
    """numpy.append(arr, values, axis): https://numpy.org/doc/stable/reference/generated/numpy.append.html"""
    return concatenate(call, Tup((arr, values)), axis)


@op("numpy.insert")
def insert(call: Call, arr: Value, obj: Value, values: Value, axis: Value = NONE) -> Value:
    """numpy.insert(arr, obj, values, axis): https://numpy.org/doc/stable/reference/generated/numpy.insert.html"""
    places = call.shape(obj)
    single = places.rank == 0 and not isinstance(obj, Slice)
    if call.is_none(axis):
        shape = ravel(call, call.shape(arr))
        count = call.shape(values).size if single else places.size
        return array(call, [None if count is None else shape.head[0] + count], element_kind(call, arr))
    shape = call.shape(arr)
    at = None if call.is_none(axis) is None else axis_in(call, axis, shape)
    one = single and call.shape(values).rank == 0
    if at is None or not (one or places.rank == 1) or isinstance(obj, Slice):
        return array(call, replace_axis(call, shape, at, None), element_kind(call, arr))
    size = call.facts.axis(shape, at)
    count = Dim.of(1) if one else places.head[0]
    grown = None if size is None else size + count
    return array(call, replace_axis(call, shape, at, grown), element_kind(call, arr))


@op("numpy.delete")
def delete(call: Call, arr: Value, obj: Value, axis: Value = NONE) -> Value:
    """numpy.delete(arr, obj, axis): https://numpy.org/doc/stable/reference/generated/numpy.delete.html"""
    shape = call.shape(arr)
    absent = call.is_none(axis)
    if absent:
        shape, axis = ravel(call, shape), ZERO
    at = None if absent is None else axis_in(call, axis, shape)
    number = call.const(obj, int)
    size = None if at is None else call.facts.axis(shape, at)
    left = None
    if number is not UNKNOWN and size is not None and not isinstance(number, bool):
        _in_range(call, number, size, shape)
        left = size - 1
    elif size is not None and places_of(obj) == size and call.shape(obj).rank == 1:
        left = size - call.shape(obj).head[0]
    return array(call, replace_axis(call, shape, at, left), element_kind(call, arr))


def _in_range(call: Call, number: int, size: Dim, shape: Shape) -> None:
    length = size.constant
    if length is not None and not -length <= number < length:
        message = f"{call.text}: index {number} is out of bounds for an axis of size {length} ({call.show(shape)})"
        call.fail("SHP302", message, *call.notes(size))


@op("numpy.split", "numpy.array_split")
def split_op(call: Call, ary: Value, indices_or_sections: Value, axis: Value = ZERO) -> Value:
    """numpy.split(ary, indices_or_sections): https://numpy.org/doc/stable/reference/generated/numpy.split.html"""
    shape, kind = call.shape(ary), element_kind(call, ary)
    content = content_of(indices_or_sections)
    single = isinstance(indices_or_sections, Const | Num)
    items = content if content is not None and not single else call.items(indices_or_sections)
    if items is not None and not single:
        parts = split.at_indices(call, shape, axis, [call.dim(item) for item in items])
    elif single:
        rule = split.nearly_even if call.name.endswith("array_split") else split.even
        parts = rule(call, shape, axis, call.dim(indices_or_sections))
    else:
        known = axis_in(call, axis, shape)
        parts = (None, replace_axis(call, shape, known, None))
    return _listed(call, parts, kind)


def _listed(call: Call, parts: split.Parts, kind: str | None) -> Value:
    pieces, each = parts
    if pieces is None:
        return call.world.allocate(ListRecord(None, array(call, each, kind)))
    return call.list_of([array(call, piece, kind) for piece in pieces])


@op("numpy.vsplit", "numpy.hsplit", "numpy.dsplit")
def vsplit(call: Call, ary: Value, indices_or_sections: Value) -> Value:
    """numpy.vsplit(ary, indices_or_sections): https://numpy.org/doc/stable/reference/generated/numpy.vsplit.html"""
    shape = call.shape(ary)
    least = {"vsplit": 2, "hsplit": 1, "dsplit": 3}[call.name.rpartition(".")[2]]
    if call.facts.at_least(shape, least) is None:
        call.fail("SHP301", f"{call.text} needs at least {least} axes, gets {shape!r}", *call.notes(*shape.head))
    axis = {1: 1, 2: 0, 3: 2}[least]
    shape = call.facts.shape(shape)
    if least == 1 and shape.rank is None:
        return call.unknown()
    return split_op(call, ary, indices_or_sections, Const(0 if shape.rank == 1 else axis))


@op("numpy.unstack")
def unstack(call: Call, x: Value, *, axis: Value = ZERO) -> Value:
    """numpy.unstack(x, axis): https://numpy.org/doc/stable/reference/generated/numpy.unstack.html"""
    pieces, each = split.unbind(call, call.shape(x), axis)
    kind = element_kind(call, x)
    if pieces is None:
        return Many(array(call, each, kind), "tuple")
    return Tup(tuple(array(call, piece, kind) for piece in pieces))


@op("numpy.r_.__getitem__", "numpy.c_.__getitem__")
def r_(call: Call, key: Value) -> Value:
    """numpy.r_[...], numpy.c_[...]: https://numpy.org/doc/stable/reference/generated/numpy.r_.html"""
    items = key.items if isinstance(key, Tup) else (key,)
    columns = call.name.startswith("numpy.c_")
    if any(isinstance(item, Const) and isinstance(item.value, str) for item in items):
        return call.unranked()
    parts = [_piece(call, item) for item in items]
    if any(part.rank is None for part in parts):
        return call.unranked()
    parts = [_as_column(part) if columns else pad_front(call, part, 1) for part in parts]
    return array(call, join.concatenate(call, parts, Const(-1 if columns else 0)), _piece_kind(call, items))


def _piece(call: Call, item: Value) -> Shape:
    if isinstance(item, Slice):
        length = slice_length(call, item)
        return Shape((call.symbol("length") if length is None else length,))
    return call.shape(item)


def _as_column(part: Shape) -> Shape:
    """A vector, or a number, as a column."""
    if len(part.head) > 1:
        return part
    return Shape((*(part.head or (Dim.of(1),)), Dim.of(1)))


def _piece_kind(call: Call, items: tuple[Value, ...]) -> str | None:
    return promote(slice_kind(call, i) if isinstance(i, Slice) else element_kind(call, i) for i in items)
