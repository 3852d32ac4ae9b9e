"""numpy: vectors as signals: convolution, differences, interpolation, padding, statistics.

(https://numpy.org/doc/stable/reference/routines.math.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, TRUE, UNKNOWN, Call
from distml.ops.numpy.array import shape_of_nested
from distml.ops.numpy.results import array
from distml.ops.registry import op
from distml.ops.rules.axes import axis_in, drop_axis, pad_front, replace_axis
from distml.ops.rules.kinds import element_kind, floating, promote
from distml.ops.rules.linalg import smaller
from distml.ops.rules.view import ravel
from distml.ops.semantics.window import Padding, Window, places
from distml.shapes import Dim, Shape
from distml.values import Const, Num

if TYPE_CHECKING:
    from distml.values import Value

_MODES: dict[str | int, Padding] = {"full": "full", "f": "full", 2: "full", "same": "same", "s": "same", 1: "same"}
_MODES |= {"valid": "valid", "v": "valid", 0: "valid"}
FULL, VALID, ONE, LAST = Const("full"), Const("valid"), Const(1), Const(-1)


@op("numpy.convolve")
def convolve(call: Call, a: Value, v: Value, mode: Value = FULL) -> Value:
    """numpy.convolve(a, v, mode): https://numpy.org/doc/stable/reference/generated/numpy.convolve.html"""
    first, second = (pad_front(call, call.shape(x), 1) for x in (a, v))
    sizes = [call.of_rank(shape, 1, what="vectors").head[0] for shape in (first, second)]
    kind = promote((element_kind(call, a), element_kind(call, v)))
    return array(call, [_convolved(call, sizes[0], sizes[1], call.const(mode))], kind)


@op("numpy.correlate")
def correlate(call: Call, a: Value, v: Value, mode: Value = VALID) -> Value:
    """numpy.correlate(a, v, mode): https://numpy.org/doc/stable/reference/generated/numpy.correlate.html"""
    return convolve(call, a, v, mode)


def _convolved(call: Call, left: Dim, right: Dim, mode: object) -> Dim | None:
    least = smaller(call, left, right)
    most = left if least is right else right if least is left else call.symbol("size")
    padding = _MODES.get(mode) if isinstance(mode, str | int) else None
    if padding is None:
        return None
    if padding == "full" or least in (left, right) or padding == "same":
        # The longer one is the signal; where it is not known, "full" does not depend on it.
        signal, kernel = (left, right) if least not in (left, right) and padding == "full" else (most, least)
        return places(call, signal, Window(kernel, padding=padding), repr(Shape((signal,))))
    # Which of the two is the kernel is not known; a written size most likely is.
    if right.constant is not None and left.constant is None:
        return left - right + 1
    return call.symbol("size")


@op("numpy.interp")
def interp(call: Call, x: Value, xp: Value, fp: Value, *_: Value, **options: Value) -> Value:
    """numpy.interp(x, xp, fp): https://numpy.org/doc/stable/reference/generated/numpy.interp.html"""
    points, values = call.of_rank(call.shape(xp), 1, what="xp"), call.of_rank(call.shape(fp), 1, what="fp")
    message = f"{call.text}: xp {points!r} and fp {values!r} must have the same length: {{left}} and {{right}}"
    call.require_equal(points.head[0], values.head[0], "SHP502", message)
    return array(call, call.shape(x), floating(element_kind(call, fp)))


@op("numpy.diff")
def diff(
    call: Call, a: Value, n: Value = ONE, axis: Value = LAST, prepend: Value = NONE, append: Value = NONE
) -> Value:
    """numpy.diff(a, n, axis): https://numpy.org/doc/stable/reference/generated/numpy.diff.html"""
    shape, kind = call.shape(a), element_kind(call, a)
    if shape.rank == 0:
        call.fail("SHP301", f"{call.text}: needs at least 1 axis, gets a scalar")
    at, times = axis_in(call, axis, shape), call.const(n, int)
    size = None if at is None else call.facts.axis(shape, at)
    shape = call.facts.shape(shape)
    for extra in (prepend, append):
        added = _added(call, extra, at)
        size = None if size is None or added is None else size + added
    if size is None or times is UNKNOWN:
        return array(call, replace_axis(call, shape, at, None), kind)
    left = size - times
    constant = left.constant
    return array(
        call, replace_axis(call, shape, at, Dim.of(0) if constant is not None and constant < 0 else left), kind
    )


def _added(call: Call, extra: Value, axis: int | None) -> Dim | None:
    """What `prepend=` or `append=` adds to the axis."""
    if call.is_none(extra):
        return Dim.of(0)
    shape = call.shape(extra)
    if shape.rank == 0:
        return Dim.of(1)
    return None if axis is None or shape.dims is None else call.facts.axis(shape, axis)


@op("numpy.ediff1d")
def ediff1d(call: Call, ary: Value, to_end: Value = NONE, to_begin: Value = NONE) -> Value:
    """numpy.ediff1d(ary): https://numpy.org/doc/stable/reference/generated/numpy.ediff1d.html"""
    size: Dim | None = ravel(call, call.shape(ary)).head[0]
    size = None if size is None or size == 0 else size - 1
    for extra in (to_end, to_begin):
        count = Dim.of(0) if call.is_none(extra) else call.shape(extra).size
        size = None if size is None or count is None else size + count
    return array(call, [size], element_kind(call, ary))


@op("numpy.gradient")
def gradient(call: Call, f: Value, *varargs: Value, axis: Value = NONE, edge_order: Value = ONE) -> Value:
    """numpy.gradient(f): https://numpy.org/doc/stable/reference/generated/numpy.gradient.html"""
    shape = call.shape(f)
    absent = call.is_none(axis)
    single = absent is False and call.items(axis) is None and call.const(axis, int) is not UNKNOWN
    if single:
        call.axis(axis, shape.rank)
    if shape.rank is None or absent is None:
        return call.unknown() if not single else array(call, shape, "float")
    result = array(call, shape, None)
    count = 1 if single else shape.rank if absent else len(call.items(axis) or ())
    # A tuple since NumPy 2, a list before; either unpacks.
    return result if count == 1 else call.list_of([result] * count)


@op("numpy.trapezoid", "numpy.trapz")
def trapezoid(call: Call, y: Value, x: Value = NONE, dx: Value = ONE, axis: Value = LAST) -> Value:
    """numpy.trapezoid(y, x): https://numpy.org/doc/stable/reference/generated/numpy.trapezoid.html"""
    shape = call.shape(y)
    at = axis_in(call, axis, shape)
    if call.is_none(x) is False and at is not None:
        points, size = call.shape(x), call.facts.axis(shape, at)
        if points.rank == 1 and points.dims is not None and size is not None:
            _require_points(call, points.dims[0], size, call.show(y))
    elif call.is_none(x) is None:
        return call.unranked()
    elif shape.rank == 0:
        call.fail("SHP301", f"{call.text}: needs at least 1 axis, gets a scalar")
    return array(call, drop_axis(call, shape, at), None)


def _require_points(call: Call, points: Dim, size: Dim, shown: str) -> None:
    # The distances between points broadcast with the sums of neighbors.
    if points.differs(size) and points.differs(2) and size.differs(2):
        call.fail("SHP102", f"{call.text}: {points} points for an axis of {size} ({shown})", *call.notes(points, size))


@op("numpy.cov", "numpy.corrcoef")
def cov(call: Call, m: Value, y: Value = NONE, rowvar: Value = TRUE, *_: Value, **options: Value) -> Value:
    """numpy.cov(m): https://numpy.org/doc/stable/reference/generated/numpy.cov.html"""
    m = options.pop("x", m)
    shape, rows = call.of_rank(call.shape(m), 0, 1, 2), call.flag(rowvar)
    if shape.dims is None or rows is None or not call.is_none(y):
        return call.unranked()
    if len(shape.dims) < 2:
        return array(call, Shape.of())
    count = shape.dims[0] if rows else shape.dims[1]
    # One variable gives a number.
    if not count.differs(1):
        return array(call, Shape.of()) if count == 1 else call.unranked()
    return array(call, [count, count])


@op("numpy.pad")
def pad(call: Call, *args: Value, **kwargs: Value) -> Value:
    """numpy.pad(array, pad_width): https://numpy.org/doc/stable/reference/generated/numpy.pad.html"""
    given = dict(zip(("array", "pad_width"), args, strict=False)) | kwargs
    return _padded(call, given["array"], given["pad_width"])


def _padded(call: Call, value: Value, widths: Value) -> Value:
    shape, kind = shape_of_nested(call, value), element_kind(call, value)
    if shape.dims is None:
        return call.unranked(kind)
    added = _widths(call, widths, len(shape.dims))
    dims: list[Dim | None] = []
    for size, (before, after) in zip(shape.dims, added, strict=True):
        for width in (before, after):
            if width is not None and (width.constant or 0) < 0:
                call.fail("SHP603", f"{call.text}: a width cannot be negative, gets {width}")
        dims.append(None if before is None or after is None else size + before + after)
    return array(call, dims, kind)


Widths = list[tuple[Dim | None, Dim | None]]


def _widths(call: Call, value: Value, rank: int) -> Widths:
    """What is added before and behind each axis: one number, (before, after), or a pair for each axis."""
    unknown: Widths = [(None, None)] * rank
    if isinstance(value, Const | Num):
        width = call.dim(value)
        return [(width, width)] * rank
    items = call.items(value)
    if items is None:
        return unknown
    shape = shape_of_nested(call, value)
    if shape.dims is not None and not _broadcasts(shape.dims, rank):
        call.fail("SHP102", f"{call.text}: widths of shape {shape!r} do not fit an array of {rank} axes")
    if shape.rank == 1 and len(items) in (1, 2):
        pair = (call.dim(items[0]), call.dim(items[-1]))
        return [pair] * rank
    rows = [call.items(item) for item in items]
    pairs: Widths = []
    for row in rows:
        if not row:
            return unknown
        pairs.append((call.dim(row[0]), call.dim(row[-1])))
    return pairs * rank if len(pairs) == 1 else pairs if len(pairs) == rank else unknown


def _broadcasts(dims: tuple[Dim, ...], rank: int) -> bool:
    """Whether widths of this shape can be stretched to (rank, 2)."""
    if len(dims) > 2 or (dims and dims[-1].differs(1) and dims[-1].differs(2)):
        return False
    return len(dims) < 2 or not (dims[0].differs(1) and dims[0].differs(rank))
