"""numpy: sorting, searching, counting, sets. (https://numpy.org/doc/stable/reference/routines.sort.html)"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, ZERO, Call
from distml.ops.numpy.results import array, vector
from distml.ops.registry import op
from distml.ops.rules.axes import axis_in, replace_axis
from distml.ops.rules.elements import distinct, written
from distml.ops.rules.kinds import element_kind, promote
from distml.ops.rules.sizes import nonnegative
from distml.ops.rules.sort import unique_count
from distml.ops.rules.view import ravel
from distml.shapes import Dim, Shape
from distml.values import Const, Num, Tensor, Tup

if TYPE_CHECKING:
    from distml.values import Value

LAST, TEN = Const(-1), Const(10)


@op("numpy.sort", "numpy.argsort", "numpy.ndarray.argsort")
def sort(call: Call, a: Value, axis: Value = LAST, *_: Value, **options: Value) -> Value:
    """numpy.sort(a, axis): https://numpy.org/doc/stable/reference/generated/numpy.sort.html"""
    if not call.name.endswith("argsort"):
        row = a.places if isinstance(a, Tensor) else None
        return replace(array(call, _along(call, a, axis), element_kind(call, a)), places=row)
    shape = _along(call, a, axis)
    return array(call, Shape.of(1) if shape.rank == 0 else shape, "int")


@op("numpy.partition", "numpy.argpartition", "numpy.ndarray.argpartition")
def partition(call: Call, a: Value, kth: Value, axis: Value = LAST, *_: Value, **options: Value) -> Value:
    """numpy.partition(a, kth, axis): https://numpy.org/doc/stable/reference/generated/numpy.partition.html"""
    shape = _along(call, a, axis)
    at = axis_in(call, axis, shape) if call.is_none(axis) is False else None
    place = call.const(kth, int)
    size = None if at is None or not shape.dims else call.facts.axis(shape, at)
    length = None if size is None else size.constant
    # An empty axis has nothing to order, so no place in it is asked for.
    if isinstance(place, int) and length and not -length <= place < length:
        message = f"{call.text}: kth={place} is out of bounds for an axis of size {length} ({call.show(a)})"
        call.fail("SHP302", message, *([] if size is None else call.notes(size)))
    kind = element_kind(call, a) if call.name.endswith(".partition") else "int"
    return array(call, shape, kind)


def _along(call: Call, a: Value, axis: Value) -> Shape:
    """The array's own shape; flat for axis None."""
    shape = call.shape(a)
    absent = call.is_none(axis)
    if absent is None:
        return call.facts.unknown_shape()
    if absent:
        return ravel(call, shape)
    call.axis(axis, shape.rank)
    return shape


@op("numpy.ndarray.sort", "numpy.ndarray.partition")
def sort_in_place(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """ndarray.sort(axis): https://numpy.org/doc/stable/reference/generated/numpy.ndarray.sort.html"""
    axis = options.get("axis", args[0] if args and call.name.endswith("sort") else NONE)
    if axis != NONE:
        call.axis(axis, call.shape(self).rank)
    if isinstance(self, Tensor):
        written(call, self)
    return NONE


@op("numpy.lexsort")
def lexsort(call: Call, keys: Value, axis: Value = LAST) -> Value:
    """numpy.lexsort(keys): https://numpy.org/doc/stable/reference/generated/numpy.lexsort.html"""
    items = call.items(keys)
    if items:
        return array(call, call.shape(items[0]), "int")
    shape = call.shape(keys)
    return call.unranked("int") if not shape.dims else array(call, Shape(shape.dims[1:]), "int")


@op("numpy.searchsorted", "numpy.ndarray.searchsorted")
def searchsorted(call: Call, a: Value, v: Value, side: Value = NONE, sorter: Value = NONE) -> Value:
    """numpy.searchsorted(a, v): https://numpy.org/doc/stable/reference/generated/numpy.searchsorted.html"""
    call.of_rank(call.shape(a), 1, what="a sorted vector")
    return array(call, call.shape(v), "int")


@op("numpy.digitize")
def digitize(call: Call, x: Value, bins: Value, right: Value = FALSE) -> Value:
    """numpy.digitize(x, bins): https://numpy.org/doc/stable/reference/generated/numpy.digitize.html"""
    call.of_rank(call.shape(bins), 1, what="a vector of bins")
    return array(call, call.shape(x), "int")


@op("numpy.unique")
def unique(
    call: Call,
    ar: Value,
    return_index: Value = FALSE,
    return_inverse: Value = FALSE,
    return_counts: Value = FALSE,
    axis: Value = NONE,
    **options: Value,
) -> Value:
    """numpy.unique(ar): https://numpy.org/doc/stable/reference/generated/numpy.unique.html"""
    flags = [call.flag(flag) for flag in (return_index, return_inverse, return_counts)]
    if any(flag is None for flag in flags) or call.is_none(axis) is None:
        return call.unknown()
    flat = call.is_none(axis)
    content = distinct(call, ar.content) if isinstance(ar, Tensor) and ar.content and flat else None
    shape, place = call.shape(ar), None if flat else axis_in(call, axis, call.shape(ar))
    size = shape.size if flat else None if place is None else call.facts.axis(shape, place)
    count = unique_count(call, size) if content is None else Dim.of(len(content))
    found = Shape((count,)) if flat else replace_axis(call, shape, place, count)
    first: Value = Tensor(call.lib, found, element_kind(call, ar), content=content)
    # NumPy 2.0 gave the inverse of several axes their shape; earlier and later ones differ.
    inverse = shape if shape.rank == 1 else call.facts.unknown_shape()
    extra = (Shape((count,)), inverse, Shape((count,)))
    rest = [array(call, shape, "int") for shape, flag in zip(extra, flags, strict=True) if flag]
    return Tup((first, *rest)) if rest else first


@op("numpy.unique_values", "numpy.unique_counts", "numpy.unique_inverse", "numpy.unique_all")
def unique_values(call: Call, x: Value) -> Value:
    """numpy.unique_all(x): https://numpy.org/doc/stable/reference/generated/numpy.unique_all.html"""
    count, shape = unique_count(call, call.shape(x).size), call.shape(x)
    alone = array(call, [count], "int")
    parts = {
        "values": array(call, [count], element_kind(call, x)),
        "indices": alone,
        "inverse_indices": array(call, shape, "int"),
        "counts": alone,
    }
    kind = call.name.rpartition("_")[2]
    wanted = {
        "values": 1,
        "counts": ("values", "counts"),
        "inverse": ("values", "inverse_indices"),
        "all": tuple(parts),
    }
    names = wanted[kind]
    if not isinstance(names, tuple):
        return parts["values"]
    return Tup(tuple(parts[name] for name in names), f"Unique{kind.capitalize()}Result", names)


@op("numpy.setdiff1d")
def setdiff1d(call: Call, ar1: Value, ar2: Value, assume_unique: Value = FALSE) -> Value:
    """numpy.setdiff1d(ar1, ar2): https://numpy.org/doc/stable/reference/generated/numpy.setdiff1d.html

    Of a whole row of places, the others are left.
    """
    kind = element_kind(call, ar1)
    left = _others(call, ar1, ar2)
    return vector(call, kind, ar1) if left is None else Tensor(call.lib, Shape((left,)), kind, places=places_of(ar1))


def places_of(value: Value) -> Dim | None:
    """How long the row is of which an array holds some places, each once."""
    return value.places if isinstance(value, Tensor) else None


def _others(call: Call, whole: Value, some: Value) -> Dim | None:
    """How many places of a row are left without some of them."""
    row, taken = places_of(whole), call.shape(some)
    if row is None or call.shape(whole).dims != (row,) or row != places_of(some) or taken.rank != 1:
        return None
    return row - taken.head[0]


@op("numpy.union1d", "numpy.setxor1d")
def union1d(call: Call, ar1: Value, ar2: Value, assume_unique: Value = FALSE) -> Value:
    """numpy.union1d(ar1, ar2): https://numpy.org/doc/stable/reference/generated/numpy.union1d.html"""
    return vector(call, promote((element_kind(call, ar1), element_kind(call, ar2))))


@op("numpy.intersect1d")
def intersect1d(
    call: Call, ar1: Value, ar2: Value, assume_unique: Value = FALSE, return_indices: Value = FALSE
) -> Value:
    """numpy.intersect1d(ar1, ar2): https://numpy.org/doc/stable/reference/generated/numpy.intersect1d.html"""
    flag = call.flag(return_indices)
    if flag is None:
        return call.unknown()
    found = vector(call, promote((element_kind(call, ar1), element_kind(call, ar2))), ar1)
    places = Tensor(call.lib, found.shape, "int")
    return Tup((found, places, places)) if flag else found


@op("numpy.isin")
def isin(call: Call, element: Value, test_elements: Value, *_: Value, **options: Value) -> Value:
    """numpy.isin(element, test_elements): https://numpy.org/doc/stable/reference/generated/numpy.isin.html"""
    return array(call, call.shape(element), "bool")


@op("numpy.in1d")
def in1d(call: Call, ar1: Value, ar2: Value, *_: Value, **options: Value) -> Value:
    """numpy.in1d(ar1, ar2): https://numpy.org/doc/1.26/reference/generated/numpy.in1d.html"""
    return array(call, ravel(call, call.shape(ar1)), "bool")


@op("numpy.bincount")
def bincount(call: Call, x: Value, weights: Value = NONE, minlength: Value = ZERO) -> Value:
    """numpy.bincount(x, weights): https://numpy.org/doc/stable/reference/generated/numpy.bincount.html"""
    shape = call.of_rank(call.shape(x), 1)
    absent = call.is_none(weights)
    if absent is False:
        _same_length(call, shape, call.of_rank(call.shape(weights), 1, what="weights"))
    return vector(call, "int" if absent else None if absent is None else "float")


def _same_length(call: Call, shape: Shape, weights: Shape) -> None:
    message = f"{call.text}: {shape!r} has {{left}} items, the weights {weights!r} are {{right}}"
    call.require_equal(shape.head[0], weights.head[0], "SHP502", message)


def _edges(call: Call, bins: Value) -> tuple[Dim | None, Dim | None]:
    """The number of bins, and of the edges between them."""
    if isinstance(bins, Const) and isinstance(bins.value, str):
        return None, None
    shape = call.shape(bins)
    if shape.rank == 0 and isinstance(bins, Const | Num | Tensor):
        count = call.dim(bins)
        return (None, None) if count is None else (nonnegative(call, count), count + 1)
    if shape.rank == 1 and shape.dims is not None:
        return shape.dims[0] - 1, shape.dims[0]
    return None, None


@op("numpy.histogram")
def histogram(
    call: Call, a: Value, bins: Value = TEN, range: Value = NONE, density: Value = NONE, weights: Value = NONE
) -> Value:
    """numpy.histogram(a, bins): https://numpy.org/doc/stable/reference/generated/numpy.histogram.html"""
    if call.is_none(weights) is False:
        _require_same_shape(call, call.shape(a), call.shape(weights))
    count, edges = _edges(call, bins)
    return Tup((array(call, [count]), array(call, [edges], _edge_kind(bins))))


def _require_same_shape(call: Call, left: Shape, right: Shape) -> None:
    if left.dims is None or right.dims is None:
        return
    if not left.may_equal(right):
        message = f"{call.text}: weights {right!r} must have the shape of the data, {left!r}"
        call.fail("SHP502", message, *call.notes(*left.dims, *right.dims))


@op("numpy.histogram_bin_edges")
def histogram_bin_edges(call: Call, a: Value, bins: Value = TEN, *_: Value, **options: Value) -> Value:
    """numpy.histogram_bin_edges: https://numpy.org/doc/stable/reference/generated/numpy.histogram_bin_edges.html"""
    return array(call, [_edges(call, bins)[1]], _edge_kind(bins))


def _edge_kind(bins: Value) -> str | None:
    """Edges that are given keep their kind."""
    return "float" if isinstance(bins, Const | Num) else None


@op("numpy.histogram2d")
def histogram2d(call: Call, x: Value, y: Value, bins: Value = TEN, *_: Value, **options: Value) -> Value:
    """numpy.histogram2d(x, y, bins): https://numpy.org/doc/stable/reference/generated/numpy.histogram2d.html"""
    left, right = call.of_rank(call.shape(x), 1), call.of_rank(call.shape(y), 1)
    message = f"{call.text}: x {left!r} and y {right!r} must have the same length: {{left}} and {{right}}"
    call.require_equal(left.head[0], right.head[0], "SHP502", message)
    items = call.items(bins)
    pair = items if items is not None and len(items) == 2 else (bins, bins)
    (rows, xs), (columns, ys) = _edges(call, pair[0]), _edges(call, pair[1])
    return Tup((array(call, [rows, columns]), array(call, [xs]), array(call, [ys])))


@op("numpy.histogramdd")
def histogramdd(call: Call, sample: Value, bins: Value = TEN, *_: Value, **options: Value) -> Value:
    """numpy.histogramdd(sample, bins): https://numpy.org/doc/stable/reference/generated/numpy.histogramdd.html"""
    return Tup((call.unranked(), call.unknown("edges")))
