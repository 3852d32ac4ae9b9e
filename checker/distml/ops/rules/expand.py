"""Repeating without and with copies: expand, broadcast_to, tile, repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from distml.ops.rules.axes import axis_in, product, replace_axis
from distml.shapes import Dim, Shape
from distml.solver.formula import either, equal
from distml.values import Const, Num

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value

Sizes = tuple[Dim | None, ...]


def expand(call: Call, shape: Shape, sizes: Sizes | None) -> Shape:
    """The axes of size 1 made as large as asked, new ones in front (torch.expand, broadcast_to).

    In torch -1 keeps a size. Fails with SHP206.
    """
    if sizes is None:
        return call.facts.unknown_shape()
    shape = call.facts.shape(shape)
    if shape.rank is None and shape.least <= len(sizes):
        return _onto_unranked(call, shape, sizes)
    if shape.dims is None or len(shape.dims) > len(sizes):
        call.fail(
            "SHP206",
            f"{call.text}: {len(sizes)} sizes given, {call.show(shape)} has more axes",
            *call.notes(*shape.head),
        )
    new = len(sizes) - len(shape.dims)
    dims = [_new_axis(call, shape, size, i) for i, size in enumerate(sizes[:new])]
    dims += [_stretch(call, shape, d, s) for d, s in zip(shape.dims, sizes[new:], strict=True)]
    return Shape(tuple(dims))


def expand_whole(call: Call, sizes: Shape) -> Shape:
    """The shape asked for as in `x.expand(y.shape[:-1] + (-1,))`, where its rank is not known."""
    sizes = call.facts.shape(sizes)
    return sizes.map(_free(call, size) for size in sizes.head + sizes.tail)


def _onto_unranked(call: Call, shape: Shape, sizes: Sizes) -> Shape:
    tail = shape.tail[len(shape.tail) - len(sizes) :] if len(shape.tail) > len(sizes) else shape.tail
    free = len(sizes) - len(tail)
    dims = [_free(call, size) for size in sizes[:free]]
    dims += [_stretch(call, shape, d, s) for d, s in zip(tail, sizes[free:], strict=True)]
    return Shape(tuple(dims))


def _free(call: Call, size: Dim | None) -> Dim:
    """A size whose old one is not known: -1 keeps that."""
    if size is None or size.low is None or size.low < 0:
        return call.symbol("size")
    return size


def _new_axis(call: Call, shape: Shape, size: Dim | None, place: int) -> Dim:
    if size is None:
        return call.symbol("size")
    size = call.facts.nonnegative(size)
    if (size.constant or 0) < 0:
        call.fail(
            "SHP206",
            f"{call.text}: {size} keeps a size, but axis {place} is new: {call.show(shape)} lacks it",
        )
    return size


def _stretch(call: Call, shape: Shape, old: Dim, size: Dim | None) -> Dim:
    if size is None:
        return call.symbol("size") if not old.differs(1) else old
    if call.dialect.minus_one_keeps and size == -1:
        return old
    if old == 1:
        return _free(call, size) if call.dialect.minus_one_keeps else size
    if not old.differs(1):
        if call.world.watched and size.low is not None and size.low >= 0:
            text = f"{call.text}: an axis of size {old} is to become {size}"
            call.world.demand(either(equal(old, size), equal(old, Dim.of(1))), "SHP206", text)
        return old if size == old else _free(call, size)
    if (size.low is None or size.low < 0) and size.constant is None:
        # It may be -1; otherwise it is the old size.
        return old
    if not call.equate(old, size, "SHP206", f"{call.text}: an axis of size {old} is to become {size}"):
        call.fail(
            "SHP206",
            f"{call.text}: an axis of size {old} cannot become {size} ({call.show(shape)})",
            *call.notes(old, size),
            hint="only an axis of size 1 can be expanded",
        )
    return old


def tile(call: Call, shape: Shape, counts: Sizes | None, strict: bool = False) -> Shape:
    """Every axis repeated as a block (torch.tile, numpy.tile; torch.Tensor.repeat is `strict`:
    it needs at least as many counts as there are axes)."""
    shape = call.facts.shape(shape)
    if counts is None:
        return call.facts.unknown_shape()
    if shape.dims is None:
        if strict and shape.least > len(counts):
            _too_few(call, shape, counts)
        return _tile_unranked(call, shape, counts, strict)
    if strict and len(shape.dims) > len(counts):
        _too_few(call, shape, counts)
    rank = max(len(shape.dims), len(counts))
    dims = (Dim.of(1),) * (rank - len(shape.dims)) + shape.dims
    counts = (Dim.of(1),) * (rank - len(counts)) + counts
    return Shape(tuple(_times(call, d, n) for d, n in zip(dims, counts, strict=True)))


def _too_few(call: Call, shape: Shape, counts: Sizes) -> NoReturn:
    call.fail(
        "SHP301",
        f"{call.text}: {len(counts)} counts given, {call.show(shape)} needs one for each axis",
        *call.notes(*shape.head),
    )


def _tile_unranked(call: Call, shape: Shape, counts: Sizes, strict: bool) -> Shape:
    known = min(len(counts), len(shape.tail))
    pairs = zip(shape.tail[len(shape.tail) - known :], counts[len(counts) - known :], strict=True)
    tail = tuple(_times(call, d, n) for d, n in pairs)
    if strict:
        return Shape((*(call.symbol("size") for _ in counts[known:]), *tail))
    return Shape((), call.facts.unknown_shape().middle, tail, max(shape.least, len(counts)))


def _times(call: Call, dim: Dim, count: Dim | None) -> Dim:
    if count is None:
        return call.symbol("size")
    result = dim * call.facts.nonnegative(count)
    if (result.constant or 0) < 0:
        call.fail("SHP603", f"{call.text}: an axis of {dim} cannot be repeated {count} times")
    return call.small(result)


def repeat_elements(call: Call, shape: Shape, repeats: Value, axis: Value) -> Shape:
    """Every element repeated along an axis, of the flattened array for None
    (torch.repeat_interleave, numpy.repeat)."""
    shape = call.facts.shape(shape)
    if call.is_none(axis):
        total = shape.size
        return Shape((_repeated(call, total, repeats),))
    at = axis_in(call, axis, shape)
    if at is None or shape.rank == 0:
        return replace_axis(call, shape, None, None) if shape.rank else call.facts.unknown_shape()
    return replace_axis(call, shape, at, _repeated(call, call.facts.axis(shape, at), repeats))


def _repeated(call: Call, size: Dim | None, repeats: Value) -> Dim:
    counts = call.items(repeats)
    if counts is not None and len(counts) != 1:
        sizes = [call.dim(c) for c in counts]
        call.require_equal(
            size,
            Dim.of(len(sizes)),
            "SHP201",
            f"{call.text}: {len(sizes)} counts for an axis of size {{left}}",
        )
        known = [s for s in sizes if s is not None]
        return sum(known, Dim.of(0)) if len(known) == len(sizes) else call.symbol("size")
    single = repeats if counts is None else counts[0]
    count = call.dim(single) if isinstance(single, Const | Num) else None
    if size is None or count is None:
        # What is no plain number may be one count for each element.
        return call.symbol("size")
    return product(call, (size, call.facts.nonnegative(count)))
