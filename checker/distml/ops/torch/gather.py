"""torch: picking elements by index tensors along an axis, and writing to them.

https://docs.pytorch.org/docs/stable/torch.html: gather, scatter, index_select, take and their like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, Call
from distml.ops.registry import op
from distml.ops.rules import gather as rules
from distml.ops.rules.axes import drop_axis
from distml.ops.rules.index import in_bounds
from distml.ops.rules.index_kinds import require_indices
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.sizes import nonnegative
from distml.ops.torch.dtypes import into, like
from distml.ops.torch.pointwise import written
from distml.ops.torch.reduce import register
from distml.shapes import Dim, Shape
from distml.solver.formula import equal
from distml.values import Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable


def _require_places(call: Call, index: Value, shape: Shape, at: int | None) -> None:
    """The places that are known lie on the axis (SHP302)."""
    if at is not None and shape.dims and isinstance(index, Tensor):
        for item in index.numbers:
            in_bounds(call, item, shape.dims[at], at, shape)


@register("gather")
def gather(
    call: Call, input: Value, dim: Value, index: Value, *, sparse_grad: Value = FALSE, out: Value = NONE
) -> Value:
    """torch.gather(input, dim, index): the result has the index's shape"""
    require_indices(call, index)
    shape, picks = call.shape(input), call.shape(index)
    at = call.axis(dim, shape.rank)
    if picks.size != 0:
        rules.same_rank(call, shape, picks)
        rules.within(call, picks, shape, at, "the index")
        _require_places(call, index, shape, at)
    return into(call, call.tensor(picks, kind_of(input)), out)


def scatter(call: Call, input: Value, dim: Value, index: Value, *args: Value, **named: Value) -> Value:
    """torch.scatter(input, dim, index, src), torch.scatter_add, torch.scatter_reduce"""
    require_indices(call, index)
    shape, picks = call.shape(input), call.shape(index)
    at = call.axis(dim, shape.rank)
    if picks.size is None or picks.size.is_nonzero:
        rules.same_rank(call, shape, picks)
        rules.within(call, picks, shape, at, "the index")
        _require_places(call, index, shape, at)
        source = args[0] if args else named.get("src", NONE)
        if isinstance(source, Tensor) and call.shape(source).rank != 0:
            rules.same_rank(call, picks, call.shape(source), "a source")
            rules.within(call, picks, call.shape(source), None, "the index")
    return like(call, input)


def _index_op(call: Call, input: Value, dim: Value, index: Value, *args: Value, **named: Value) -> Value:
    """torch.index_add(input, dim, index, source), torch.index_copy, torch.index_reduce, torch.index_fill"""
    require_indices(call, index)
    shape, picks = call.shape(input), call.shape(index)
    at = call.axis(dim, shape.rank)
    count = _vector_length(call, picks)
    source = args[0] if args else named.get("source", NONE)
    if "fill" not in call.name and isinstance(source, Tensor) and at is not None:
        _match_source(call, shape, call.shape(source), at, count)
    return like(call, input)


def _vector_length(call: Call, index: Shape) -> Dim | None:
    """How many indices a vector or scalar holds."""
    if index.rank is None:
        return None
    if index.rank > 1:
        call.fail("SHP301", f"{call.text} needs an index that is a vector, gets {index!r}", *call.notes(*index.head))
    return index.head[0] if index.rank == 1 else Dim.of(1)


def _match_source(call: Call, shape: Shape, source: Shape, at: int, count: Dim | None) -> None:
    if not source.dims or not shape.dims:
        return
    rules.same_rank(call, shape, source, "a source")
    for axis, (given, size) in enumerate(zip(source.dims, shape.dims, strict=True)):
        wanted = count if axis == at else size
        if wanted is None:
            continue
        what = "indices" if axis == at else f"of {shape!r}"
        text = f"{call.text}: the source {source!r} has {given} on axis {axis}, needs {wanted} ({what})"
        call.state(equal(given, wanted), "SHP305", text)
        if given.differs(wanted):
            call.fail("SHP305", text, *call.notes(given, wanted))


def _in_place(function: Callable[..., Value]) -> Callable[..., Value]:
    def changed(call: Call, self: Value, dim: Value, index: Value, *args: Value, **named: Value) -> Value:
        """The form in place: torch.Tensor.scatter_(dim, index, src) and its like"""
        function(call, self, dim, index, *args, **named)
        return written(call, self)

    return changed


register("scatter", "scatter_add", "scatter_reduce")(scatter)
register("index_add", "index_copy", "index_reduce", "index_fill")(_index_op)
op(*(f"torch.Tensor.scatter{n}_" for n in ("", "_add", "_reduce")))(_in_place(scatter))
op(*(f"torch.Tensor.index_{n}_" for n in ("add", "copy", "reduce", "fill")))(_in_place(_index_op))


@register("index_select")
def index_select(call: Call, input: Value, dim: Value, index: Value, *, out: Value = NONE) -> Value:
    """torch.index_select(input, dim, index)"""
    require_indices(call, index)
    shape = call.shape(input)
    count = _vector_length(call, call.shape(index))
    at = call.axis(dim, shape.rank)
    _require_places(call, index, shape, at)
    return into(call, call.tensor(rules.selected(call, shape, dim, count), kind_of(input)), out)


@register("take")
def take(call: Call, input: Value, index: Value, *, out: Value = NONE) -> Value:
    """torch.take(input, index): from the flattened input"""
    require_indices(call, index)
    return into(call, call.tensor(call.shape(index), kind_of(input)), out)


@register("take_along_dim")
def take_along_dim(call: Call, input: Value, indices: Value, dim: Value = NONE, *, out: Value = NONE) -> Value:
    """torch.take_along_dim(input, indices, dim=None)"""
    require_indices(call, indices)
    if dim == NONE:
        count = call.shape(indices).size
        return into(call, call.tensor([count], kind_of(input)), out)
    return into(
        call, call.tensor(rules.along_axis(call, call.shape(input), call.shape(indices), dim), kind_of(input)), out
    )


@register("put")
@op("torch.Tensor.put_")
def put(call: Call, input: Value, index: Value, source: Value, accumulate: Value = FALSE) -> Value:
    """torch.Tensor.put_(index, source): as many of both"""
    require_indices(call, index)
    call.require_equal(
        call.shape(index).size,
        call.shape(source).size,
        "SHP305",
        f"{call.text}: {{left}} indices get {{right}} elements",
    )
    return written(call, input) if call.name.endswith("_") else like(call, input)


@op("torch.select", "torch.Tensor.select", "torch.select_copy")
def select(call: Call, input: Value, dim: Value, index: Value) -> Value:
    """torch.select(input, dim, index)"""
    shape = call.shape(input)
    if shape.rank == 0:
        call.fail("SHP301", f"{call.text} needs at least 1 axis, gets a scalar")
    at = call.axis(dim, shape.rank)
    if at is not None:
        in_bounds(call, index, shape.head[at], at, shape)
    if shape.dims is None and call.dim(dim) is None:
        return call.unranked(kind_of(input))
    number = at if at is not None else call.const(dim, int)
    return call.tensor(drop_axis(call, shape, number if isinstance(number, int) else None), kind_of(input))


@op("torch.narrow", "torch.Tensor.narrow", "torch.narrow_copy", "torch.Tensor.narrow_copy")
def narrow(call: Call, input: Value, dim: Value, start: Value, length: Value) -> Value:
    """torch.narrow(input, dim, start, length)"""
    shape, begin = call.shape(input), call.dim(start)
    if shape.rank == 0:
        call.fail("SHP301", f"{call.text} needs at least 1 axis, gets a scalar")
    at, count = call.axis(dim, shape.rank), nonnegative(call, call.dim(length), "the length")
    if at is not None and shape.head and begin is not None:
        size = shape.head[at]
        text = f"{call.text}: {count} from {begin} on do not fit into axis {at} of {shape!r}, which has {size}"
        if begin.low is not None and begin.low >= 0:
            call.require_positive(size - begin - count, "SHP302", text, least=0)
    return like(call, input, rules.selected(call, shape, dim, count))
