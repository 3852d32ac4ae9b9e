"""numpy: masked arrays (`numpy.ma`): arrays of the same shapes, of whose numbers nothing is known, since some do not count.

https://numpy.org/doc/stable/reference/maskedarray.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, ZERO, Call
from distml.ops.numpy.results import vector
from distml.ops.registry import answered, find_op, op
from distml.values import Prim, Tensor, Tup

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.values import Value

_MIRRORED = """
abs absolute add all allclose amax amin angle any append arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh
argmax argmin argsort around array asanyarray asarray bitwise_and bitwise_or bitwise_xor ceil choose clip compress
concatenate conjugate convolve copy correlate cos cosh cumprod cumsum diag diagonal diff divide empty empty_like equal
exp expand_dims fabs floor floor_divide fmod greater greater_equal hypot identity indices inner left_shift less
less_equal log log10 log2 logical_and logical_not logical_or logical_xor max maximum mean min minimum mod multiply
ndim negative nonzero not_equal ones ones_like outer power prod product ptp ravel remainder repeat reshape right_shift
round round_ shape sin sinh size sort sqrt squeeze std subtract sum swapaxes take tan tanh trace transpose true_divide
var where zeros zeros_like apply_along_axis apply_over_axes atleast_1d atleast_2d atleast_3d average column_stack
corrcoef cov diagflat dot dstack ediff1d hsplit hstack isin intersect1d median row_stack setdiff1d setxor1d stack
unique union1d vander vstack
"""
"""Functions that do to masked arrays what those of the same names do to others."""
_OPTIONS = frozenset(
    "mask fill_value keep_mask hard_mask shrink endwith allow_masked strict suppress_warnings masked_equal".split()
)
"""What they take besides, which shapes do not depend on."""


def _run(call: Call, name: str, *args: Value, **options: Value) -> Value:
    """What the function of that name makes of arrays without masks."""
    source = f"numpy.{name}"
    result = answered(call, source, find_op(source), args, options)
    return _of_any_numbers(result) if isinstance(result, Tensor | Tup) else result


def _of_any_numbers(value: Value) -> Value:
    if isinstance(value, Tup):
        return Tup(tuple(map(_of_any_numbers, value.items)), value.kind, value.fields, value.cls)
    return value.overwritten(value.shape) if isinstance(value, Tensor) else value


def _mirrored(name: str) -> Callable[..., Value]:
    def rule(call: Call, *args: Value, **options: Value) -> Value:
        return _run(call, name, *args, **{key: value for key, value in options.items() if key not in _OPTIONS})

    rule.__doc__ = f"numpy.ma.{name}: the shape that numpy.{name} gives"
    return rule


for _name in _MIRRORED.split():
    op(f"numpy.ma.{_name}")(_mirrored(_name))


@op("numpy.ma.masked_array", "numpy.ma.MaskedArray")
def masked_array(
    call: Call, data: Value, mask: Value = NONE, dtype: Value = NONE, ndmin: Value = ZERO, **options: Value
) -> Value:
    """numpy.ma.masked_array(data, mask): https://numpy.org/doc/stable/reference/maskedarray.baseclass.html"""
    return _run(call, "array", data, dtype=dtype, ndmin=ndmin)


@op(
    *(
        f"numpy.ma.{name}"
        for name in "masked_invalid fix_invalid filled getdata harden_mask soften_mask anom anomalies".split()
    )
)
@op(*(f"numpy.ma.masked_{name}" for name in "equal not_equal greater greater_equal less less_equal".split()))
@op(*(f"numpy.ma.masked_{name}" for name in "inside outside values object".split()))
@op(*(f"numpy.ndarray.{name}" for name in "filled anom harden_mask soften_mask shrink_mask".split()))
def of_the_same_shape(call: Call, a: Value, *args: Value, **options: Value) -> Value:
    """numpy.ma.masked_invalid(a), a.filled(value) and others: an array of the same shape"""
    return _run(call, "asanyarray", a)


@op("numpy.ma.masked_where")
def masked_where(call: Call, condition: Value, a: Value, copy: Value = NONE) -> Value:
    """numpy.ma.masked_where(condition, a): https://numpy.org/doc/stable/reference/generated/numpy.ma.masked_where.html"""
    return _run(call, "asanyarray", a)


@op("numpy.ma.getmaskarray")
def getmaskarray(call: Call, arr: Value) -> Value:
    """numpy.ma.getmaskarray(arr): a mask of the shape of the array"""
    return _run(call, "isnan", arr)


@op("numpy.ma.compressed", "numpy.ndarray.compressed")
def compressed(call: Call, x: Value) -> Value:
    """numpy.ma.compressed(x): a vector of the elements that count"""
    return vector(call, x.dtype if isinstance(x, Tensor) else None)


@op("numpy.ma.count", "numpy.ndarray.count")
def count(call: Call, arr: Value, axis: Value = NONE, **options: Value) -> Value:
    """numpy.ma.count(arr, axis): how many elements count"""
    return _run(call, "count_nonzero", arr, axis=axis, **options)


@op("numpy.ma.masked_all")
def masked_all(call: Call, shape: Value, dtype: Value = NONE) -> Value:
    """numpy.ma.masked_all(shape): https://numpy.org/doc/stable/reference/generated/numpy.ma.masked_all.html"""
    return _run(call, "empty", shape, dtype=dtype)


@op("numpy.ma.masked_all_like")
def masked_all_like(call: Call, arr: Value) -> Value:
    """numpy.ma.masked_all_like(arr): https://numpy.org/doc/stable/reference/generated/numpy.ma.masked_all_like.html"""
    return _run(call, "empty_like", arr)


@op("numpy.ma.isMaskedArray", "numpy.ma.isMA", "numpy.ma.isarray", "numpy.ma.is_mask", "numpy.ma.is_masked")
def asked(call: Call, x: Value) -> Value:
    """numpy.ma.isMaskedArray(x): whether it is one is not followed"""
    return Prim("bool")
