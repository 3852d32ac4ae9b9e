"""Fourier transforms: which sizes they change, and to what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.axes import axis_in, replace_axis
from distml.ops.rules.sizes import nonnegative
from distml.shapes import Dim, Shape
from distml.values import Const

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value

HALVING = ("rfft", "ihfft")
"""Transforms of real input keep half of a symmetric result."""

DOUBLING = ("irfft", "hfft")
"""Transforms to real output read such a half."""


def family(name: str) -> str:
    """The one-dimensional transform behind a name: "rfft" of "torch.fft.rfftn"."""
    return name.rpartition(".")[2].rstrip("n2").removesuffix("_") or "fft"


def result_kind(name: str) -> str:
    """ "float" for what ends in real numbers, else "complex"."""
    return "float" if family(name) in DOUBLING else "complex"


def transform(call: Call, shape: Shape, count: Value, axis: Value) -> Shape:
    """One axis transformed; `count` is the number of points, None for all there are."""
    at = axis_in(call, axis, shape)
    if at is None:
        return replace_axis(call, shape, None, None)
    return _one(call, shape, at, count, family(call.name))


def _one(call: Call, shape: Shape, axis: int, count: Value, kind: str) -> Shape:
    if call.facts.shape(shape).rank == 0:
        call.fail("SHP301", f"{call.text} needs at least 1 axis, gets a scalar")
    size = call.facts.axis(shape, axis)
    return replace_axis(call, shape, axis, _points(call, size, count, kind))


def _points(call: Call, size: Dim | None, count: Value, kind: str) -> Dim | None:
    """The size of the result along one axis."""
    given = call.is_none(count)
    points = size if given or call.const(count) == -1 else call.dim(count) if given is False else None
    if points is None:
        return None
    if given is False:
        points = nonnegative(call, points, "the number of points") if points.constant != -1 else points
    elif kind in DOUBLING:
        points = (points - 1) * 2
    call.require_positive(points, "SHP403", f"{call.text}: a transform of {{dim}} points")
    return points // 2 + 1 if kind in HALVING else points


def transforms(call: Call, shape: Shape, counts: Value, axes: Value) -> Shape:
    """Several axes transformed: the last of them alone is halved or doubled.

    Without `axes` the last ones, as many as there are counts; without both, all.
    """
    shape = call.facts.shape(shape)
    listed = call.items(counts)
    places = _places(call, shape, None if listed is None else len(listed), axes, call.is_none(counts))
    if places is None or (listed is None and call.is_none(counts) is not True):
        return replace_axis(call, shape, None, None)
    if listed is not None and len(listed) != len(places):
        call.fail("SHP301", f"{call.text}: {len(listed)} sizes for {len(places)} axes")
    if shape.rank is not None and len({p % max(shape.rank, 1) for p in places}) < len(places):
        # NumPy transforms an axis twice, torch refuses: only the rank is kept.
        return replace_axis(call, shape, None, None)
    kind = family(call.name)
    whole = {"rfft": "fft", "irfft": "fft", "hfft": "fft", "ihfft": "fft"}.get(kind, kind)
    for number, place in enumerate(places):
        count = Const(None) if listed is None else listed[number]
        shape = _one(call, shape, place, count, kind if number == len(places) - 1 else whole)
    return shape


def _places(call: Call, shape: Shape, count: int | None, axes: Value, unsized: bool | None) -> list[int] | None:
    absent = call.is_none(axes)
    if absent is None:
        return None
    if not absent:
        items = call.items(axes)
        found = [axis_in(call, axis, shape) for axis in ((axes,) if items is None else items)]
        known = [axis for axis in found if axis is not None]
        return known if len(known) == len(found) else None
    if count is not None:
        if call.facts.at_least(shape, count) is None:
            call.fail("SHP301", f"{call.text}: {count} sizes, but {call.show(shape)} has fewer axes")
        return list(range(-count, 0))
    return list(range(shape.rank)) if unsized and shape.rank is not None else None
