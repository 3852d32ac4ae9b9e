"""torch: elements moved or masked out within their tensor, and diagonals.

https://docs.pytorch.org/docs/stable/torch.html: flip, roll, rot90, tril, diag and their like.
"""

from __future__ import annotations

from distml.ops.call import MINUS_ONE, NONE, ONE, UNKNOWN, ZERO, Call
from distml.ops.registry import op
from distml.ops.rules import diagonal as rules
from distml.ops.rules.axes import replace_axis, swap_axes
from distml.ops.rules.kinds import counted, kind_of
from distml.ops.rules.pointwise import fits_into
from distml.ops.rules.slices import slice_length
from distml.ops.torch.dtypes import into, like
from distml.ops.torch.pointwise import written
from distml.ops.torch.reduce import register
from distml.shapes import Shape
from distml.values import Const, Slice, Tup, Value

MINUS_TWO = Const(-2)


def _require_axes(call: Call, input: Value, dims: Value) -> None:
    """The axes named must exist, each once."""
    rank = call.shape(input).rank
    items = call.items(dims)
    places = [call.axis(item, rank) for item in ((dims,) if items is None else items)]
    known = [place for place in places if place is not None]
    if len(set(known)) < len(known):
        call.fail("SHP202", f"{call.text}: an axis is listed twice for {call.show(input)}")


@register("flip")
def flip(call: Call, input: Value, *dims: Value, **named: Value) -> Value:
    """torch.flip(input, dims)"""
    given = tuple(named.values()) or dims
    _require_axes(call, input, given[0] if len(given) == 1 else Tup(given))
    return like(call, input)


@register("fliplr", "flipud")
def fliplr(call: Call, input: Value) -> Value:
    """torch.fliplr(input), torch.flipud(input)"""
    least = 2 if call.name.endswith("lr") else 1
    if call.facts.at_least(call.shape(input), least) is None:
        call.fail("SHP301", f"{call.text} needs at least {least} axes, gets {call.show(input)}")
    return like(call, input)


@register("roll")
def roll(call: Call, input: Value, shifts: Value, dims: Value = NONE) -> Value:
    """torch.roll(input, shifts, dims=None)"""
    rank = call.shape(input).rank
    items = call.items(dims)
    if dims == NONE:
        return like(call, input)
    named, moved = (dims,) if items is None else items, call.items(shifts)
    counted = items is not None or isinstance(dims, Const)
    if (
        counted
        and len(named) != (1 if moved is None else len(moved))
        and (moved is not None or isinstance(shifts, Const))
    ):
        call.fail("SHP202", f"{call.text}: {1 if moved is None else len(moved)} shifts for {len(named)} axes")
    for item in named if rank != 0 else ():
        call.axis(item, rank)
    return like(call, input)


@register("rot90")
def rot90(call: Call, input: Value, k: Value = ONE, dims: Value = Tup((Const(0), Const(1)))) -> Value:
    """torch.rot90(input, k=1, dims=[0, 1])"""
    items = call.items(dims)
    turns = call.const(k, int)
    if items is None or len(items) != 2:
        return call.unranked(kind_of(input))
    shape = call.facts.at_least(call.shape(input), 2)
    if shape is None:
        call.fail("SHP301", f"{call.text} needs at least 2 axes, gets {call.show(input)}")
    _require_axes(call, input, dims)
    swapped = swap_axes(call, shape, items[0], items[1])
    if turns is UNKNOWN:
        return call.any_of(like(call, input, swapped), like(call, input))
    return like(call, input, swapped if turns % 2 else shape)


@register("tril", "triu")
def tril(call: Call, input: Value, diagonal: Value = ZERO, *, out: Value = NONE) -> Value:
    """torch.tril(input, diagonal=0)"""
    _require_matrix(call, input)
    return into(call, like(call, input), out)


@op("torch.Tensor.tril_", "torch.Tensor.triu_")
def tril_in_place(call: Call, self: Value, diagonal: Value = ZERO) -> Value:
    """torch.Tensor.tril_(diagonal=0)"""
    _require_matrix(call, self)
    return written(call, self)


def _require_matrix(call: Call, tensor: Value) -> None:
    if call.facts.at_least(call.shape(tensor), 2) is None:
        call.fail("SHP301", f"{call.text} needs at least 2 axes, gets {call.show(tensor)}")


@register("trace")
def trace(call: Call, input: Value) -> Value:
    """torch.trace(input): the sum of the diagonal of a matrix"""
    call.of_rank(call.shape(input), 2)
    return call.tensor([], counted(kind_of(input)))


@register("diag")
def diag(call: Call, input: Value, diagonal: Value = ZERO, *, out: Value = NONE) -> Value:
    """torch.diag(input, diagonal=0)"""
    return into(call, like(call, input, rules.diag(call, call.shape(input), diagonal)), out)


@register("diagflat")
def diagflat(call: Call, input: Value, offset: Value = ZERO) -> Value:
    """torch.diagflat(input, offset=0)"""
    count = call.shape(input).size
    flat = Shape((call.symbol("size") if count is None else call.small(count),))
    return like(call, input, rules.diag(call, flat, offset))


@register("diagonal")
@op("torch.diagonal_copy")
def diagonal(call: Call, input: Value, offset: Value = ZERO, dim1: Value = ZERO, dim2: Value = ONE) -> Value:
    """torch.diagonal(input, offset=0, dim1=0, dim2=1)"""
    return like(call, input, rules.diagonal(call, call.shape(input), offset, dim1, dim2))


@op("torch.linalg.diagonal")
def linalg_diagonal(
    call: Call, A: Value, *, offset: Value = ZERO, dim1: Value = MINUS_TWO, dim2: Value = MINUS_ONE
) -> Value:
    """torch.linalg.diagonal(A, *, offset=0, dim1=-2, dim2=-1)"""
    return diagonal(call, A, offset, dim1, dim2)


@register("diag_embed")
def diag_embed(
    call: Call, input: Value, offset: Value = ZERO, dim1: Value = MINUS_TWO, dim2: Value = MINUS_ONE
) -> Value:
    """torch.diag_embed(input, offset=0, dim1=-2, dim2=-1)"""
    return like(call, input, rules.embedded(call, call.shape(input), offset, dim1, dim2))


@register("diagonal_scatter")
def diagonal_scatter(
    call: Call, input: Value, src: Value, offset: Value = ZERO, dim1: Value = ZERO, dim2: Value = ONE
) -> Value:
    """torch.diagonal_scatter(input, src, offset=0, dim1=0, dim2=1)"""
    slot = rules.diagonal(call, call.shape(input), offset, dim1, dim2)
    fits_into(call, call.shape(src), slot)
    return like(call, input)


@register("slice_scatter")
def slice_scatter(
    call: Call,
    input: Value,
    src: Value,
    dim: Value = ZERO,
    start: Value = NONE,
    end: Value = NONE,
    step: Value = ONE,
) -> Value:
    """torch.slice_scatter(input, src, dim=0, start=None, end=None, step=1)"""
    shape = call.shape(input)
    at = call.axis(dim, shape.rank)
    if at is not None and shape.head:
        length = slice_length(call, shape.head[at], Slice(start, end, step))
        fits_into(call, call.shape(src), replace_axis(call, shape, at, length))
    return like(call, input)


@register("select_scatter")
def select_scatter(call: Call, input: Value, src: Value, dim: Value, index: Value) -> Value:
    """torch.select_scatter(input, src, dim, index)"""
    shape = call.shape(input)
    at = call.axis(dim, shape.rank)
    if at is not None and shape.dims:
        fits_into(call, call.shape(src), Shape((*shape.dims[:at], *shape.dims[at + 1 :])))
    return like(call, input)
