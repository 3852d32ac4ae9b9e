"""torch: reductions over some axes or all of them, and running sums.

https://docs.pytorch.org/docs/stable/torch.html#reduction-ops; NumPy's names `axis` and `keepdims` are taken too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, MINUS_ONE, NONE, Call
from distml.ops.registry import op
from distml.ops.rules.elements import written
from distml.ops.rules.kinds import counted, floating, kind_of, promote, real
from distml.ops.rules.pointwise import elementwise
from distml.ops.rules.reduce import folded, reduced
from distml.ops.torch.blend import along
from distml.ops.torch.dtypes import asked_kind, into
from distml.shapes import Shape
from distml.values import Const, Num, Opaque, Prim, Tensor, Tup, Union, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.rules.reduce import Fold


def register(*names: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register an op as function and as method."""
    return op(*(f"torch.{name}" for name in names), *(f"torch.Tensor.{name}" for name in names))


def _first(*values: Value) -> Value:
    """The one that was given, of two spellings of a parameter."""
    return next((value for value in values if value != NONE), NONE)


def _plain(kind: Callable[[str | None], str | None], fold: Fold | None = None) -> Callable[..., Value]:
    def reduction(
        call: Call,
        input: Value,
        dim: Value = NONE,
        keepdim: Value = NONE,
        *,
        dtype: Value = NONE,
        out: Value = NONE,
        axis: Value = NONE,
        keepdims: Value = NONE,
    ) -> Value:
        """torch.sum(input, dim=None, keepdim=False) and its like"""
        axes = _first(dim, axis)
        shape = reduced(call, call.shape(input), axes, _first(keepdim, keepdims))
        result = call.tensor(shape, asked_kind(call, dtype, kind(kind_of(input))))
        if fold is not None and axes == NONE and shape.rank == 0:
            result = Tensor(result.lib, shape, result.dtype, content=folded(call, input, fold))
        return into(call, result, out)

    return reduction


def _same(kind: str | None) -> str | None:
    return kind


def _int(kind: str | None) -> str | None:
    return "int"


def _bool(kind: str | None) -> str | None:
    return "bool"


register("sum", "nansum")(_plain(counted, "sum"))
register("prod")(_plain(counted, "prod"))
register("mean", "nanmean", "logsumexp")(_plain(floating))
register("amax", "amin")(_plain(_same))
register("all", "any")(_plain(_bool))
register("count_nonzero", "argmax", "argmin")(_plain(_int))
op("torch.special.logsumexp")(_plain(floating))


def _spread(
    call: Call,
    input: Value,
    dim: Value,
    unbiased: Value,
    keepdim: Value,
    axis: Value,
    keepdims: Value,
) -> Shape:
    if isinstance(dim, Const) and isinstance(dim.value, bool):
        # x.std(False) says nothing of axes.
        dim = NONE
    return reduced(call, call.shape(input), _first(dim, axis), _first(keepdim, keepdims))


@register("std", "var")
def std(
    call: Call,
    input: Value,
    dim: Value = NONE,
    unbiased: Value = NONE,
    keepdim: Value = NONE,
    *,
    correction: Value = NONE,
    out: Value = NONE,
    axis: Value = NONE,
    keepdims: Value = NONE,
) -> Value:
    """torch.std(input, dim=None, *, correction=1, keepdim=False)"""
    shape = _spread(call, input, dim, unbiased, keepdim, axis, keepdims)
    return into(call, call.tensor(shape, real(kind_of(input))), out)


@op("torch.std_mean", "torch.var_mean")
def std_mean(
    call: Call,
    input: Value,
    dim: Value = NONE,
    unbiased: Value = NONE,
    keepdim: Value = NONE,
    *,
    correction: Value = NONE,
    axis: Value = NONE,
    keepdims: Value = NONE,
) -> Value:
    """torch.std_mean(input, dim=None, *, correction=1, keepdim=False)"""
    shape = _spread(call, input, dim, unbiased, keepdim, axis, keepdims)
    return Tup((call.tensor(shape, real(kind_of(input))), call.tensor(shape, kind_of(input))))


def pair(call: Call, name: str, shape: Shape, kind: str | None) -> Tup:
    """Values and the indices they were found at."""
    items = (call.tensor(shape, kind), call.tensor(shape, "int"))
    return Tup(items, f"torch.return_types.{name}", ("values", "indices"))


def _may_be_tensor(value: Value) -> bool:
    return isinstance(value, Opaque | Union) or not isinstance(value, Const | Num | Prim | Tensor)


@register("max", "min")
def extreme(
    call: Call,
    input: Value,
    dim: Value = NONE,
    keepdim: Value = FALSE,
    *,
    other: Value = NONE,
    out: Value = NONE,
    axis: Value = NONE,
    keepdims: Value = NONE,
) -> Value:
    """torch.max(input), torch.max(input, dim, keepdim=False), torch.max(input, other)"""
    second = _first(dim, axis, other)
    kind = kind_of(input)
    if second == NONE:
        fold: Fold = "max" if call.name.endswith("max") else "min"
        return Tensor(call.lib, Shape.of(), kind, content=folded(call, input, fold))
    if isinstance(second, Tensor):
        return into(call, call.tensor(elementwise(call, input, second), promote((kind, kind_of(second)))), out)
    if _may_be_tensor(second):
        return call.unknown()
    shape = reduced(call, call.shape(input), second, keepdims if keepdims != NONE else keepdim)
    return pair(call, call.name.rpartition(".")[2], shape, kind)


@register("median", "nanmedian")
def median(
    call: Call, input: Value, dim: Value = NONE, keepdim: Value = FALSE, *, out: Value = NONE, axis: Value = NONE
) -> Value:
    """torch.median(input), torch.median(input, dim=-1, keepdim=False)"""
    second = _first(dim, axis)
    if second == NONE:
        return call.tensor([], kind_of(input))
    if call.is_none(second) is None:
        return call.unknown()
    return pair(call, "median", reduced(call, call.shape(input), second, keepdim), kind_of(input))


@register("mode")
def mode(call: Call, input: Value, dim: Value = MINUS_ONE, keepdim: Value = FALSE, *, out: Value = NONE) -> Value:
    """torch.mode(input, dim=-1, keepdim=False)"""
    return pair(call, "mode", reduced(call, call.shape(input), dim, keepdim), kind_of(input))


@register("kthvalue")
def kthvalue(
    call: Call, input: Value, k: Value, dim: Value = MINUS_ONE, keepdim: Value = FALSE, *, out: Value = NONE
) -> Value:
    """torch.kthvalue(input, k, dim=-1, keepdim=False)"""
    require_at_most(call, input, k, dim)
    return pair(call, "kthvalue", reduced(call, call.shape(input), dim, keepdim), kind_of(input))


def require_at_most(call: Call, tensor: Value, count: Value, dim: Value) -> None:
    """Require that an axis has `count` items (SHP302)."""
    shape, wanted = call.shape(tensor), call.dim(count)
    at = call.axis(dim, shape.rank)
    if wanted is None or at is None or not shape.head:
        return
    size = shape.head[at]
    over = (wanted - size).low
    if over is not None and over > 0:
        call.fail(
            "SHP302",
            f"{call.text}: {wanted} asked for of the {size} on axis {at} of {shape!r}",
            *call.notes(wanted, size),
        )


@register("aminmax")
def aminmax(call: Call, input: Value, *, dim: Value = NONE, keepdim: Value = FALSE, out: Value = NONE) -> Value:
    """torch.aminmax(input, *, dim=None, keepdim=False)"""
    result = call.tensor(reduced(call, call.shape(input), dim, keepdim), kind_of(input))
    return Tup((result, result), "torch.return_types.aminmax", ("min", "max"))


@register("norm")
@op("torch.functional.norm")
def norm(
    call: Call,
    input: Value,
    p: Value = NONE,
    dim: Value = NONE,
    keepdim: Value = FALSE,
    out: Value = NONE,
    dtype: Value = NONE,
) -> Value:
    """torch.norm(input, p="fro", dim=None, keepdim=False)"""
    shape = reduced(call, call.shape(input), dim, keepdim)
    return into(call, call.tensor(shape, real(floating(kind_of(input)))), out)


@register("quantile", "nanquantile")
def quantile(
    call: Call,
    input: Value,
    q: Value,
    dim: Value = NONE,
    keepdim: Value = FALSE,
    *,
    interpolation: Value = NONE,
    out: Value = NONE,
) -> Value:
    """torch.quantile(input, q, dim=None, keepdim=False): a vector `q` makes a first axis"""
    shape, several = reduced(call, call.shape(input), dim, keepdim), call.shape(q)
    if several.dims is None or shape.dims is None:
        return call.unranked(kind_of(input))
    return into(call, call.tensor(Shape((*several.dims, *shape.dims)), kind_of(input)), out)


@register("cumsum", "cumprod", "logcumsumexp")
def running(
    call: Call, input: Value, dim: Value = NONE, *, dtype: Value = NONE, out: Value = NONE, axis: Value = NONE
) -> Value:
    """torch.cumsum(input, dim)"""
    result = along(call, input, _first(dim, axis), asked_kind(call, dtype, counted(kind_of(input))))
    return into(call, result, out) if isinstance(result, Tensor) else result


@op("torch.Tensor.cumsum_", "torch.Tensor.cumprod_")
def running_in_place(call: Call, self: Value, dim: Value, *, dtype: Value = NONE) -> Value:
    """torch.Tensor.cumsum_(dim)"""
    along(call, self, dim, None)
    return written(call, self)


@register("cummax", "cummin")
def running_extreme(call: Call, input: Value, dim: Value, *, out: Value = NONE) -> Value:
    """torch.cummax(input, dim)"""
    along(call, input, dim, None)
    return pair(call, call.name.rpartition(".")[2], call.shape(input), kind_of(input))


@register("dist")
def dist(call: Call, input: Value, other: Value, p: Value = NONE) -> Value:
    """torch.dist(input, other, p=2): one number"""
    elementwise(call, input, other)
    return call.tensor([], floating(kind_of(input)))


@register("equal")
def equal(call: Call, input: Value, other: Value) -> Value:
    """torch.equal(input, other): False for other shapes"""
    left, right = call.shape(input), call.shape(other)
    if left.rank is not None and right.rank is not None and left.rank != right.rank:
        return FALSE
    return Prim("bool")


@register("allclose")
def allclose(call: Call, input: Value, other: Value, *args: Value, **options: Value) -> Value:
    """torch.allclose(input, other): the two broadcast"""
    elementwise(call, input, other)
    return Prim("bool")
