"""Joining: concatenate, stack and what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.arraylike import common
from distml.ops.rules.axes import at_least_3d, axis_in, pad_front, replace_axis, unsqueeze
from distml.shapes import Dim, Shape
from distml.values import Const, ListRecord, Many, Ref, Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call


def parts_of(call: Call, tensors: Value) -> list[Shape] | Shape | None:
    """The shapes of a sequence of arrays; the one that all have where their number is not
    known; None where nothing is known. An array is the sequence of its rows."""
    items = call.items(tensors)
    if items is not None:
        return [call.shape(item) for item in items]
    item = None
    if isinstance(tensors, Many):
        item = tensors.item
    elif isinstance(tensors, Ref) and isinstance(record := call.world.record(tensors), ListRecord):
        item = record.item
    elif isinstance(tensors, Tensor):
        shape = call.shape(tensors)
        if shape.rank == 1 and tensors.dtype is None and call.dialect.anything_is_element:
            return None  # its elements may be any objects, arrays among them
        return _rows(call, shape)
    return None if item is None else call.shape(item)


def length_of(call: Call, tensors: Value) -> Dim | None:
    """The number of arrays in a sequence whose arrays are not known one by one."""
    if isinstance(tensors, Many):
        return tensors.length
    record = call.world.record(tensors) if isinstance(tensors, Ref) else None
    if isinstance(record, ListRecord):
        return record.length
    return call.facts.axis(call.shape(tensors), 0) if isinstance(tensors, Tensor) else None


def _rows(call: Call, shape: Shape) -> list[Shape] | Shape | None:
    count = call.facts.axis(shape, 0)
    shape = call.facts.shape(shape)
    if shape.dims is None or count is None:
        return None
    row = Shape(shape.dims[1:])
    number = count.constant
    return [row] * number if number is not None and number <= 64 else row


def concatenate(call: Call, parts: list[Shape] | Shape | None, axis: Value, length: Dim | None = None) -> Shape:
    """Arrays joined along an axis they all have (torch.cat, numpy.concatenate); SHP203.

    In some dialects a vector of no elements joins anything. `length` is the number of
    arrays where `parts` is what they are all like.
    """
    if parts is None:
        return call.facts.unknown_shape()
    if isinstance(parts, Shape):
        return _concatenate_like(call, parts, axis, length)
    parts = [call.facts.shape(part) for part in parts]
    if call.dialect.empty_joins:
        parts = [p for p in parts if p != Shape.of(0)] or parts
        if any(_may_be_skipped(p) for p in parts) and len({p.rank for p in parts}) > 1:
            return _among(call, parts, axis)
    if not parts:
        call.fail("SHP203", f"{call.text}: there is nothing to join")
    parts = _of_one_rank(call, parts)
    ranked = next((p for p in parts if p.dims is not None), None)
    if ranked is None:
        return _join_unranked(call, parts, axis)
    if ranked.rank == 0:
        call.fail("SHP203", f"{call.text}: scalars cannot be joined, stack them")
    at = call.axis(axis, ranked.rank)
    if at is None:
        return Shape(tuple(call.symbol("size") for _ in ranked.head))
    return Shape(tuple(_column(call, parts, i, i == at) for i in range(len(ranked.head))))


def _may_be_skipped(shape: Shape) -> bool:
    return shape.rank is None or (shape.rank == 1 and not shape.head[0].is_nonzero)


def _among(call: Call, parts: list[Shape], axis: Value) -> Shape:
    """Some parts may be empty vectors, which count for nothing: only the others speak."""
    sure = [p for p in parts if not _may_be_skipped(p)]
    if not sure:
        return call.facts.unknown_shape()
    shape = concatenate(call, sure, axis)
    if shape.dims is None:
        return shape
    at = axis_in(call, axis, shape)
    return replace_axis(call, shape, at, None) if at is not None else shape


def _of_one_rank(call: Call, parts: list[Shape]) -> list[Shape]:
    known = [p for p in parts if p.rank is not None]
    if not known:
        return parts
    first = known[0]
    learned = []
    for part in parts:
        same = call.facts.of_rank(part, len(first.head))
        if same is None:
            call.fail(
                "SHP203",
                f"{call.text}: {first!r} and {part!r} have different numbers of axes",
                *call.notes(*first.head, *part.head),
            )
        learned.append(same)
    return learned


def _column(call: Call, parts: list[Shape], axis: int, joined: bool) -> Dim:
    sizes = [p.head[axis] for p in parts]
    if joined:
        return call.small(sum(sizes[1:], sizes[0]))
    best = sizes[0]
    for size, part in zip(sizes[1:], parts[1:], strict=True):
        if size == best:
            continue
        call.require_equal(
            best,
            size,
            "SHP203",
            f"{call.text}: {parts[0]!r} and {part!r} differ on axis {axis}: {{left}} and {{right}}",
            hint=_other_axis(call, parts),
        )
        best = best if best.constant is not None else size
    return call.facts.dim(best)


def _other_axis(call: Call, parts: list[Shape]) -> str | None:
    """The axis along which the join would work, if there is just one."""
    rank = len(parts[0].head)
    differing = [i for i in range(rank) if any(p.head[i] != parts[0].head[i] for p in parts)]
    return f"they can be joined along axis {differing[0]}" if len(differing) == 1 else None


def _join_unranked(call: Call, parts: list[Shape], axis: Value) -> Shape:
    at = axis_in(call, axis, parts[0])
    if at is None or call.dialect.empty_joins:
        # A part of unknown rank may be an empty vector.
        return call.facts.unknown_shape()
    sizes = [call.facts.axis(part, at) for part in parts]
    known = [size for size in sizes if size is not None]
    return replace_axis(call, parts[0], at, call.small(sum(known, Dim.of(0))))


def _concatenate_like(call: Call, part: Shape, axis: Value, length: Dim | None) -> Shape:
    """Arrays of one shape, one by one not known."""
    part = call.facts.shape(part)
    if part.rank is None and call.dialect.empty_joins:
        return call.facts.unknown_shape()
    if part.rank == 0:
        call.fail("SHP203", f"{call.text}: scalars cannot be joined, stack them")
    at = axis_in(call, axis, part)
    size = None if at is None else call.facts.axis(part, at)
    if length is None or size is None or size.constant is None:
        # A symbol may stand for another size in each of them.
        return replace_axis(call, part, at, None)
    return replace_axis(call, part, at, size * length)


def stack(call: Call, parts: list[Shape] | Shape | None, axis: Value, length: Dim | None = None) -> Shape:
    """Arrays of one shape on a new axis (torch.stack, numpy.stack); SHP203."""
    if parts is None:
        return call.facts.unknown_shape()
    if isinstance(parts, Shape):
        count = call.symbol("length") if length is None else length
        return _on_new_axis(call, parts, axis, count)
    if not parts:
        call.fail("SHP203", f"{call.text}: there is nothing to stack")
    parts = _of_one_rank(call, [call.facts.shape(p) for p in parts])
    if parts[0].dims is None:
        return _on_new_axis(call, common(call, parts), axis, Dim.of(len(parts)))
    for part in parts[1:]:
        _require_same(call, parts[0], part)
    columns = (_column(call, parts, i, False) for i in range(len(parts[0].head)))
    return _on_new_axis(call, Shape(tuple(columns)), axis, Dim.of(len(parts)))


def _require_same(call: Call, first: Shape, part: Shape) -> None:
    for left, right in zip(first.head, part.head, strict=True):
        call.require_equal(
            left,
            right,
            "SHP203",
            f"{call.text} needs equal shapes, gets {first!r} and {part!r}: {{left}} is not {{right}}",
        )


def _on_new_axis(call: Call, shape: Shape, axis: Value, count: Dim) -> Shape:
    """`shape` under one more axis of size `count`."""
    new = unsqueeze(call, shape, axis)
    number = call.const(axis, int)
    if not isinstance(number, int):
        return new if new.dims is None else Shape(tuple(call.symbol("size") for _ in new.dims))
    return replace_axis(call, new, number, count)


def stack_rows(call: Call, parts: list[Shape] | Shape | None) -> Shape:
    """numpy.vstack, torch.vstack: vectors become rows, then joined along the first axis."""
    return concatenate(call, _each(parts, lambda p: pad_front(call, p, 2)), Const(0))


def stack_columns(call: Call, parts: list[Shape] | Shape | None) -> Shape:
    """numpy.hstack, torch.hstack: joined along the second axis, vectors along their only one."""
    parts = _each(parts, lambda p: pad_front(call, p, 1))
    if parts is None:
        return call.facts.unknown_shape()
    listed = parts if isinstance(parts, list) else [parts]
    ranked = next((p for p in listed if p.rank is not None), None)
    if ranked is None and listed:
        return call.facts.unknown_shape()
    return concatenate(call, parts, Const(0 if ranked is None or ranked.rank == 1 else 1))


def stack_depth(call: Call, parts: list[Shape] | Shape | None) -> Shape:
    """numpy.dstack, torch.dstack: at least three axes, joined along the third."""
    return concatenate(call, _each(parts, lambda p: at_least_3d(call, p)), Const(2))


def column_stack(call: Call, parts: list[Shape] | Shape | None) -> Shape:
    """Vectors become columns, then joined along the second axis."""
    return concatenate(call, _each(parts, lambda p: _as_columns(call, p)), Const(1))


def _as_columns(call: Call, part: Shape) -> Shape:
    part = call.facts.shape(part)
    if part.dims is None:
        return part if part.least > 1 else call.facts.unknown_shape()
    if len(part.dims) > 1:
        return part
    return Shape((*(part.dims or (Dim.of(1),)), Dim.of(1)))


def _each(parts: list[Shape] | Shape | None, change: Callable[[Shape], Shape]) -> list[Shape] | Shape | None:
    if parts is None:
        return None
    return change(parts) if isinstance(parts, Shape) else [change(p) for p in parts]
