"""numpy: ranges and grids: arange, linspace and their relatives, meshgrid, mgrid, ogrid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, ONE, TRUE, UNKNOWN, ZERO, Call
from distml.ops.numpy.creation import alone
from distml.ops.numpy.dtypes import kind_of
from distml.ops.numpy.results import array
from distml.ops.registry import op
from distml.ops.rules.elements import held
from distml.ops.rules.ranges import range_content, range_kind, range_largest, range_length, spaced
from distml.ops.rules.sizes import of_items
from distml.shapes import Dim, Shape
from distml.values import Const, Slice, Tensor, Tup

if TYPE_CHECKING:
    from distml.values import Value

FIFTY = Const(50)


@op("numpy.arange")
def arange(
    call: Call, start: Value = NONE, stop: Value = NONE, step: Value = NONE, dtype: Value = NONE, **options: Value
) -> Value:
    """numpy.arange(start, stop, step): https://numpy.org/doc/stable/reference/generated/numpy.arange.html"""
    # Who writes a second argument does not mean None by it.
    if call.is_none(stop):
        start, stop = ZERO, start
    start, step = (ZERO if start == NONE else start), (ONE if step == NONE else step)
    kind = kind_of(call, dtype, range_kind(call, start, stop, step))
    length = range_length(call, start, stop, step)
    content = held(call, range_content(call, start, stop, step), kind, dtype)
    shape = Shape((call.symbol("length") if length is None else length,))
    largest = range_largest(call, start, stop, step, dtype) if content is None and kind == "int" else None
    row = length if kind == "int" and call.const(start, int) == 0 and call.const(step, int) == 1 else None
    return Tensor(call.lib, shape, kind, content=content, largest=largest, places=row)


@op("numpy.linspace", "numpy.logspace", "numpy.geomspace")
def linspace(
    call: Call, start: Value, stop: Value, num: Value = FIFTY, endpoint: Value = TRUE, *rest: Value, **options: Value
) -> Value:
    """numpy.linspace(start, stop, num): https://numpy.org/doc/stable/reference/generated/numpy.linspace.html"""
    extra = {"numpy.linspace": ("retstep",), "numpy.logspace": ("base",)}.get(call.name, ())
    options |= dict(zip((*extra, "dtype", "axis"), rest, strict=False))
    ends = [call.shape(start), call.shape(stop)]
    if call.name == "numpy.logspace" and "base" in options:
        ends.append(call.shape(options["base"]))
    count = of_items(call, [num]).head[0]
    shape = _with_axis(call, call.broadcast(*ends), count, options.get("axis", ZERO))
    dtype, closed = options.get("dtype", NONE), call.flag(options.get("endpoint", endpoint))
    kind = kind_of(call, dtype, "float")
    content = None
    if call.name.endswith("linspace") and shape.rank == 1 and closed is not None:
        content = held(call, spaced(call, start, stop, num, closed), kind, dtype)
    result = Tensor(call.lib, shape, kind, content=content)
    step = call.flag(options.get("retstep", FALSE))
    if step is None:
        return call.unknown()
    return Tup((result, array(call, call.broadcast(*ends), "float"))) if step else result


def _with_axis(call: Call, shape: Shape, count: Dim, axis: Value) -> Shape:
    if shape.dims is None:
        return call.facts.unknown_shape()
    place = call.axis(axis, len(shape.dims), extra=1)
    if place is None:
        return Shape(tuple(call.symbol("size") for _ in range(len(shape.dims) + 1)))
    return Shape((*shape.dims[:place], count, *shape.dims[place:]))


@op("numpy.meshgrid")
def meshgrid(call: Call, *xi: Value, copy: Value = TRUE, sparse: Value = FALSE, indexing: Value = Const("xy")) -> Value:
    """numpy.meshgrid(*xi): https://numpy.org/doc/stable/reference/generated/numpy.meshgrid.html"""
    sizes = [_flat_size(call, x) for x in xi]
    order = call.const(indexing, str)
    apart = call.flag(sparse)
    if order is UNKNOWN or apart is None:
        return Tup(tuple(array(call, [None] * len(xi), call.dtype(x)) for x in xi))
    places = list(range(len(xi)))
    if order == "xy" and len(xi) > 1:
        places[:2] = [1, 0]
    grid = Shape(tuple(sizes[place] for place in places))
    return Tup(tuple(array(call, alone(grid, places[i]) if apart else grid, call.dtype(x)) for i, x in enumerate(xi)))


def _flat_size(call: Call, value: Value) -> Dim:
    size = call.shape(value).size
    return call.symbol("size") if size is None else call.small(size)


@op("numpy.mgrid.__getitem__", "numpy.ogrid.__getitem__")
def mgrid(call: Call, key: Value) -> Value:
    """numpy.mgrid[a:b, c:d]: https://numpy.org/doc/stable/reference/generated/numpy.mgrid.html"""
    if isinstance(key, Slice):
        return array(call, [slice_length(call, key)], slice_kind(call, key))
    items = call.items(key)
    if items is None:
        return call.unknown()
    sizes = [slice_length(call, item) for item in items]
    kinds = {slice_kind(call, item) for item in items}
    kind = kinds.pop() if len(kinds) == 1 else None
    grid = Shape(tuple(call.symbol("size") if size is None else size for size in sizes))
    if call.name.startswith("numpy.mgrid"):
        return array(call, [len(sizes), *grid.head], kind)
    return Tup(tuple(array(call, alone(grid, axis), kind) for axis in range(len(sizes))))


def slice_length(call: Call, item: Value) -> Dim | None:
    """The length of one slice; an imaginary step is the number of points."""
    if not isinstance(item, Slice):
        return None
    step = ONE if item.step == NONE else item.step
    points = call.const(step, complex)
    if points is not UNKNOWN:
        return Dim.of(int(abs(points)))
    return range_length(call, ZERO if item.start == NONE else item.start, item.stop, step)


def slice_kind(call: Call, item: Value) -> str | None:
    """The kind of the range that a slice stands for in `np.mgrid[...]`."""
    if not isinstance(item, Slice):
        return None
    if call.const(item.step, complex) is not UNKNOWN:
        return "float"
    return range_kind(call, item.start, item.stop, ONE if item.step == NONE else item.step)


@op("numpy.bartlett", "numpy.blackman", "numpy.hamming", "numpy.hanning", "numpy.kaiser")
def window(call: Call, M: Value, beta: Value = NONE) -> Value:
    """numpy.hanning(M): https://numpy.org/doc/stable/reference/generated/numpy.hanning.html"""
    number = call.const(M, (int, float))
    if number is not UNKNOWN:
        return array(call, [range_length(call, ZERO, Const(max(number, 0)), ONE)], "float")
    return array(call, [call.dim(M)], "float")


@op("numpy.vander")
def vander(call: Call, x: Value, N: Value = NONE, increasing: Value = FALSE) -> Value:
    """numpy.vander(x, N): https://numpy.org/doc/stable/reference/generated/numpy.vander.html"""
    shape = call.of_rank(call.shape(x), 1)
    absent = call.is_none(N)
    columns = shape.head[0] if absent else None if absent is None else of_items(call, [N]).head[0]
    return array(call, [shape.head[0], columns], call.dtype(x))
