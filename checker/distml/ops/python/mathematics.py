"""The module `math`: exact on constants and, where that is possible, on symbols."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from distml.ops.call import ONE, ZERO, Call
from distml.ops.python.arithmetic import operate
from distml.ops.python.folding import MAX_BITS, compute
from distml.ops.python.iterating import drawn
from distml.ops.python.likeness import is_number, kind_of, low_of, remembered, shown
from distml.ops.python.ratios import ceiling_of, floor_of
from distml.ops.registry import op
from distml.ops.rules.one_value import require_number
from distml.values import Const, Expr, Many, Num, Opaque, Prim, Ratio, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.shapes import Dim

_FLOATS = (
    "acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs fmod gamma"
    " hypot ldexp lgamma log log10 log1p log2 nextafter radians remainder sin sinh sqrt tan tanh ulp fsum fma"
)
_TESTS = "isfinite isinf isnan isclose"
_OF_SEQUENCES = ("dist", "fsum")
"""Functions whose arguments are points, or what is added up."""
_PAGE = "https://docs.python.org/3/library/math.html"


def _register(names: str, kind: str) -> None:
    for name in names.split():
        function = getattr(math, name, None)
        op(f"math.{name}")(_function(name, function, kind))


def _function(name: str, function: Callable[..., Any] | None, kind: str) -> Callable[..., Value]:
    def rule(call: Call, *args: Value, **named: Value) -> Value:
        for arg in args if name not in _OF_SEQUENCES else ():
            require_number(call, arg)
        known = compute(call, function, *args, **named) if function is not None else None
        return known or Prim(kind)

    rule.__name__ = name
    rule.__doc__ = f"math.{name}: {_PAGE}#math.{name}"
    return rule


_register(_FLOATS, "float")
_register(_TESTS, "bool")


@op("math.floor", "builtins.float.__floor__")
def floor(call: Call, x: Value, /) -> Value:
    """math.floor(x): https://docs.python.org/3/library/math.html#math.floor"""
    return _rounded(call, "floor", math.floor, x, floor_of(call, x))


@op("math.ceil", "builtins.float.__ceil__")
def ceil(call: Call, x: Value, /) -> Value:
    """math.ceil(x): https://docs.python.org/3/library/math.html#math.ceil"""
    return _rounded(call, "ceil", math.ceil, x, ceiling_of(call, x))


def _rounded(call: Call, name: str, function: Callable[[Any], Any], x: Value, known: Dim | None) -> Value:
    if isinstance(x, Const):
        return compute(call, function, x) or Num(call.symbol(name, None))
    require_number(call, x)
    if known is not None:
        return call.number(call.small(known))
    if isinstance(x, Opaque | Expr | Ratio):
        return remembered(call, (name, x), None, f"{name}({shown(x)})")
    return Num(call.symbol(name, None)) if is_number(x) else call.unknown()


@op("math.prod")
def prod(call: Call, iterable: Value, /, *, start: Value = ONE) -> Value:
    """math.prod(iterable): https://docs.python.org/3/library/math.html#math.prod"""
    values = drawn(call, iterable)
    if isinstance(values, tuple):
        result = start
        for value in values:
            result = operate(call, "*", result, value)
        return result
    if kind_of(values.item) in ("int", "bool") and kind_of(start) in ("int", "bool"):
        low = low_of(call, values.item)
        return Num(call.symbol("prod", 0 if low is not None and low >= 0 else None))
    return call.unknown()


@op("math.isqrt")
def isqrt(call: Call, n: Value, /) -> Value:
    """math.isqrt(n): https://docs.python.org/3/library/math.html#math.isqrt"""
    return compute(call, math.isqrt, n) or _of_integers(call, "isqrt", (n,))


@op("math.gcd")
def gcd(call: Call, *integers: Value) -> Value:
    """math.gcd(*integers): https://docs.python.org/3/library/math.html#math.gcd"""
    return compute(call, math.gcd, *integers) or _of_integers(call, "gcd", integers)


@op("math.lcm")
def lcm(call: Call, *integers: Value) -> Value:
    """math.lcm(*integers): https://docs.python.org/3/library/math.html#math.lcm"""
    bits = sum(value.value.bit_length() for value in integers if isinstance(value, Const) and type(value.value) is int)
    return (compute(call, math.lcm, *integers) if bits <= MAX_BITS else None) or _of_integers(call, "lcm", integers)


@op("math.factorial")
def factorial(call: Call, n: Value, /) -> Value:
    """math.factorial(n): https://docs.python.org/3/library/math.html#math.factorial"""
    small = isinstance(n, Const) and type(n.value) is int and n.value <= 400
    return (compute(call, math.factorial, n) if small else None) or _of_integers(call, "factorial", (n,))


@op("math.comb", "math.perm")
def comb(call: Call, n: Value, k: Value | None = None, /) -> Value:
    """math.comb(n, k): https://docs.python.org/3/library/math.html#math.comb"""
    function = math.comb if call.name == "math.comb" else math.perm
    args = (n,) if k is None else (n, k)
    small = all(isinstance(v, Const) and type(v.value) is int and v.value <= 400 for v in args)
    return (compute(call, function, *args) if small else None) or _of_integers(call, function.__name__, args)


def _of_integers(call: Call, name: str, args: tuple[Value, ...]) -> Value:
    """A non-negative integer that depends on the arguments alone."""
    for value in args:
        require_number(call, value)
    dims = [call.dim(value) for value in args]
    if all(dim is not None for dim in dims):
        return remembered(call, (name, *dims), 0, f"{name}({', '.join(str(dim) for dim in dims)})")
    return Num(call.symbol(name))


@op("math.modf", "math.frexp")
def modf(call: Call, x: Value, /) -> Value:
    """math.modf(x): https://docs.python.org/3/library/math.html#math.modf"""
    function = math.modf if call.name == "math.modf" else math.frexp
    second = Prim("float") if call.name == "math.modf" else Num(call.symbol("exponent", None))
    return compute(call, function, x) or Tup((Prim("float"), second))


@op("math.sumprod")
def sumprod(call: Call, p: Value, q: Value, /) -> Value:
    """math.sumprod(p, q): https://docs.python.org/3/library/math.html#math.sumprod"""
    left, right = drawn(call, p), drawn(call, q)
    if isinstance(left, Many) or isinstance(right, Many) or len(left) != len(right):
        return call.unknown()
    result: Value = ZERO
    for a, b in zip(left, right, strict=True):
        result = operate(call, "+", result, operate(call, "*", a, b))
    return result
