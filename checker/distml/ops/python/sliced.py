"""`x[a:b:c]` on Python's own sequences, and on shapes of unknown rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import UNKNOWN
from distml.ops.python.folding import compute, python
from distml.ops.python.joined import pattern
from distml.ops.python.likeness import either, kind_of
from distml.shapes import Middle, Shape
from distml.values import SHAPE_KINDS, Const, ListRecord, Many, Prim, Range, Ref, ShapeSeq, Slice, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


def slice_of(call: Call, self: Value, index: Slice) -> Value:
    """`self[start:stop:step]`; never fails, whatever the bounds."""
    if isinstance(self, ShapeSeq):
        return _shape_slice(call, self, index)
    if isinstance(self, Const | Prim):
        found = compute(call, lambda text, place: text[place], self, index)
        return found or (Prim(str(kind_of(self))) if kind_of(self) in ("str", "bytes") else call.unknown())
    place = _place(index)
    if isinstance(self, Range):
        return _range_slice(call, self, place)
    if isinstance(self, Tup):
        items = self.items
        if not isinstance(place, slice) or place.step == 0:
            return Many(either(call, items), "tuple") if items else self
        return Tup(items[place], self.kind if self.kind in SHAPE_KINDS else "tuple")
    if isinstance(self, Many):
        return Many(self.item, self.kind, None, self.same)
    record = call.world.record(self) if isinstance(self, Ref) else None
    if isinstance(record, ListRecord):
        return call.world.allocate(_list_slice(call, record, place))
    return call.unknown()


def _range_slice(call: Call, self: Range, place: object) -> Value:
    """A slice of a range is a range: as an index of an array it is one, of several numbers."""
    bounds = [call.const(each, int) for each in (self.start, self.stop, self.step)]
    if UNKNOWN in bounds or 0 in bounds[2:] or not isinstance(place, slice) or place.step == 0:
        return Many(call.number(call.symbol("i", None)), "range")
    taken = range(*bounds)[place]
    return Range(Const(taken.start), Const(taken.stop), Const(taken.step))


def _place(index: Slice) -> object:
    """The bounds, where they are known and of the kind that a sequence takes."""
    place = python(index)
    bounds = (place.start, place.stop, place.step) if isinstance(place, slice) else ()
    return place if all(each is None or isinstance(each, int) for each in bounds) else None


def _list_slice(call: Call, record: ListRecord, place: object) -> ListRecord:
    if record.items is not None and isinstance(place, slice) and place.step != 0:
        return ListRecord(record.items[place])
    whole = isinstance(place, slice) and place in (slice(None), slice(None, None, -1), slice(0, None))
    return ListRecord(None, pattern(call, record), record.length if whole else None, record.same)


def _shape_slice(call: Call, self: ShapeSeq, index: Slice) -> Value:
    shape = call.facts.shape(self.shape)
    place = python(index)
    items = call.items(self)
    if items is not None:
        return slice_of(call, Tup(items, self.kind), index)
    if not isinstance(place, slice) or place.step not in (None, 1):
        return ShapeSeq(call.facts.unknown_shape(), self.lib)
    exact = _from_one_end(call, shape, place.start or 0, place.stop)
    if exact is not None:
        return Tup(exact, self.kind)
    return ShapeSeq(_rest(call, shape, place.start or 0, place.stop), self.lib)


def _from_one_end(call: Call, shape: Shape, start: int, stop: int | None) -> tuple[Value, ...] | None:
    """Slices that stay at one end and so have a known length: `[:2]`, `[-2:]`, `[1:3]`."""
    if start >= 0 and stop is not None and stop >= 0:
        positions = range(start, stop)
        enough = stop <= shape.least
    elif start < 0 and (stop is None or stop < 0):
        positions = range(start, 0 if stop is None else stop)
        enough = -start <= shape.least
    else:
        return None
    dims = [call.facts.axis(shape, position) for position in positions] if enough else []
    known = [dim for dim in dims if dim is not None]
    return tuple(call.number(dim) for dim in known) if enough and len(known) == len(dims) else None


def _rest(call: Call, shape: Shape, start: int, stop: int | None) -> Shape:
    """What is left of a shape of unknown rank without its first or last axes.

    The same slice of the same shape is the same, also where not all of it is known.
    """
    key = ("slice of shape", shape.middle, start, stop)
    middle: Middle | None = call.world.get(key)
    if middle is None:
        middle = Middle("shape", call.world.serial())
        call.world.put(key, middle)
        call.world.put(("sliced from", middle), (shape, start, stop))
    if start < 0 or (stop is not None and stop >= 0):
        return call.facts.shape(Shape((), middle))
    front, back = start, 0 if stop is None else -stop
    least = shape.least - front - back
    if least < 0:
        return call.facts.shape(Shape((), middle))
    head = shape.head[front:][:least]
    tail = shape.tail[: len(shape.tail) - back]
    tail = tail[max(len(tail) - least, 0) :]
    return _agreeing(call, middle, Shape(head, middle, tail, least))


def _agreeing(call: Call, middle: Middle, slice_shape: Shape) -> Shape:
    """The slice as it is known now, kept as a fact about its middle unless more is known already."""
    known: Shape | None = call.world.get(middle)
    if known is None or (known.middle is not None and known.least <= slice_shape.least):
        call.world.put(middle, slice_shape)
        return slice_shape
    return call.facts.shape(known)


def unpack_shape(call: Call, value: ShapeSeq, count: int) -> tuple[Value, ...] | None:
    """The `count` sizes of a shape that is unpacked; None if it cannot have so many.

    `h, w = x.shape[-2:]` teaches that `x` has at least two axes.
    """
    shape = call.facts.shape(value.shape)
    source = call.world.get(("sliced from", shape.middle)) if shape.middle is not None else None
    if source is not None:
        whole, start, stop = source
        if start == -count and stop is None:
            dims = call.facts.tail(whole, count)
            if dims is None or call.facts.of_rank(shape, count) is None:
                return None
            return tuple(call.number(dim) for dim in dims)
        if start == 0 and stop == count:
            found = [call.facts.axis(whole, axis) for axis in range(count)]
            if None in found or call.facts.of_rank(shape, count) is None:
                return None
            return tuple(call.number(dim) for dim in found if dim is not None)
    learned = call.facts.of_rank(shape, count)
    return None if learned is None or learned.dims is None else tuple(call.number(dim) for dim in learned.dims)
