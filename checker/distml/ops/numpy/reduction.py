"""numpy: reductions: sums, means, extremes, quantiles, and running sums.

(https://numpy.org/doc/stable/reference/routines.math.html, .../routines.statistics.html)
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, UNKNOWN, Call
from distml.ops.numpy.array import shape_of_nested
from distml.ops.numpy.dtypes import content_of, kind_of
from distml.ops.numpy.results import array, into, output
from distml.ops.registry import op
from distml.ops.rules.axes import replace_axis
from distml.ops.rules.elements import extreme
from distml.ops.rules.kinds import counted, element_kind, floating, real
from distml.ops.rules.matmul import joined
from distml.ops.rules.reduce import reduced
from distml.ops.rules.view import ravel
from distml.shapes import Dim, Shape
from distml.values import Const, Expr, Num, Opaque, Tensor, Tup

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.values import Value

_SUM = "axis dtype out keepdims initial where"
_MAX = "axis out keepdims initial where"
_MEAN = "axis dtype out keepdims where"
_STD = "axis dtype out ddof keepdims where mean correction"
_ANY = "axis out keepdims where"
_MEDIAN = "axis out overwrite_input keepdims"
_PARAMETERS = {
    **dict.fromkeys(("sum", "prod", "nansum", "nanprod", "product"), _SUM),
    **dict.fromkeys(("max", "min", "amax", "amin", "nanmax", "nanmin"), _MAX),
    **dict.fromkeys(("mean", "nanmean"), _MEAN),
    **dict.fromkeys(("std", "var", "nanstd", "nanvar"), _STD),
    **dict.fromkeys(("any", "all", "ptp", "argmax", "argmin", "nanargmax", "nanargmin"), _ANY),
    **dict.fromkeys(("median", "nanmedian"), _MEDIAN),
    "count_nonzero": "axis keepdims",
}
_METHODS = ("sum", "prod", "max", "min", "mean", "std", "var", "any", "all", "ptp", "argmax", "argmin")

_KINDS: dict[str, Callable[[str | None], str | None]] = {
    **dict.fromkeys(("sum", "prod", "nansum", "nanprod", "product"), counted),
    **dict.fromkeys(("mean", "nanmean", "median", "nanmedian"), floating),
    **dict.fromkeys(("std", "var", "nanstd", "nanvar"), lambda kind: real(floating(kind))),
    **dict.fromkeys(("any", "all"), lambda _: "bool"),
    **dict.fromkeys(("argmax", "argmin", "nanargmax", "nanargmin", "count_nonzero"), lambda _: "int"),
}


@op(*(f"numpy.{name}" for name in _PARAMETERS), *(f"numpy.ndarray.{name}" for name in _METHODS))
def reduction(call: Call, a: Value, *args: Value, **options: Value) -> Value:
    """numpy.sum(a, axis): https://numpy.org/doc/stable/reference/generated/numpy.sum.html"""
    name = call.name.rpartition(".")[2]
    given = dict(zip(_PARAMETERS[name].split(), args, strict=False)) | options
    axis, keep = given.get("axis", NONE), given.get("keepdims", FALSE)
    shape = reduced(call, shape_of_nested(call, a), axis, keep)
    own = element_kind(call, a)
    kind = kind_of(call, given.get("dtype", NONE), _KINDS[name](own) if name in _KINDS else own)
    whole = axis == NONE and shape.rank == 0 and not {"where", "initial"} & given.keys()
    content = _folded(call, name, a) if whole else None
    fill = output if name == "nanmedian" else into
    return fill(call, Tensor(call.lib, shape, kind, content=content), given.get("out", NONE))


def _folded(call: Call, name: str, a: Value) -> tuple[Value, ...] | None:
    """The sum, product or extreme of known numbers, which may become a size."""
    content = content_of(a)
    items = call.items(a) if content is None else content
    if name in ("max", "min", "amax", "amin"):
        best = extreme(call, items or (), largest=name.endswith("max"))
        return None if best is None else (best,)
    if name not in ("prod", "sum") or not items or not all(_is_size(call, item) for item in items):
        return None
    return (reduce(lambda x, y: _combined(call, "*" if name == "prod" else "+", x, y), items),)


def _is_size(call: Call, item: Value) -> bool:
    return isinstance(item, Num | Opaque | Expr) or call.const(item, int) is not UNKNOWN


def _combined(call: Call, sign: str, left: Value, right: Value) -> Value:
    if isinstance(left, Const | Num) and isinstance(right, Const | Num):
        a, b = call.dim(left), call.dim(right)
        if a is not None and b is not None:
            return call.number(call.small(a * b if sign == "*" else a + b))
    return Expr(sign, left, right)


@op("numpy.cumsum", "numpy.cumprod", "numpy.nancumsum", "numpy.nancumprod", "numpy.ndarray.cumsum")
@op("numpy.ndarray.cumprod")
def cumulative(call: Call, a: Value, axis: Value = NONE, dtype: Value = NONE, out: Value = NONE) -> Value:
    """numpy.cumsum(a, axis): https://numpy.org/doc/stable/reference/generated/numpy.cumsum.html"""
    shape = call.shape(a)
    absent = call.is_none(axis)
    kind = kind_of(call, dtype, counted(element_kind(call, a)))
    if absent is not False:
        shape = ravel(call, shape) if absent else call.facts.unknown_shape()
    elif shape.rank is not None:
        call.axis(axis, shape.rank)
        shape = shape if shape.rank else Shape.of(1)
    return into(call, Tensor(call.lib, shape, kind, content=_running(call, a)), out)


def _running(call: Call, a: Value) -> tuple[Value, ...] | None:
    content = content_of(a)
    items = call.items(a) if content is None else content
    if not call.name.endswith(".cumsum") or not items:
        return None
    if not all(isinstance(item, Num) or call.const(item, int) is not UNKNOWN for item in items):
        return None
    total, sums = Dim.of(0), []
    for item in items:
        total = total + (call.dim(item) or 0)
        sums.append(call.number(total))
    return tuple(sums)


@op("numpy.cumulative_sum", "numpy.cumulative_prod")
def cumulative_sum(
    call: Call, x: Value, *, axis: Value = NONE, dtype: Value = NONE, out: Value = NONE, include_initial: Value = FALSE
) -> Value:
    """numpy.cumulative_sum(x): https://numpy.org/doc/stable/reference/generated/numpy.cumulative_sum.html"""
    shape = call.shape(x)
    # A scalar is taken as a vector of one element.
    shape = Shape.of(1) if shape.rank == 0 else shape
    kind = kind_of(call, dtype, counted(element_kind(call, x)))
    place = call.axis(Const(0) if axis == NONE else axis, shape.rank)
    longer = call.flag(include_initial)
    if axis == NONE:
        shape = call.of_rank(shape, 1)
        place = 0
    if shape.dims is None or place is None or longer is None:
        return call.unranked(kind)
    if longer and shape.dims:
        shape = replace_axis(call, shape, place, shape.dims[place] + 1)
    return into(call, array(call, shape, kind), out)


@op("numpy.average")
def average(
    call: Call, a: Value, axis: Value = NONE, weights: Value = NONE, returned: Value = FALSE, *, keepdims: Value = FALSE
) -> Value:
    """numpy.average(a, axis, weights): https://numpy.org/doc/stable/reference/generated/numpy.average.html"""
    shape = call.shape(a)
    if call.is_none(weights) is False:
        _require_weights(call, shape, axis, call.shape(weights))
    result = array(call, reduced(call, shape, axis, keepdims), floating(element_kind(call, a)))
    both = call.flag(returned)
    if both is None:
        return call.unknown()
    return Tup((result, array(call, result.shape, None))) if both else result


def _require_weights(call: Call, shape: Shape, axis: Value, weights: Shape) -> None:
    """Weights have the array's shape, or are one for each item along the axis."""
    if shape.dims is None or weights.dims is None or call.is_none(axis) is None:
        return
    same = weights.may_equal(shape)
    place = None if axis == NONE else call.axis(axis, len(shape.dims)) if call.items(axis) is None else None
    listed = place is None and axis != NONE
    along = len(weights.dims) == 1 and place is not None and not weights.dims[0].differs(shape.dims[place])
    if not (same or along or listed):
        call.fail(
            "SHP502",
            f"{call.text}: weights {weights!r} fit neither {shape!r} nor the axis that is averaged",
            *call.notes(*weights.dims, *shape.dims),
        )


@op("numpy.percentile", "numpy.quantile", "numpy.nanpercentile", "numpy.nanquantile")
def percentile(
    call: Call,
    a: Value,
    q: Value,
    axis: Value = NONE,
    out: Value = NONE,
    overwrite_input: Value = FALSE,
    method: Value = NONE,
    keepdims: Value = FALSE,
    *,
    weights: Value = NONE,
    interpolation: Value = NONE,
) -> Value:
    """numpy.percentile(a, q, axis): https://numpy.org/doc/stable/reference/generated/numpy.percentile.html"""
    rest = reduced(call, call.shape(a), axis, keepdims)
    return output(call, array(call, joined(call, call.shape(q), rest), None), out)


@op("numpy.apply_over_axes")
def apply_over_axes(call: Call, func: Value, a: Value, axes: Value) -> Value:
    """numpy.apply_over_axes: https://numpy.org/doc/stable/reference/generated/numpy.apply_over_axes.html"""
    rank = call.shape(a).rank
    return call.unranked() if rank is None else array(call, [None] * rank)


@op("numpy.array_equal", "numpy.array_equiv", "numpy.may_share_memory", "numpy.shares_memory")
def array_equal(call: Call, a1: Value, a2: Value, *_: Value, **options: Value) -> Value:
    """numpy.array_equal(a1, a2): https://numpy.org/doc/stable/reference/generated/numpy.array_equal.html"""
    return array(call, Shape.of(), "bool")
