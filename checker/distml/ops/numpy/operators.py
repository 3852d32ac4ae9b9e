"""numpy: the operators of arrays, plain and in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.numpy.array import shape_of_nested
from distml.ops.numpy.results import array
from distml.ops.numpy.ufunc import combine
from distml.ops.registry import op
from distml.ops.rules.elements import mapped, written
from distml.ops.rules.kinds import element_kind
from distml.ops.rules.pointwise import UFUNCS, fits_into, title, ufunc
from distml.values import Const, Tensor, Tup

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value

_COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


@op(*(f"numpy.ndarray.__{name}__" for name in (*UFUNCS, *_COMPARISONS)))
@op(*(f"numpy.ndarray.__r{name}__" for name in UFUNCS))
def binary(call: Call, left: Value, right: Value) -> Value:
    """`a + b`: https://numpy.org/doc/stable/reference/arrays.ndarray.html"""
    bare = call.name.rpartition(".")[2].strip("_")
    name = _COMPARISONS.get(bare) or ufunc(call)
    if bare in ("eq", "ne") and any(isinstance(v, Const) and v.value is None for v in (left, right)):
        other = left if isinstance(left, Tensor) else right
        return array(call, call.shape(other), "bool")
    return combine(call, name, left, right)


@op(*(f"numpy.ndarray.__i{name}__" for name in UFUNCS))
def in_place(call: Call, left: Value, right: Value) -> Value:
    """`a += b`: the array keeps its shape. https://numpy.org/doc/stable/reference/arrays.ndarray.html"""
    target = call.shape(left)
    if not isinstance(left, Tensor):
        return binary_of(call, left, right)
    if target.rank == 0:
        # A scalar of NumPy is no array: the name is bound to a new value. Of an array the other names see it.
        result = binary_of(call, left, right)
        written(call, left)
        return result
    fits_into(call, call.broadcast(target, shape_of_nested(call, right), message=title(call)), target)
    return written(call, left)


def binary_of(call: Call, left: Value, right: Value) -> Tensor:
    """What `left op right` gives when it is computed anew."""
    return combine(call, ufunc(call), left, right)


@op("numpy.ndarray.__neg__", "numpy.ndarray.__pos__", "numpy.ndarray.__abs__", "numpy.ndarray.__invert__")
def unary(call: Call, self: Value) -> Value:
    """`-a`: https://numpy.org/doc/stable/reference/arrays.ndarray.html"""
    kind = element_kind(call, self)
    real = kind == "complex" and call.name.endswith("__abs__")
    content = mapped(call, ufunc(call), self)
    return Tensor(call.lib, call.shape(self), "float" if real else kind, content=content)


@op("numpy.ndarray.__divmod__", "numpy.ndarray.__rdivmod__")
def divided(call: Call, left: Value, right: Value) -> Value:
    """`divmod(a, b)`: https://numpy.org/doc/stable/reference/generated/numpy.divmod.html"""
    return Tup((combine(call, "floor_divide", left, right), combine(call, "mod", left, right)))
