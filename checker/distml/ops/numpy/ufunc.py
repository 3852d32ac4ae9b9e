"""numpy: universal functions: element by element, operands broadcast.

(https://numpy.org/doc/stable/reference/ufuncs.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, ZERO, Call
from distml.ops.dialect import dialect
from distml.ops.numpy.array import shape_of_nested
from distml.ops.numpy.dtypes import kind_of
from distml.ops.numpy.results import array, into, output
from distml.ops.python.comparing import compare
from distml.ops.registry import op
from distml.ops.rules.elements import combined, mapped, numbers_in
from distml.ops.rules.kinds import counted, element_kind, floating, promote, real
from distml.ops.rules.pointwise import title, warn_difference
from distml.ops.rules.reduce import reduced
from distml.shapes import Shape
from distml.values import Const, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable


def _table(names_by_kind: dict[str, str]) -> dict[str, str]:
    return {name: kind for kind, names in names_by_kind.items() for name in names.split()}


_UNARY = _table(
    {
        "floating": """sin cos tan arcsin arccos arctan asin acos atan sinh cosh tanh arcsinh arccosh arctanh asinh acosh
            atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt deg2rad rad2deg degrees radians rint fabs spacing i0 sinc""",
        "same": "negative positive sign square reciprocal conj conjugate invert bitwise_not bitwise_invert",
        "real": "absolute abs real imag",
        "rounded": "floor ceil trunc fix",
        "bool": "isfinite isinf isnan isnat signbit logical_not isneginf isposinf iscomplex isreal",
        "int": "bitwise_count",
    }
)
_BINARY = _table(
    {
        "same": "add subtract multiply maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor",
        "counted": """floor_divide mod remainder fmod power pow gcd lcm left_shift right_shift bitwise_left_shift
            bitwise_right_shift""",
        "floating": """divide true_divide arctan2 atan2 hypot copysign nextafter logaddexp logaddexp2 heaviside
            float_power ldexp""",
        "bool": "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor",
    }
)
BINARY = frozenset(_BINARY)

_KINDS: dict[str, Callable[[str | None], str | None]] = {
    "floating": floating,
    "same": lambda kind: kind,
    "real": real,
    "counted": counted,
    "rounded": lambda kind: None if kind == "bool" else kind,
    "bool": lambda _: "bool",
    "int": lambda _: "int",
}

_COMPARED = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}


@op(*(f"numpy.{name}" for name in _UNARY))
def unary(call: Call, x: Value, out: Value = NONE, *, where: Value = TRUE, **options: Value) -> Value:
    """A function of one array: https://numpy.org/doc/stable/reference/ufuncs.html#available-ufuncs"""
    x = options.pop("val", options.pop("z", x))
    name = call.name.rpartition(".")[2]
    kind = kind_of(call, options.get("dtype", NONE), _KINDS[_UNARY[name]](element_kind(call, x)))
    content = mapped(call, name, x) if where == TRUE else None
    result = Tensor(call.lib, call.broadcast(shape_of_nested(call, x), call.shape(where)), kind, content=content)
    return output(call, result, out)


@op(*(f"numpy.{name}" for name in _BINARY))
def binary(call: Call, x1: Value, x2: Value, out: Value = NONE, *, where: Value = TRUE, **options: Value) -> Value:
    """A function of two arrays: https://numpy.org/doc/stable/reference/ufuncs.html#available-ufuncs"""
    name = call.name.rpartition(".")[2]
    result = combine(call, name, x1, x2, call.shape(where))
    if not call.is_none(options.get("dtype", NONE)):
        result = array(call, result.shape, kind_of(call, options["dtype"], None))
    return output(call, result, out)


def combine(call: Call, name: str, left: Value, right: Value, where: Shape | None = None) -> Tensor:
    """The array that the ufunc `name` makes of two array-likes."""
    a, b = shape_of_nested(call, left), shape_of_nested(call, right)
    shape = call.broadcast(a, b, message=title(call))
    if name == "subtract":
        warn_difference(call, a, b)
    if where is not None and where.rank != 0:
        shape = call.broadcast(shape, where, message=f"{title(call)}: where")
    kind = _KINDS[_BINARY[name]](promote((element_kind(call, left), element_kind(call, right))))
    if name in _COMPARED:
        content = _compared(call, name, left, right) if shape.rank == 0 else None
    else:
        content = combined(call, name, left, right) if where is None or where.rank == 0 else None
    return Tensor(_library(call, left, right), shape, kind, content=content)


def _library(call: Call, *operands: Value) -> str:
    """Tensors of a library that answers NumPy's functions itself win over arrays."""
    others = [v.lib for v in operands if isinstance(v, Tensor) and dialect(v.lib).answers_numpy]
    return others[0] if others and call.lib == "numpy" else call.lib


def _compared(call: Call, name: str, left: Value, right: Value) -> tuple[Value, ...] | None:
    """Whether a comparison of two numbers holds: what branches on it is decided."""
    a, b = numbers_in(call, left), numbers_in(call, right)
    answer = None if a is None or b is None else compare(call, _COMPARED[name], a[0], b[0])
    return None if answer is None else (Const(answer),)


@op("numpy.modf", "numpy.frexp", "numpy.divmod")
def two_results(call: Call, x: Value, *rest: Value, **options: Value) -> Value:
    """numpy.divmod(x1, x2): https://numpy.org/doc/stable/reference/generated/numpy.divmod.html"""
    if call.name == "numpy.divmod":
        whole = combine(call, "floor_divide", x, rest[0])
        return Tup((whole, combine(call, "mod", x, rest[0])))
    shape = call.shape(x)
    second = "int" if call.name == "numpy.frexp" else "float"
    return Tup((array(call, shape, "float"), array(call, shape, second)))


@op("numpy.isclose")
def isclose(call: Call, a: Value, b: Value, rtol: Value = ZERO, atol: Value = ZERO, equal_nan: Value = FALSE) -> Value:
    """numpy.isclose(a, b): https://numpy.org/doc/stable/reference/generated/numpy.isclose.html"""
    return array(call, call.broadcast(call.shape(a), call.shape(b), message=call.text), "bool")


@op("numpy.allclose")
def allclose(call: Call, a: Value, b: Value, *_: Value, **options: Value) -> Value:
    """numpy.allclose(a, b): https://numpy.org/doc/stable/reference/generated/numpy.allclose.html"""
    call.broadcast(call.shape(a), call.shape(b), message=call.text)
    return array(call, Shape.of(), "bool")


@op("numpy.clip", "numpy.ndarray.clip")
def clip(call: Call, a: Value, a_min: Value = NONE, a_max: Value = NONE, out: Value = NONE, **options: Value) -> Value:
    """numpy.clip(a, a_min, a_max): https://numpy.org/doc/stable/reference/generated/numpy.clip.html"""
    given = [a_min, a_max, options.get("min", NONE), options.get("max", NONE)]
    bounds = [bound for bound in given if not call.is_none(bound)]
    shape = call.broadcast(call.shape(a), *(call.shape(bound) for bound in bounds), message=call.text)
    kind = promote([element_kind(call, a), *(element_kind(call, bound) for bound in bounds)])
    return output(call, array(call, shape, kind), out)


@op("numpy.nan_to_num", "numpy.round", "numpy.around", "numpy.round_", "numpy.ndarray.round", "numpy.real_if_close")
@op("numpy.angle", "numpy.unwrap", "numpy.ndarray.conj", "numpy.ndarray.conjugate", "numpy.sort_complex")
def same_shape(call: Call, a: Value, *digits: Value, **options: Value) -> Value:
    """numpy.round(a): https://numpy.org/doc/stable/reference/generated/numpy.round.html"""
    name = call.name.rpartition(".")[2]
    kind = element_kind(call, options.pop("p", options.pop("x", a)))
    if name in ("angle", "unwrap"):
        kind = "float"
    elif name in ("real_if_close", "sort_complex") or (name in ("round", "around") and kind == "bool"):
        kind = None
    plain = "round" in name and not digits and not options and kind in ("int", "float")
    result = Tensor(call.lib, call.shape(a), kind, content=mapped(call, "round", a) if plain else None)
    return into(call, result, options.get("out", NONE)) if name in ("round", "around") else result


@op(*(f"numpy.{name}.outer" for name in _BINARY))
def outer(call: Call, a: Value, b: Value, **options: Value) -> Value:
    """ufunc.outer(a, b): https://numpy.org/doc/stable/reference/generated/numpy.ufunc.outer.html"""
    left, right = call.shape(a), call.shape(b)
    kind = _KINDS[_BINARY[call.name.split(".")[1]]](promote((element_kind(call, a), element_kind(call, b))))
    if left.dims is None or right.dims is None:
        return call.unranked(kind)
    return array(call, Shape(left.dims + right.dims), kind)


@op(*(f"numpy.{name}.reduce" for name in _BINARY))
def reduce(
    call: Call,
    array: Value,
    axis: Value = ZERO,
    dtype: Value = NONE,
    out: Value = NONE,
    keepdims: Value = FALSE,
    initial: Value = NONE,
    where: Value = TRUE,
) -> Value:
    """ufunc.reduce(a, axis): https://numpy.org/doc/stable/reference/generated/numpy.ufunc.reduce.html"""
    kind = kind_of(call, dtype, _own_kind(call, array))
    shape = reduced(call, call.shape(array), axis, keepdims)
    return into(call, call.tensor(shape, kind), out)


@op(*(f"numpy.{name}.accumulate" for name in _BINARY))
def accumulate(call: Call, array: Value, axis: Value = ZERO, dtype: Value = NONE, out: Value = NONE) -> Value:
    """ufunc.accumulate(a, axis): https://numpy.org/doc/stable/reference/generated/numpy.ufunc.accumulate.html"""
    shape = call.shape(array)
    if shape.rank == 0:
        call.fail("SHP301", f"{call.text}: cannot accumulate on a scalar")
    call.axis(axis, shape.rank)
    return into(call, call.tensor(shape, kind_of(call, dtype, _own_kind(call, array))), out)


@op(*(f"numpy.{name}.reduceat" for name in _BINARY))
def reduceat(
    call: Call, array: Value, indices: Value, axis: Value = ZERO, dtype: Value = NONE, out: Value = NONE
) -> Value:
    """ufunc.reduceat(a, indices): https://numpy.org/doc/stable/reference/generated/numpy.ufunc.reduceat.html"""
    shape, places = call.shape(array), call.shape(indices)
    kind = kind_of(call, dtype, _own_kind(call, array))
    at = call.axis(axis, shape.rank)
    if at is None or shape.dims is None or places.rank != 1:
        return call.unranked(kind)
    dims = [*shape.dims]
    dims[at] = places.head[0]
    return call.tensor(dims, kind)


@op(*(f"numpy.{name}.at" for name in _BINARY))
def at(call: Call, a: Value, indices: Value, b: Value = NONE) -> Value:
    """ufunc.at(a, indices, b), in place: https://numpy.org/doc/stable/reference/generated/numpy.ufunc.at.html"""
    return NONE


def _own_kind(call: Call, value: Value) -> str | None:
    rule = _BINARY[call.name.split(".")[1]]
    kind = element_kind(call, value)
    return kind if rule == "same" and kind != "bool" else None
