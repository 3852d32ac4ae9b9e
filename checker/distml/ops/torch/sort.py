"""torch: sorting, searching, counting.

https://docs.pytorch.org/docs/stable/torch.html#comparison-ops: sort, topk, unique, nonzero, histogram.
"""

from __future__ import annotations

from itertools import pairwise

from distml.ops.call import FALSE, MINUS_ONE, NONE, TRUE, ZERO, Call
from distml.ops.registry import op
from distml.ops.rules import sort as rules
from distml.ops.rules.axes import replace_axis
from distml.ops.rules.elements import distinct, few, of_two
from distml.ops.rules.kinds import if_float, kind_of
from distml.ops.torch.blend import along, positions
from distml.ops.torch.dtypes import into, like
from distml.ops.torch.reduce import pair, register
from distml.shapes import Dim, Shape
from distml.values import Const, Tensor, Tup, Value


@register("sort")
def sort(
    call: Call,
    input: Value,
    dim: Value = MINUS_ONE,
    descending: Value = FALSE,
    *,
    stable: Value = FALSE,
    out: Value = NONE,
    axis: Value = NONE,
) -> Value:
    """torch.sort(input, dim=-1, descending=False): values and indices"""
    along(call, input, dim if axis == NONE else axis, None)
    return pair(call, "sort", call.shape(input), kind_of(input))


@register("argsort")
def argsort(
    call: Call,
    input: Value,
    dim: Value = MINUS_ONE,
    descending: Value = FALSE,
    *,
    stable: Value = FALSE,
    axis: Value = NONE,
) -> Value:
    """torch.argsort(input, dim=-1, descending=False)"""
    return along(call, input, dim if axis == NONE else axis, "int")


@register("msort")
def msort(call: Call, input: Value, *, out: Value = NONE) -> Value:
    """torch.msort(input)"""
    return into(call, like(call, input), out)


@register("topk")
def topk(
    call: Call,
    input: Value,
    k: Value,
    dim: Value = MINUS_ONE,
    largest: Value = TRUE,
    sorted: Value = TRUE,
    *,
    out: Value = NONE,
) -> Value:
    """torch.topk(input, k, dim=-1): values and indices"""
    return pair(call, "topk", rules.top(call, call.shape(input), k, dim), kind_of(input))


@register("unique", "unique_consecutive")
def unique(
    call: Call,
    input: Value,
    sorted: Value = TRUE,
    return_inverse: Value = FALSE,
    return_counts: Value = FALSE,
    dim: Value = NONE,
) -> Value:
    """torch.unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None)"""
    if call.name.endswith("consecutive"):
        # Its parameters are return_inverse, return_counts, dim.
        return _unique(call, input, return_inverse, return_counts, dim) if sorted == TRUE else call.unknown()
    return _unique(call, input, return_inverse, return_counts, dim)


def _unique(call: Call, input: Value, inverse: Value, counts: Value, dim: Value) -> Value:
    shape = call.shape(input)
    wants = [call.flag(inverse), call.flag(counts)]
    whole = call.is_none(dim)
    if None in wants or whole is None:
        return call.unknown()
    at = None if whole else call.axis(dim, shape.rank)
    size = shape.size if whole else shape.head[at] if at is not None and shape.head else None
    content = distinct(call, input.content) if isinstance(input, Tensor) and input.content and whole else None
    content = None if call.name.endswith("consecutive") else content
    number = rules.unique_count(call, size) if content is None else Dim.of(len(content))
    found = Shape((number,)) if whole else replace_axis(call, shape, at, number) if shape.dims else shape
    items: list[Value] = [Tensor(call.lib, found, kind_of(input), content=content)]
    if wants[0]:
        items.append(call.tensor(shape if whole else [size], "int"))
    if wants[1]:
        items.append(call.tensor([number], "int"))
    return items[0] if len(items) == 1 else Tup(tuple(items))


@register("nonzero")
def nonzero(call: Call, input: Value, *, out: Value = NONE, as_tuple: Value = FALSE) -> Value:
    """torch.nonzero(input, *, as_tuple=False): [count, rank], or one vector an axis"""
    tuple_wanted = call.flag(as_tuple)
    if tuple_wanted is None:
        return call.unknown()
    if tuple_wanted:
        return positions(call, input)
    known = call.shape(input).rank
    return into(call, call.tensor([call.chosen(input), known], "int"), out)


@register("argwhere")
def argwhere(call: Call, input: Value) -> Value:
    """torch.argwhere(input): [count, rank]"""
    return call.tensor([call.chosen(input), call.shape(input).rank], "int")


@register("nonzero_static")
def nonzero_static(call: Call, input: Value, *, size: Value, fill_value: Value = MINUS_ONE) -> Value:
    """torch.nonzero_static(input, *, size)"""
    return call.tensor([call.dim(size), call.shape(input).rank], "int")


@op("torch.searchsorted")
def searchsorted(
    call: Call,
    sorted_sequence: Value,
    input: Value,
    *,
    out_int32: Value = FALSE,
    right: Value = FALSE,
    side: Value = NONE,
    out: Value = NONE,
    sorter: Value = NONE,
) -> Value:
    """torch.searchsorted(sorted_sequence, input)"""
    return into(call, call.tensor(rules.searched(call, call.shape(sorted_sequence), call.shape(input)), "int"), out)


@op("torch.bucketize")
def bucketize(
    call: Call,
    input: Value,
    boundaries: Value,
    *,
    out_int32: Value = FALSE,
    right: Value = FALSE,
    out: Value = NONE,
) -> Value:
    """torch.bucketize(input, boundaries): boundaries are a vector"""
    call.of_rank(call.shape(boundaries), 1, what="boundaries")
    return into(call, call.tensor(call.shape(input), "int"), out)


@register("histc")
def histc(
    call: Call, input: Value, bins: Value = Const(100), min: Value = ZERO, max: Value = ZERO, *, out: Value = NONE
) -> Value:
    """torch.histc(input, bins=100)"""
    return into(call, call.tensor([call.dim(bins)], kind_of(input)), out)


@register("histogram")
def histogram(call: Call, input: Value, bins: Value, **options: Value) -> Value:
    """torch.histogram(input, bins): the histogram and the edges, one more"""
    count = call.dim(bins)
    edges = call.shape(bins)
    if edges.rank == 1:
        count = edges.head[0] - 1
    items = call.tensor([count], "float"), call.tensor([None if count is None else count + 1], "float")
    return Tup(items, "torch.return_types.histogram", ("hist", "bin_edges"))


@register("bincount")
def bincount(call: Call, input: Value, weights: Value = NONE, minlength: Value = ZERO) -> Value:
    """torch.bincount(input, weights=None, minlength=0): the greatest number decides the length"""
    shape = call.of_rank(call.shape(input), 1)
    if weights != NONE and call.shape(weights).rank == 1:
        call.require_equal(
            shape.head[0],
            call.shape(weights).head[0],
            "SHP102",
            f"{call.text}: {{left}} numbers, {{right}} weights",
        )
    return call.tensor([None], "int" if weights == NONE else "float")


@op("torch.isin")
def isin(call: Call, elements: Value, test_elements: Value, **options: Value) -> Value:
    """torch.isin(elements, test_elements)"""
    return call.tensor(call.shape(elements), "bool")


@register("diff")
def diff(
    call: Call,
    input: Value,
    n: Value = Const(1),
    dim: Value = MINUS_ONE,
    prepend: Value = NONE,
    append: Value = NONE,
    *,
    out: Value = NONE,
) -> Value:
    """torch.diff(input, n=1, dim=-1): n fewer on the axis"""
    shape = call.shape(input)
    if shape.rank == 0:
        call.fail("SHP301", f"{call.text} needs at least 1 axis, gets a scalar")
    at = call.axis(dim, shape.rank)
    times = call.const(n, int)
    plain = prepend == NONE and append == NONE and isinstance(times, int)
    size = shape.head[at] if at is not None else None
    left: Dim | None = None
    if plain and size is not None:
        left = size - times if size.constant is None else Dim.of(max(size.constant - times, 0))
    if not shape.dims:
        return call.unranked(kind_of(input))
    content = input.content if isinstance(input, Tensor) and plain and times == 1 and shape.rank == 1 else None
    steps = few(of_two(call, "subtract", b, a) for a, b in pairwise(content or ()))
    return Tensor(call.lib, replace_axis(call, shape, at, left), kind_of(input), content=steps)


@register("renorm")
def renorm(call: Call, input: Value, p: Value, dim: Value, maxnorm: Value, *, out: Value = NONE) -> Value:
    """torch.renorm(input, p, dim, maxnorm)"""
    return along(call, input, dim, kind_of(input))


@op("torch.gradient")
def gradient(call: Call, input: Value, *, spacing: Value = NONE, dim: Value = NONE, edge_order: Value = NONE) -> Value:
    """torch.gradient(input): one tensor an axis"""
    shape = call.shape(input)
    items = call.items(dim)
    for item in () if dim == NONE else (dim,) if items is None else items:
        call.axis(item, shape.rank)
    if dim == NONE:
        count = shape.rank
    else:
        count = len(items) if items is not None else 1 if call.dim(dim) is not None else None
    return call.unknown() if count is None else Tup((call.tensor(shape, if_float(kind_of(input))),) * count)


@op("torch.trapezoid", "torch.trapz")
def trapezoid(call: Call, y: Value, x: Value = NONE, *, dx: Value = NONE, dim: Value = MINUS_ONE) -> Value:
    """torch.trapezoid(y, x=None, *, dim=-1)"""
    shape = call.shape(y)
    at = call.axis(dim, shape.rank)
    spaced = NONE if x == NONE else call.shape(x)
    if shape.dims is None or at is None or (isinstance(spaced, Shape) and spaced.rank != 1 and spaced != shape):
        return call.unranked(if_float(kind_of(y)))
    return call.tensor(Shape((*shape.dims[:at], *shape.dims[at + 1 :])), if_float(kind_of(y)))


@register("corrcoef", "cov")
def cov(call: Call, input: Value, **options: Value) -> Value:
    """torch.cov(input), torch.corrcoef(input): [variables, observations] gives a square matrix"""
    shape = call.of_rank(call.shape(input), 0, 1, 2)
    side = shape.dims[0] if shape.dims is not None and len(shape.dims) == 2 else None
    if shape.dims is None or (side is not None and side != 1 and not side.differs(1)):
        # One variable gives a number, not a matrix.
        return call.unranked(if_float(kind_of(input)))
    return call.tensor([] if side is None or side == 1 else [side, side], if_float(kind_of(input)))


@op("torch.frexp", "torch.Tensor.frexp")
def frexp(call: Call, input: Value, *, out: Value = NONE) -> Value:
    """torch.frexp(input): mantissa and exponent"""
    items = call.tensor(call.shape(input), "float"), call.tensor(call.shape(input), "int")
    return Tup(items, "torch.return_types.frexp", ("mantissa", "exponent"))


@op("torch.cumulative_trapezoid")
def cumulative_trapezoid(call: Call, y: Value, x: Value = NONE, *, dx: Value = NONE, dim: Value = MINUS_ONE) -> Value:
    """torch.cumulative_trapezoid(y, x=None, *, dim=-1): running sums, one fewer than there are samples"""
    shape = call.shape(y)
    at = call.axis(dim, shape.rank)
    if shape.dims is None or at is None or (shape.dims[at].low or 0) < 1 or x != NONE:
        return call.unranked(if_float(kind_of(y)))
    return call.tensor(Shape((*shape.dims[:at], shape.dims[at] - 1, *shape.dims[at + 1 :])), if_float(kind_of(y)))
