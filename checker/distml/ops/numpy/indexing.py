"""numpy: indexing, taking, choosing, and what gives indices.

(https://numpy.org/doc/stable/user/basics.indexing.html)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import NONE, ZERO, Call
from distml.ops.numpy.array import shape_of_nested
from distml.ops.numpy.records import Field, fields_of, is_record, of_field, subset
from distml.ops.numpy.results import array, into, vector
from distml.ops.registry import op
from distml.ops.rules.axes import axis_in, replace_axes, replace_axis
from distml.ops.rules.elements import written
from distml.ops.rules.index import assigned, in_bounds, indexed, picked
from distml.ops.rules.kinds import element_kind, promote
from distml.ops.rules.pointwise import fits_into
from distml.ops.rules.sizes import shape_from
from distml.shapes import Dim, Shape
from distml.values import Const, Many, Num, Prim, Slice, Tensor, Tup

if TYPE_CHECKING:
    from distml.values import Value


def _is_one_record(kind: str | None, own: Shape, index: Value) -> bool:
    """Whether a number in an index counts the fields of a record, which has no axes."""
    return is_record(kind) and own.rank == 0 and isinstance(index, Const | Num | Prim) and index != Const(...)


def _field_at(kind: str | None, own: Shape, index: Value) -> Field | None:
    """The field that an index names; in a record alone it may count them."""
    fields, key = fields_of(kind), index.value if isinstance(index, Const) else None
    if isinstance(key, str):
        return fields.get(key)
    if type(key) is not int or not _is_one_record(kind, own, index) or not -len(fields) <= key < len(fields):
        return None
    return list(fields.values())[key]


@op("numpy.ndarray.__getitem__")
def getitem(call: Call, self: Value, index: Value) -> Value:
    """`x[index]`: https://numpy.org/doc/stable/user/basics.indexing.html"""
    kind, own = element_kind(call, self), call.shape(self)
    if (isinstance(index, Const) and isinstance(index.value, str)) or _is_one_record(kind, own, index):
        field = _field_at(kind, own, index)
        return call.unranked() if field is None else array(call, of_field(call, own, field), field.kind)
    if is_record(kind) and (fewer := subset(call, kind, index)):
        return array(call, own, fewer)
    objects = kind is None and (call.dialect.takes_objects_apart or call.dialect.anything_is_element)
    shape = own if objects and own.rank == 0 else indexed(call, own, index, call.lib)
    if shape is None:
        return call.unranked(kind)
    if objects and shape.rank == 0:
        return call.unknown("item")  # an element may be any object, not an array at all
    if not isinstance(self, Tensor):
        return Tensor(call.lib, shape, kind)
    made = Tensor(call.lib, shape, kind, content=picked(call, self, index))
    # Some of different places are different places; who writes into one of the two arrays writes into both.
    row = self.places if isinstance(index, Slice) else None
    return made if row is None else replace(made, places=row).copied(self)


@op("numpy.ndarray.__setitem__")
def setitem(call: Call, self: Value, index: Value, value: Value) -> Value:
    """`x[index] = value`: https://numpy.org/doc/stable/user/basics.indexing.html#assigning-values-to-indexed-arrays"""
    kind = element_kind(call, self)
    field = _field_at(kind, call.shape(self), index)
    if field is None and _is_one_record(kind, call.shape(self), index):
        return NONE
    if field is not None:
        place = array(call, of_field(call, call.shape(self), field), field.kind)
        return setitem(call, place, Const(...), value)
    if (is_record(kind) and not isinstance(value, Tensor)) or (kind is None and call.shape(self).rank == 0):
        return NONE
    slot = indexed(call, call.shape(self), index, call.lib)
    # A cell of an array of objects holds anything.
    if slot is not None and (kind is not None or slot.rank != 0):
        given = shape_of_nested(call, value, ragged=kind is None)
        if kind is None and not isinstance(value, Tensor) and slot.rank is not None and given.dims is not None:
            # What lies deeper than the axes of the slot may be the objects to store.
            given = Shape(given.dims[: slot.rank])
        assigned(call, call.shape(self), index, Tensor(call.lib, given), call.lib)
    if isinstance(self, Tensor):
        written(call, self)
    return NONE


@op("numpy.s_.__getitem__", "numpy.index_exp.__getitem__")
def s_(call: Call, key: Value) -> Value:
    """numpy.s_[...]: https://numpy.org/doc/stable/reference/generated/numpy.s_.html"""
    return Tup((key,)) if call.name.startswith("numpy.index_exp") and not isinstance(key, Tup) else key


@op("numpy.take", "numpy.ndarray.take")
def take(
    call: Call, a: Value, indices: Value, axis: Value = NONE, out: Value = NONE, mode: Value = Const("raise")
) -> Value:
    """numpy.take(a, indices, axis): https://numpy.org/doc/stable/reference/generated/numpy.take.html"""
    shape, chosen, kind = call.shape(a), call.shape(indices), element_kind(call, a)
    absent = call.is_none(axis)
    if absent:
        return into(call, array(call, chosen, kind), out)
    at = None if absent is None else axis_in(call, axis, shape)
    if at is None or chosen.dims is None:
        return call.unranked(kind)
    size = call.facts.axis(shape, at)
    if size is not None and call.const(mode, str) == "raise":
        for item in (indices,) if chosen.rank == 0 else call.items(indices) or ():
            in_bounds(call, item, size, at, shape)
    return into(call, array(call, replace_axes(call, shape, at, 1, chosen.dims), kind), out)


@op("numpy.take_along_axis")
def take_along_axis(call: Call, arr: Value, indices: Value, axis: Value = Const(-1)) -> Value:
    """numpy.take_along_axis: https://numpy.org/doc/stable/reference/generated/numpy.take_along_axis.html"""
    shape, places, kind = call.shape(arr), call.shape(indices), element_kind(call, arr)
    if call.is_none(axis) is not False:
        return call.unranked(kind) if call.is_none(axis) is None else array(call, call.of_rank(places, 1), kind)
    _same_rank(call, shape, places)
    at = call.axis(axis, places.rank)
    if at is None or shape.dims is None or places.dims is None:
        return array(call, [None] * places.rank, kind) if places.rank is not None else call.unranked(kind)
    rest = [Shape(d[:at] + d[at + 1 :]) for d in (shape.dims, places.dims)]
    met = call.broadcast(*rest, message=f"{call.text}: {shape!r} and indices {places!r}").head
    return array(call, [*met[:at], places.dims[at], *met[at:]], kind)


def _same_rank(call: Call, shape: Shape, places: Shape) -> None:
    if shape.rank is not None and places.rank is not None and shape.rank != places.rank:
        call.fail(
            "SHP301",
            f"{call.text}: the array {shape!r} and the indices {places!r} have different numbers of axes",
            *call.notes(*shape.head, *places.head),
        )


@op("numpy.put", "numpy.putmask", "numpy.place", "numpy.put_along_axis", "numpy.ndarray.put")
def put(call: Call, a: Value, *args: Value, **options: Value) -> Value:
    """numpy.put(a, ind, v), in place: https://numpy.org/doc/stable/reference/generated/numpy.put.html"""
    return _changed(call, a)


def _changed(call: Call, value: Value) -> Value:
    if isinstance(value, Tensor):
        written(call, value)
    return NONE


@op("numpy.copyto")
def copyto(call: Call, dst: Value, src: Value, *_: Value, **options: Value) -> Value:
    """numpy.copyto(dst, src): https://numpy.org/doc/stable/reference/generated/numpy.copyto.html"""
    fits_into(call, call.shape(src), call.shape(dst), drops_ones=True)
    return _changed(call, dst)


@op("numpy.ndarray.fill", "numpy.ndarray.setfield", "numpy.ndarray.setflags", "numpy.ndarray.itemset")
def fill(call: Call, self: Value, *_: Value, **options: Value) -> Value:
    """ndarray.fill(value), in place: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.fill.html"""
    return _changed(call, self)


@op("numpy.choose", "numpy.ndarray.choose")
def choose(call: Call, a: Value, choices: Value, *_: Value, **options: Value) -> Value:
    """numpy.choose(a, choices): https://numpy.org/doc/stable/reference/generated/numpy.choose.html"""
    items = call.items(choices)
    if items is None:
        return call.unranked()
    shape = call.broadcast(call.shape(a), *(call.shape(item) for item in items), message=call.text)
    return array(call, shape, promote(element_kind(call, item) for item in items))


@op("numpy.compress", "numpy.extract", "numpy.ndarray.compress")
def compress(call: Call, a: Value, b: Value = NONE, axis: Value = NONE, out: Value = NONE, **options: Value) -> Value:
    """numpy.compress(condition, a): https://numpy.org/doc/stable/reference/generated/numpy.compress.html"""
    source = a if call.name.startswith("numpy.ndarray") else options.get("a", options.get("arr", b))
    kind = element_kind(call, source)
    if call.is_none(axis):
        return vector(call, kind, source)
    shape = call.shape(source)
    return array(call, replace_axis(call, shape, axis_in(call, axis, shape), None), kind)


@op("numpy.where")
def where(call: Call, condition: Value, x: Value | None = None, y: Value | None = None) -> Value:
    """numpy.where(condition, x, y): https://numpy.org/doc/stable/reference/generated/numpy.where.html"""
    if x is None or y is None:
        return nonzero(call, condition)
    shapes = [shape_of_nested(call, value) for value in (condition, x, y)]
    kind = promote((element_kind(call, x), element_kind(call, y)))
    return array(call, call.broadcast(*shapes, message=call.text), kind)


@op("numpy.nonzero", "numpy.ndarray.nonzero")
def nonzero(call: Call, a: Value) -> Value:
    """numpy.nonzero(a): https://numpy.org/doc/stable/reference/generated/numpy.nonzero.html"""
    found = vector(call, "int", a)
    rank = call.shape(a).rank
    return Many(found, "tuple") if rank is None else Tup((found,) * max(rank, 1))


@op("numpy.argwhere")
def argwhere(call: Call, a: Value) -> Value:
    """numpy.argwhere(a): https://numpy.org/doc/stable/reference/generated/numpy.argwhere.html"""
    return array(call, [call.chosen(a), call.shape(a).rank], "int")


@op("numpy.flatnonzero")
def flatnonzero(call: Call, a: Value) -> Value:
    """numpy.flatnonzero(a): https://numpy.org/doc/stable/reference/generated/numpy.flatnonzero.html"""
    return vector(call, "int", a)


@op("numpy.select")
def select(call: Call, condlist: Value, choicelist: Value, default: Value = ZERO) -> Value:
    """numpy.select(condlist, choicelist): https://numpy.org/doc/stable/reference/generated/numpy.select.html"""
    conditions, choices = call.items(condlist), call.items(choicelist)
    if conditions is None or choices is None:
        return call.unranked()
    if len(conditions) != len(choices):
        call.fail("SHP502", f"{call.text}: {len(conditions)} conditions, {len(choices)} choices")
    values = (*conditions, *choices, default)
    shape = call.broadcast(*(call.shape(value) for value in values), message=call.text)
    return array(call, shape, promote(element_kind(call, value) for value in (*choices, default)))


@op("numpy.piecewise")
def piecewise(call: Call, x: Value, condlist: Value, funclist: Value, *args: Value, **kw: Value) -> Value:
    """numpy.piecewise(x, condlist, funclist): https://numpy.org/doc/stable/reference/generated/numpy.piecewise.html"""
    return array(call, call.shape(x), element_kind(call, x))


@op("numpy.ix_")
def ix_(call: Call, *args: Value) -> Value:
    """numpy.ix_(*args): https://numpy.org/doc/stable/reference/generated/numpy.ix_.html"""
    found = []
    for place, arg in enumerate(args):
        size = call.of_rank(call.shape(arg), 1, what="vectors").head[0]
        kind = element_kind(call, arg)
        if kind is None and isinstance(arg, Tensor):
            size = call.symbol("count")
        if kind == "bool":
            size, kind = call.symbol("count"), "int"
        ones = (Dim.of(1),)
        found.append(array(call, Shape(ones * place + (size,) + ones * (len(args) - place - 1)), kind))
    return Tup(tuple(found))


@op("numpy.unravel_index")
def unravel_index(call: Call, indices: Value, shape: Value, order: Value = NONE) -> Value:
    """numpy.unravel_index(indices, shape): https://numpy.org/doc/stable/reference/generated/numpy.unravel_index.html"""
    rank = shape_from(call, shape).rank
    each = array(call, call.shape(indices), "int")
    return Many(each, "tuple") if rank is None else Tup((each,) * rank)


@op("numpy.ravel_multi_index")
def ravel_multi_index(call: Call, multi_index: Value, dims: Value, *_: Value, **options: Value) -> Value:
    """numpy.ravel_multi_index: https://numpy.org/doc/stable/reference/generated/numpy.ravel_multi_index.html"""
    items = call.items(multi_index)
    if items is None:
        return call.unranked("int")
    return array(call, call.broadcast(*(call.shape(item) for item in items), message=call.text), "int")


@op("numpy.trim_zeros")
def trim_zeros(call: Call, filt: Value, *_: Value, **options: Value) -> Value:
    """numpy.trim_zeros(filt): https://numpy.org/doc/stable/reference/generated/numpy.trim_zeros.html"""
    rank = call.shape(filt).rank
    return call.unranked() if rank is None else array(call, [None] * rank, element_kind(call, filt))


@op("numpy.apply_along_axis")
def apply_along_axis(call: Call, func1d: Value, axis: Value, arr: Value, *args: Value, **kwargs: Value) -> Value:
    """numpy.apply_along_axis: https://numpy.org/doc/stable/reference/generated/numpy.apply_along_axis.html"""
    shape = call.shape(arr)
    at = axis_in(call, axis, shape)
    size = None if at is None else call.facts.axis(shape, at)
    if at is None or size is None or shape.rank is None:
        return call.unranked()
    item = call.apply(func1d, array(call, [size], element_kind(call, arr)), *args, kwargs=kwargs)
    inner = call.shape(item) if isinstance(item, Tensor | Const) else None
    if inner is None or inner.dims is None:
        return call.unranked()
    return array(call, replace_axes(call, shape, at, 1, inner.dims), element_kind(call, item))
