"""Indexing `x[...]`: the shape it gives and the room it makes for a value.

NumPy user guide, "Indexing on ndarrays"; torch follows it but for two things:
it takes integers away first, so that they do not count as arrays when the place
of the array axes is decided, and an ellipsis that stands for no axis separates
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.dialect import dialect
from distml.ops.rules.index_parts import Part, parse
from distml.ops.rules.pointwise import fits_into
from distml.ops.rules.slices import slice_length
from distml.shapes import Dim, Shape
from distml.solver.formula import at_least, both, less
from distml.values import Const, Num, Slice, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


class Cell(NamedTuple):
    """A stretch of the result: axes kept, the place of an array or of an integer."""

    kind: str
    shape: Shape


def indexed(call: Call, shape: Shape, index: Value, lib: str) -> Shape | None:
    """The shape of `x[index]` for an `x` of `shape`; None when it cannot be told.

    Fails with SHP303 (too many indices), SHP302 (out of bounds), SHP304 (mask) and
    SHP102 (index arrays that do not broadcast). `lib` is whose rules of indexing count.
    """
    parts = parse(call, index, lib)
    if parts is None:
        return None
    shape = call.facts.shape(shape)
    if all(p.kind == "dots" or (p.kind == "slice" and p.value == Slice()) for p in parts):
        _room(call, shape, sum(p.axes for p in parts))
        return call.facts.shape(shape)
    known = [p for p in parts if p.kind != "unknown"]
    shape = _room(call, shape, sum(p.axes for p in known))
    if len(known) < len(parts) or sum(p.kind == "dots" for p in parts) > 1:
        return None
    return _arrange(call, _cells(call, shape, parts), lib)


def assigned(call: Call, shape: Shape, index: Value, value: Value, lib: str, drops_ones: bool = True) -> None:
    """Require that `x[index] = value` finds room for the value (SHP305); see `fits_into` for `drops_ones`."""
    slot = indexed(call, shape, index, lib)
    if slot is None:
        return
    given = call.shape(value)
    message = f"{given!r} does not fit into the {slot!r} of {call.facts.shape(shape)!r} that it is assigned to"
    fits_into(call, given, slot, drops_ones, message=message)


def picked(call: Call, tensor: Tensor, index: Value) -> tuple[Value, ...] | None:
    """The known elements of a vector of integers after indexing."""
    if tensor.content is None or call.shape(tensor).rank != 1:
        return None
    if isinstance(index, Tup) and len(index.items) == 1:
        index = index.items[0]
    if (
        isinstance(index, Const)
        and type(index.value) is int
        and -len(tensor.content) <= index.value < len(tensor.content)
    ):
        return (tensor.content[index.value],)
    if isinstance(index, Slice):
        bounds = [call.const(v, (int, type(None))) for v in (index.start, index.stop, index.step)]
        if all(b is None or isinstance(b, int) for b in bounds) and bounds[2] != 0:
            return tensor.content[slice(*bounds)]
    return None


def _room(call: Call, shape: Shape, count: int) -> Shape:
    learned = call.facts.at_least(shape, count)
    if learned is None:
        rank = len(call.facts.shape(shape).head)
        call.fail(
            "SHP303",
            f"{count} {'index' if count == 1 else 'indices'} for {call.show(shape)}, which has "
            + ("no axes" if rank == 0 else f"{rank} {'axis' if rank == 1 else 'axes'}"),
            *call.notes(*shape.head),
        )
    return learned


def _cells(call: Call, shape: Shape, parts: list[Part]) -> list[Cell]:
    """The axes are dealt out: from the front up to the ellipsis, from the back behind it."""
    at = next((i for i, p in enumerate(parts) if p.kind == "dots"), len(parts))
    front, back = parts[:at], parts[at + 1 :]
    taken, behind = sum(p.axes for p in front), sum(p.axes for p in back)
    cells, axis = [], 0
    for part in front:
        cells.append(_cell(call, shape, part, axis))
        axis += part.axes
    shape = call.facts.shape(shape)
    cells.append(Cell("rest" if at < len(parts) else "end", _rest(call, shape, taken, behind)))
    axis = -behind
    for part in back:
        cells.append(_cell(call, shape, part, axis))
        axis += part.axes
    return cells


def _rest(call: Call, shape: Shape, front: int, back: int) -> Shape:
    if shape.dims is not None:
        return Shape(shape.dims[front : len(shape.dims) - back])
    if not front and not back:
        return shape
    head = shape.head[front : max(shape.least - back, front)]
    stop = len(shape.tail) - back
    spare = max(shape.least - front - back, 0)
    tail = shape.tail[max(stop - spare, 0) : max(stop, 0)]
    return Shape(head, call.facts.unknown_shape().middle, tail, spare)


def _cell(call: Call, shape: Shape, part: Part, axis: int) -> Cell:
    if part.kind == "none":
        return Cell("keep", Shape.of(1))
    dims = [call.facts.axis(shape, axis + i) for i in range(part.axes)]
    sizes = [call.facts.dim(d) for d in dims if d is not None]
    if part.kind == "slice" and isinstance(part.value, Slice):
        return Cell("keep", Shape((slice_length(call, sizes[0], part.value),)))
    if part.kind == "int":
        in_bounds(call, part.value, sizes[0], axis, shape)
        return Cell("int", Shape.of())
    if part.kind == "mask":
        _match(call, shape, part, sizes, axis)
        return Cell("array", Shape((part.trues,)))
    for item in part.known:
        in_bounds(call, item, sizes[0], axis, shape)
    return Cell("array", part.shape)


def in_bounds(call: Call, index: Value, size: Dim, axis: int, shape: Shape) -> None:
    """Require an integer index to lie in `-size ... size - 1` (SHP302)."""
    at = call.dim(index) if isinstance(index, Const | Num) else None
    if at is None or not call.dialect.bounds_checked:
        return
    over, under = (at - size).low, (-at - size).low
    outside = (over is not None and over >= 0) or (under is not None and under > 0)
    if not outside and not call.world.watched:
        return
    text = f"index {at} is out of bounds for axis {axis} of {call.show(shape)}, which has size {size}"
    call.state(both(less(at, size), at_least(at + size, 0)), "SHP302", text)
    if outside:
        call.fail("SHP302", text, *call.notes(at, size))


def _match(call: Call, shape: Shape, part: Part, sizes: list[Dim], axis: int) -> None:
    dims = part.shape.dims or ()
    for place, (mask, size) in enumerate(zip(dims, sizes, strict=True), axis):
        call.require_equal(
            mask,
            size,
            "SHP304",
            f"mask {part.shape!r} does not match {call.show(shape)}: "
            f"{{left}} in the mask meets {{right}} on axis {place}",
        )


def _arrange(call: Call, cells: list[Cell], lib: str) -> Shape | None:
    arrays = [i for i, cell in enumerate(cells) if cell.kind == "array"]
    if dialect(lib).integers_first:
        gone = [c for c in cells if c.kind != "int" and not (c.kind == "rest" and c.shape.dims == ())]
        cells, arrays = gone, [i for i, cell in enumerate(gone) if cell.kind == "array"]
    elif arrays:
        arrays = [i for i, cell in enumerate(cells) if cell.kind in ("array", "int")]
    if not arrays:
        return joined(call, [c.shape for c in cells])
    block = call.broadcast(*(cells[i].shape for i in arrays), message="index arrays")
    first, last = arrays[0], arrays[-1]
    between = [c for c in cells[first : last + 1] if c.kind in ("keep", "rest")]
    others = [c.shape for i, c in enumerate(cells) if i not in arrays]
    only_rest = all(c.kind != "keep" for c in between) and any(c.shape.rank is None for c in between)
    if dialect(lib).integers_first and only_rest:
        return None
    if between:
        return joined(call, [block, *others])
    return joined(call, [*(c.shape for c in cells[:first]), block, *(c.shape for c in cells[last + 1 :])])


def joined(call: Call, shapes: list[Shape]) -> Shape:
    """The axes of all shapes one after another."""
    shapes = [call.facts.shape(shape) for shape in shapes]
    unknown = [i for i, shape in enumerate(shapes) if shape.dims is None]
    if not unknown:
        return Shape(tuple(d for shape in shapes for d in shape.head))
    solid = [s for s in shapes if s.rank != 0]
    if len(solid) == 1:
        return solid[0]
    first, last = unknown[0], unknown[-1]
    head = tuple(d for shape in shapes[: first + 1] for d in shape.head)
    tail = shapes[last].tail + tuple(d for shape in shapes[last + 1 :] for d in shape.head)
    return Shape(head, call.facts.unknown_shape().middle, tail, sum(s.least for s in shapes))
