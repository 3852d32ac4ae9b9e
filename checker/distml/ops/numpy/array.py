"""numpy: arrays made from what is there: lists, numbers, other arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, UNKNOWN, ZERO, Call
from distml.ops.numpy.dtypes import content_of, kind_of, may_be_object
from distml.ops.numpy.records import is_record
from distml.ops.numpy.results import array as new_array
from distml.ops.registry import op
from distml.ops.rules.elements import held, nested
from distml.ops.rules.kinds import element_kind
from distml.shapes import Dim, Shape
from distml.values import (
    Class,
    Const,
    DictRecord,
    Expr,
    InstanceRecord,
    IteratorRecord,
    Lib,
    ListRecord,
    Num,
    Opaque,
    Prim,
    Ref,
    SetRecord,
    Tensor,
    Tup,
    Union,
)

if TYPE_CHECKING:
    from distml.values import Value

MAX_NESTING = 32


@op("numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray", "numpy.asfortranarray")
@op("numpy.asarray_chkfinite", "numpy.require")
def array(call: Call, object: Value = NONE, dtype: Value = NONE, *rest: Value, **options: Value) -> Value:
    """numpy.array(object): https://numpy.org/doc/stable/reference/generated/numpy.array.html"""
    source = _made_array(call, options.pop("a", object))
    if call.const(dtype, str) == "c":
        # Characters: a text is a row of them.
        return call.unranked()
    ragged = may_be_object(call, dtype)
    records = is_record(kind_of(call, dtype, None))
    shape = _at_least(call, shape_of_nested(call, source, ragged=ragged, records=records), options.pop("ndmin", ZERO))
    if "ndmax" in options:
        return new_array(call, _at_most(call, shape, options["ndmax"]))
    if shape.rank == 0 and call.name in ("numpy.ascontiguousarray", "numpy.asfortranarray"):
        shape = Shape.of(1)
    kind = kind_of(call, dtype, element_kind(call, source))
    return Tensor(call.lib, shape, kind, content=held(call, nested(call, source), kind, dtype))


def _made_array(call: Call, value: Value) -> Value:
    """The array that an object in sight makes of itself: https://numpy.org/doc/stable/reference/arrays.classes.html"""
    record = call.world.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
        return value
    method = call.world.attribute(value, "__array__")
    made = None if method is None else call.apply(method)
    return made if isinstance(made, Tensor) else value


@op("numpy.copy", "numpy.ndarray.copy", "numpy.ndarray.__copy__", "numpy.ndarray.__deepcopy__")
@op("numpy.ndarray.byteswap", "numpy.ndarray.newbyteorder", "numpy.ndarray.__array__")
def copy(call: Call, a: Value, *_: Value, **options: Value) -> Value:
    """numpy.copy(a): https://numpy.org/doc/stable/reference/generated/numpy.copy.html"""
    return Tensor(call.lib, call.shape(a), element_kind(call, a), content=content_of(a))


@op("numpy.ndarray.astype", "numpy.astype")
def astype(call: Call, a: Value, dtype: Value, *_: Value, **options: Value) -> Value:
    """ndarray.astype(dtype): https://numpy.org/doc/stable/reference/generated/numpy.ndarray.astype.html"""
    kind = kind_of(call, dtype, "float")
    return Tensor(call.lib, call.shape(a), kind, content=held(call, content_of(a), kind, dtype))


@op("numpy.ndarray.view")
def view(call: Call, a: Value, dtype: Value = NONE, type: Value = NONE) -> Value:
    """ndarray.view(dtype): https://numpy.org/doc/stable/reference/generated/numpy.ndarray.view.html

    A dtype of another width changes the last axis. A class makes an array of that class, with operators of its own.
    """
    if any(isinstance(given, Class | Opaque) for given in (dtype, type)):
        return call.unknown()
    shape = call.shape(a)
    if call.is_none(dtype):
        return new_array(call, shape, call.dtype(a))
    if shape.dims:
        return new_array(call, [*shape.dims[:-1], None], kind_of(call, dtype, None))
    return call.unranked()


@op("numpy.frombuffer", "numpy.fromfile", "numpy.fromstring", "numpy.fromiter")
def from_buffer(
    call: Call, buffer: Value, dtype: Value = NONE, count: Value = NONE, *_: Value, **options: Value
) -> Value:
    """numpy.frombuffer(buffer): https://numpy.org/doc/stable/reference/generated/numpy.frombuffer.html"""
    length = call.const(count, int)
    known = None if length is UNKNOWN or length < 0 else Dim.of(length)
    kind = kind_of(call, dtype, "float")
    return new_array(call, [known], kind) if kind is not None else call.unranked()


@op("numpy.isscalar")
def isscalar(call: Call, element: Value) -> Value:
    """numpy.isscalar(element): https://numpy.org/doc/stable/reference/generated/numpy.isscalar.html"""
    if isinstance(element, Const | Num | Prim):
        return FALSE if element == NONE or element == Const(...) else TRUE
    if isinstance(element, Tensor) and element.lib == "numpy":
        # Of rank 0 it may be a scalar as well as an array.
        return FALSE if call.shape(element).rank else Prim("bool")
    record = call.world.record(element) if isinstance(element, Ref) else None
    if isinstance(record, InstanceRecord) or isinstance(element, Opaque | Expr | Union | Lib):
        return Prim("bool")
    return FALSE


def shape_of_nested(call: Call, value: Value, *, ragged: bool = False, records: bool = False, depth: int = 0) -> Shape:
    """The shape of `np.array(value)`: items of a sequence must all have the same shape.

    `ragged` says that the array may hold sequences as its elements: then items
    of different shapes are its last axis; `records`, that its elements are tuples. Fails with SHP203.
    """
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(record, DictRecord | SetRecord | IteratorRecord):
        return Shape.of()
    if (ragged or records) and isinstance(value, Tup):
        # One element of a structured array.
        return Shape.of() if records else call.facts.unknown_shape()
    sequence = (isinstance(value, Tup) and not value.fields and value.kind != "view") or (
        isinstance(record, ListRecord) and record.items
    )
    items = call.items(value) if sequence and depth < MAX_NESTING else None
    if not items:
        return call.shape(value)
    seen: dict[Value, Shape] = {}
    for item in items:
        if item not in seen:
            seen[item] = shape_of_nested(call, item, ragged=ragged, records=records, depth=depth + 1)
    inner = list(seen.values())
    if ragged:
        return _ragged(call, len(items), inner)
    return _stacked(call, len(items), inner)


def _stacked(call: Call, count: int, items: list[Shape]) -> Shape:
    known = [shape for shape in items if shape.dims is not None]
    for left, right in pairwise(known):
        _require_same(call, left, right)
    if not known:
        return call.facts.framed((Dim.of(count),), items[0])
    best = min((call.facts.shape(shape) for shape in known), key=lambda s: sum(d.constant is None for d in s.head))
    if len(known) < len(items) and any(call.facts.at_least(s, 0) is None for s in items):
        return call.facts.unknown_shape()
    return Shape((Dim.of(count), *best.head))


def _require_same(call: Call, left: Shape, right: Shape) -> None:
    message = f"{call.text}: the nested sequences differ: one item has shape {left!r}, another {right!r}"
    hint = "give all rows the same length, or ask for dtype=object"
    if len(left.head) != len(right.head):
        call.fail("SHP203", message, *call.notes(*left.head, *right.head), hint=hint)
    for a, b in zip(left.head, right.head, strict=True):
        call.require_equal(a, b, "SHP203", message, hint=hint)


def _ragged(call: Call, count: int, items: list[Shape]) -> Shape:
    """Objects may be rows: only the axes that all items certainly share are sure."""
    if all(shape == items[0] for shape in items) and items[0].rank is not None:
        return Shape((Dim.of(count), *items[0].head))
    return call.facts.framed((Dim.of(count),), call.facts.unknown_shape())


def _at_least(call: Call, shape: Shape, ndmin: Value) -> Shape:
    least = call.const(ndmin, int)
    if least == 0:
        return shape
    if least is UNKNOWN or shape.dims is None:
        return call.facts.unknown_shape()
    return Shape((*(Dim.of(1) for _ in range(least - len(shape.dims))), *shape.dims))


def _at_most(call: Call, shape: Shape, ndmax: Value) -> Shape:
    """What lies deeper than `ndmax` axes are the elements, which are objects."""
    most = call.const(ndmax, int)
    if most is UNKNOWN or shape.dims is None:
        return call.facts.unknown_shape()
    return Shape(shape.dims[:most])
