"""Reshaping: the same elements under other sizes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from distml.ops.rules.axes import axis_in, product, replace_axes
from distml.ops.rules.counts import asked, cancel, divide, refuse_count
from distml.shapes import Dim, Shape, Symbol
from distml.solver.formula import divisible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call
    from distml.values import Value

Sizes = tuple[Dim | None, ...]


def reshape(call: Call, shape: Shape, sizes: Sizes | None) -> Shape:
    """`shape` under new sizes, of which one may be -1 (torch.reshape, numpy.reshape).

    `sizes` is what `Call.var_sizes` gives. Fails (SHP201) where the number of
    elements cannot be the same. That the tensor might be empty is no excuse: a
    size `b` on both sides is cancelled, as if it were not 0.
    """
    if sizes is None:
        return call.facts.unknown_shape()
    shape = call.facts.shape(shape)
    before = None if shape.dims is None else product(call, shape.dims)
    return Shape(_fill(call, shape, before, sizes))


def reshape_whole(call: Call, sizes: Shape) -> Shape:
    """The shape asked for as in `x.view(y.shape[:-1] + (-1, 4))`, where its rank is not known."""
    sizes = call.facts.shape(sizes)
    dims = sizes.head + sizes.tail
    holes = _holes(call, Shape.of(), dims)
    filled = tuple(call.symbol("size") if i in holes else call.facts.nonnegative(d) for i, d in enumerate(dims))
    if holes:
        # What is learned of the tensor is not learned of the sizes: another one fills the -1 otherwise.
        count = len(sizes.head)
        return Shape(filled[:count], call.facts.unknown_shape().middle, filled[count:], sizes.least)
    return sizes.map(filled)


def unflatten(call: Call, shape: Shape, axis: Value, sizes: Sizes | None) -> Shape:
    """One axis unfolded into several (torch.unflatten)."""
    at = axis_in(call, axis, shape)
    if at is None or sizes is None:
        return call.facts.unknown_shape()
    size = call.facts.axis(shape, at)
    if size is None:
        return call.facts.unknown_shape()
    return replace_axes(call, shape, at, 1, _fill(call, Shape((size,)), size, sizes))


def flatten(call: Call, shape: Shape, start: Value, end: Value) -> Shape:
    """The axes from `start` to `end`, both included, made one (torch.flatten)."""
    shape = call.facts.shape(shape)
    first, last = axis_in(call, start, shape), axis_in(call, end, shape)
    if shape.rank == 0:
        return Shape.of(1)
    if first is None or last is None:
        return call.facts.unknown_shape()
    if (first < 0) == (last < 0):
        if first > last:
            call.fail("SHP202", f"{call.text}: the first axis {first} lies behind the last, {last}")
        return _merge(call, shape, first, last - first + 1)
    if last == -1:
        return _merge_to_end(call, shape, first)
    return call.facts.unknown_shape()


def _merge(call: Call, shape: Shape, first: int, count: int) -> Shape:
    call.facts.axis(shape, first + count - 1 if first >= 0 else first)
    shape = call.facts.shape(shape)
    dims = [call.facts.axis(shape, axis) for axis in range(first, first + count)]
    known = [d for d in dims if d is not None]
    return replace_axes(call, shape, first, count, (product(call, known),))


def _merge_to_end(call: Call, shape: Shape, first: int) -> Shape:
    """`flatten(1)` of an unknown rank: two axes are left, the first as it was."""
    if first:
        call.facts.axis(shape, first - 1)
    shape = call.facts.shape(shape)
    if shape.dims is not None:
        return _merge(call, shape, first, len(shape.dims) - first)
    return Shape((*shape.head[:first], call.symbol("features")))


def ravel(call: Call, shape: Shape) -> Shape:
    """All elements on one axis."""
    size = call.facts.shape(shape).size
    return Shape((call.symbol("size") if size is None else call.small(size),))


def _fill(call: Call, shape: Shape, before: Dim | None, sizes: Sizes) -> tuple[Dim, ...]:
    """The sizes with the -1 made what it must be."""
    holes = _holes(call, shape, sizes)
    if len(holes) > 1:
        return tuple(
            call.symbol("size" if d is None else repr(d)) if i in holes or d is None else d for i, d in enumerate(sizes)
        )
    rest = [_as_size(call, d) for i, d in enumerate(sizes) if i not in holes]
    after = None if None in rest else product(call, [d for d in rest if d is not None])
    # A 1 asked for here is an axis made on purpose, as by `unsqueeze`; it comes from this call.
    filled = [call.symbol("size") if d is None else d.at(None) if d == 1 else d for d in rest]
    if not holes:
        if before is not None and after is not None:
            _require_count(call, shape, before, after, sizes)
        return tuple(filled)
    missing = None
    if before is not None and after is not None:
        missing = divide(before, after)
        asked_for = sizes[holes[0]]
        # Of nothing, nothing can be made with any other size, but not with -1.
        if missing is None and ((asked_for is not None and asked_for == -1) or before != 0 or after != 0):
            refuse_count(call, shape, before, after, sizes, holes)
        if call.world.watched:
            text = f"{call.text}: {before} elements are to be a multiple of {after}"
            call.world.demand(divisible(*cancel(before, after)), "SHP201", text)
    filled.insert(holes[0], call.symbol("size") if missing is None else call.small(missing))
    return tuple(filled)


def _as_size(call: Call, dim: Dim | None) -> Dim | None:
    """A number that stands where only a size can stand: it is not negative."""
    return None if dim is None else call.facts.nonnegative(call.facts.dim(dim))


def _holes(call: Call, shape: Shape, sizes: Sizes) -> list[int]:
    """Where the -1 is, or may be: a number nothing is known of may be -1."""
    certain = [i for i, d in enumerate(sizes) if d is not None and (d.constant or 0) < 0]
    if len(certain) > 1:
        call.fail("SHP201", f"{call.text}: only one size can be -1 in {asked(sizes)}")
    if certain:
        wrong = sizes[certain[0]]
        if call.dialect.only_minus_one and wrong is not None and wrong != -1:
            call.fail("SHP603", f"{call.text}: {wrong} is no size in {asked(sizes)}")
        return certain
    open_ends = [i for i, d in enumerate(sizes) if d is None]
    if open_ends:
        return open_ends + [i for i in _doubtful(sizes, ()) if i not in open_ends]
    return _doubtful(sizes, shape.dims or ())


def _doubtful(sizes: Sizes, present: Sequence[Dim]) -> list[int]:
    """Entries that may be -1; one that is a size of the tensor itself is none."""
    found = []
    for i, dim in enumerate(sizes):
        if dim is not None and (dim.low is None or dim.low < 0) and dim not in present:
            found.append(i)
    return [i for i in found if not _impossible(sizes, i)]


def _impossible(sizes: Sizes, hole: int) -> bool:
    """Whether the entry at `hole` being -1 contradicts the others being sizes above 0."""
    assumed: dict[Symbol, Dim] = {}
    entry = sizes[hole]
    lone = None if entry is None else entry.lone
    for i, dim in enumerate(sizes):
        symbol = None if dim is None or i == hole else dim.lone
        if symbol is not None and symbol.low is None:
            assumed[symbol] = Dim.symbol(Symbol(symbol.name, symbol.serial, 1))
    if entry is None:
        return False
    low = entry.substitute(assumed).low
    if low is not None and low >= 0:
        return True
    if lone is None:
        return False
    others = (d for i, d in enumerate(sizes) if d is not None and i != hole)
    highs = ((-d.substitute({lone: Dim.of(-1)})).low for d in others)
    return any(high is not None and high >= 0 for high in highs)


def _require_count(call: Call, shape: Shape, before: Dim, after: Dim, sizes: Sizes) -> None:
    before, after = call.facts.dim(before), call.facts.dim(after)
    left, right = cancel(before, after)
    if (left - right).is_dynamic and not _divides(shape.dims or (), sizes):
        refuse_count(call, shape, before, after, sizes, [])
    if not call.equate(left, right, "SHP201", f"{call.text}: {before} elements, {after} are asked for"):
        refuse_count(call, shape, before, after, sizes, [])


def _divides(old: Sequence[Dim], new: Sizes) -> bool:
    """Whether the known sizes leave a whole number for those that are Dyn, as far as that is only on one side.

    Gradual types, rule t-reshape-g: what is known of one side divides the other.
    """
    sides = (old, [d for d in new if d is not None])
    if any(d.constant is None and not d.is_dynamic for side in sides for d in side):
        return True
    before, after = (prod(1 if d.constant is None else d.constant for d in side) for side in sides)
    old_is_open, new_is_open = (any(d.is_dynamic for d in side) for side in sides)
    if (old_is_open and new_is_open) or 0 in (before, after):
        return True
    return after % before == 0 if old_is_open else before % after == 0
