"""numpy: the operators of arrays, plain and in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.numpy.array import shape_of_nested
from distml.ops.numpy.dtypes import element_kind
from distml.ops.numpy.results import array
from distml.ops.numpy.ufunc import combine
from distml.ops.registry import op
from distml.ops.rules.elements import mapped
from distml.ops.rules.pointwise import fits_into, title
from distml.values import Const, Tensor, Tup

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value

_UFUNCS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "mod",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


@op(*(f"numpy.ndarray.__{name}__" for name in (*_UFUNCS, *_COMPARISONS)))
@op(*(f"numpy.ndarray.__r{name}__" for name in _UFUNCS))
def binary(call: Call, left: Value, right: Value) -> Value:
    """`a + b`: https://numpy.org/doc/stable/reference/arrays.ndarray.html"""
    bare = call.name.rpartition(".")[2].strip("_")
    name = _UFUNCS.get(bare) or _COMPARISONS.get(bare) or _UFUNCS[bare[1:]]
    if bare in ("eq", "ne") and any(isinstance(v, Const) and v.value is None for v in (left, right)):
        other = left if isinstance(left, Tensor) else right
        return array(call, call.shape(other), "bool")
    return combine(call, name, left, right)


@op(*(f"numpy.ndarray.__i{name}__" for name in _UFUNCS))
def in_place(call: Call, left: Value, right: Value) -> Value:
    """`a += b`: the array keeps its shape. https://numpy.org/doc/stable/reference/arrays.ndarray.html"""
    target = call.shape(left)
    if not isinstance(left, Tensor):
        return binary_of(call, left, right)
    if target.rank == 0:
        # A scalar of NumPy is no array: the name is bound to a new value. Of an array the other names see it.
        result = binary_of(call, left, right)
        forget_content(call, left)
        return result
    fits_into(call, call.broadcast(target, shape_of_nested(call, right), message=title(call)), target)
    return forget_content(call, left)


def binary_of(call: Call, left: Value, right: Value) -> Tensor:
    """What `left op right` gives when it is computed anew."""
    return combine(call, _UFUNCS[call.name.rpartition(".")[2].strip("_")[1:]], left, right)


def forget_content(call: Call, value: Tensor) -> Tensor:
    """The array after a change of its elements: for all its aliases they are not known any more."""
    return call.world.reshaped(value, call.shape(value)) if value.may_hold_numbers else value


@op("numpy.ndarray.__neg__", "numpy.ndarray.__pos__", "numpy.ndarray.__abs__", "numpy.ndarray.__invert__")
def unary(call: Call, self: Value) -> Value:
    """`-a`: https://numpy.org/doc/stable/reference/arrays.ndarray.html"""
    kind, name = element_kind(call, self), {"neg": "negative", "pos": "positive", "abs": "absolute"}
    real = kind == "complex" and call.name.endswith("__abs__")
    content = mapped(call, name.get(call.name.rpartition(".")[2].strip("_"), ""), self)
    return Tensor(call.lib, call.shape(self), "float" if real else kind, content=content)


@op("numpy.ndarray.__divmod__", "numpy.ndarray.__rdivmod__")
def divided(call: Call, left: Value, right: Value) -> Value:
    """`divmod(a, b)`: https://numpy.org/doc/stable/reference/generated/numpy.divmod.html"""
    return Tup((combine(call, "floor_divide", left, right), combine(call, "mod", left, right)))
