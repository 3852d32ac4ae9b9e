"""numpy: dtypes, told apart as far as shapes need it (a mask is no index), and the constants.

A dtype that a program reads from an array is an unknown value whose kind is a
fact, so that comparing it with `np.float32` stays undecided.
"""

from __future__ import annotations

from distml.ops.call import NONE, Call
from distml.ops.numpy.records import record_kind
from distml.ops.registry import attribute, op
from distml.ops.rules.elements import held
from distml.ops.rules.widths import width_of
from distml.values import Const, Lib, Opaque, Tensor, Value

_FLOATS = ("float16", "float32", "float64", "float128", "longdouble", "half", "single", "double", "floating", "float_")
_INTS = (
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("intp", "uintp", "intc", "uintc", "int_", "uint", "byte", "ubyte", "short", "ushort", "long", "ulong"),
    *("longlong", "ulonglong", "integer", "signedinteger", "unsignedinteger"),
)
_COMPLEX = ("complex64", "complex128", "complex256", "csingle", "cdouble", "clongdouble", "complex_", "complexfloating")
_BOOLS = ("bool_", "bool", "bool8")

KINDS = {
    **dict.fromkeys((*_FLOATS, "float"), "float"),
    **dict.fromkeys((*_INTS, "int"), "int"),
    **dict.fromkeys((*_COMPLEX, "complex"), "complex"),
    **dict.fromkeys(_BOOLS, "bool"),
}
"""The name of a dtype -> its kind."""

_LETTERS = {"f": "float", "d": "float", "e": "float", "i": "int", "u": "int", "b": "int", "B": "int", "h": "int"}
_LETTERS |= {"H": "int", "I": "int", "l": "int", "L": "int", "q": "int", "Q": "int", "c": "complex", "?": "bool"}
_LETTERS |= {"F": "complex", "D": "complex", "g": "float"}


def kind_of(call: Call, dtype: Value, default: str | None) -> str | None:
    """The kind a `dtype=` argument asks for; `default` when it is None, None when not known."""
    if call.is_none(dtype):
        return default
    if isinstance(dtype, Const) and isinstance(dtype.value, str):
        return _kind_of_code(dtype.value)
    if isinstance(dtype, Lib):
        return KINDS.get(dtype.name.rpartition(".")[2])
    if isinstance(dtype, Opaque):
        known: str | None = call.world.get(("dtype kind", dtype))
        return known
    return record_kind(call, dtype, lambda of_field: kind_of(call, of_field, None))


def _kind_of_code(code: str) -> str | None:
    code = code.lstrip("<>=|")
    known = KINDS.get(code)
    if known is not None or not code:
        return known
    # "c" alone is a character.
    return _LETTERS.get(code[0]) if code[1:].isdigit() or (len(code) == 1 and code != "c") else None


def may_be_object(call: Call, dtype: Value) -> bool:
    """Whether an array of this `dtype=` argument can hold sequences as its elements.

    Objects may be lists; the elements of a structured array are tuples.
    """
    return call.is_none(dtype) is not True and kind_of(call, dtype, None) is None and not _is_text(dtype)


def _is_text(dtype: Value) -> bool:
    if isinstance(dtype, Lib):
        return dtype.name.rpartition(".")[2] in ("str", "bytes", "str_", "bytes_", "datetime64", "timedelta64")
    code = dtype.value if isinstance(dtype, Const) else None
    return isinstance(code, str) and code.lstrip("<>=|")[:1] in ("U", "S", "M", "m")


@attribute("numpy.ndarray.dtype")
def dtype_of(call: Call, self: Value) -> Value:
    """ndarray.dtype: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.dtype.html"""
    found = call.unknown("dtype")
    call.world.put(("dtype kind", found), call.dtype(self))
    call.world.put(("dtype width", found), width_of(self))
    return found


@op("numpy.dtype")
def dtype(call: Call, dtype: Value, align: Value = NONE, copy: Value = NONE, **_: Value) -> Value:
    """numpy.dtype(dtype): https://numpy.org/doc/stable/reference/generated/numpy.dtype.html"""
    found = call.unknown("dtype")
    call.world.put(("dtype kind", found), kind_of(call, dtype, "float"))
    return found


@op("numpy.result_type", "numpy.promote_types", "numpy.common_type", "numpy.min_scalar_type")
def result_type(call: Call, *arrays_and_dtypes: Value) -> Value:
    """numpy.result_type: https://numpy.org/doc/stable/reference/generated/numpy.result_type.html"""
    return call.unknown("dtype")


@op(
    *(f"numpy.{name}" for name in KINDS if name not in ("int", "float", "complex", "bool")), "numpy.bool", "numpy.float"
)
def scalar_type(call: Call, value: Value = Const(0), *_: Value) -> Value:
    """`np.float32(x)`: a scalar, or an array of that type: https://numpy.org/doc/stable/reference/arrays.scalars.html"""
    kind = KINDS[call.name.rpartition(".")[2]]
    content = held(call, content_of(value), kind, Const(call.name.rpartition(".")[2]))
    return Tensor(call.lib, call.shape(value), kind, content=content)


def content_of(value: Value) -> tuple[Value, ...] | None:
    """The elements of an array, or a number, as far as they are known, flat."""
    if isinstance(value, Const) and type(value.value) in (int, float):
        return (value,)
    return value.content if isinstance(value, Tensor) else None


_CONSTANTS = {"pi": 3.141592653589793, "e": 2.718281828459045, "euler_gamma": 0.5772156649015329}
_CONSTANTS |= {
    "inf": float("inf"),
    "Inf": float("inf"),
    "infty": float("inf"),
    "nan": float("nan"),
    "NaN": float("nan"),
}
_CONSTANTS |= {"NINF": float("-inf"), "PINF": float("inf"), "NAN": float("nan")}


@attribute("numpy.newaxis")
def newaxis(call: Call) -> Value:
    """numpy.newaxis: https://numpy.org/doc/stable/reference/constants.html#numpy.newaxis"""
    return NONE


@attribute(*(f"numpy.{name}" for name in _CONSTANTS))
def constant(call: Call) -> Value:
    """numpy.pi, numpy.inf and the others: https://numpy.org/doc/stable/reference/constants.html"""
    return Const(_CONSTANTS[call.name.rpartition(".")[2]])
