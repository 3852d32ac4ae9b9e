"""Arrays of few elements that are known: what functions of each element make of them.

An element of an array of integers is a constant or a size. In an array of doubles it is a float as Python computes it, or a
quotient of sizes. Where the precision is not known, as of PyTorch's floats, it lies between two bounds (`Real`), which hold what
comes out in single and in double precision; it becomes an integer only where both agree.
"""

from __future__ import annotations

import math
from itertools import pairwise
from struct import pack, unpack
from typing import TYPE_CHECKING

from distml.ops.call import NONE
from distml.ops.python.ratios import ceiling_of, floor_of, ratio, whole_part
from distml.shapes import Dim, Shape
from distml.values import Const, Expr, Lib, Num, Opaque, Prim, Ratio, Real, Tensor, Tup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from distml.ops.call import Call
    from distml.values import Value

    Content = tuple[Value, ...]
    Bounds = tuple[float, float]

MAX_CONTENT = 64
"""Arrays of at most this many elements remember them."""
_DEEPEST = 5
"""Sequences in one another of which elements are known."""
_MOST = 2.0**53
"""From here on not each integer is a float."""
_LEAST = 2.0**-100
"""Single precision loses digits soon below this."""
_ROUNDED = 2.0**-23
"""Twice what rounding to single precision changes, relatively."""
_COMPUTED = 2.0**-19
"""More than what functions such as `log` are off in single precision."""


def few(found: Iterable[Value | None]) -> Content | None:
    """The elements, if there are some, not too many, and each is known."""
    known: list[Value] = []
    for each in found:
        if each is None or len(known) == MAX_CONTENT:
            return None
        known.append(each)
    return tuple(known) or None


def numbers_in(call: Call, value: Value) -> Content | None:
    """The numbers of an array, of a tuple, or a number alone; None where one of them is not known."""
    if isinstance(value, Tensor):
        return value.content
    items = call.items(value) if isinstance(value, Tup) else (value,)
    return few(item if _is_number(call, item) else None for item in items or ())


def _is_number(call: Call, value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) in (int, float)
    return isinstance(value, Ratio | Real) or (call.dtype(value) == "int" and call.dim(value) is not None)


def mapped(call: Call, name: str, x: Value) -> Content | None:
    """What NumPy's function `name` makes of each element."""
    return few(_of_one(call, name, each) for each in numbers_in(call, x) or ())


def combined(call: Call, name: str, left: Value, right: Value) -> Content | None:
    """What NumPy's function `name` makes of two arrays, or of an array and a number."""
    a = numbers_in(call, left)
    b = None if a is None else numbers_in(call, right)
    if a is None or b is None:
        return None
    if len(a) > 1 < len(b) and (len(a) != len(b) or _shape(call, left, a) != _shape(call, right, b)):
        return None
    count = max(len(a), len(b))
    pairs = zip(a * count if len(a) == 1 else a, b * count if len(b) == 1 else b, strict=True)
    return few(of_two(call, name, x, y) for x, y in pairs)


def _shape(call: Call, value: Value, content: Content) -> Shape:
    return call.shape(value) if isinstance(value, Tensor) else Shape.of(len(content))


def nested(call: Call, data: Value, depth: int = 0) -> Content | None:
    """The numbers of nested sequences, flat."""
    if isinstance(data, Tensor):
        return data.content
    if _is_number(call, data):
        return None if isinstance(data, Opaque | Expr) else (data,)
    items = call.items(data) if depth < _DEEPEST else None
    if items is None or len(items) > MAX_CONTENT:
        return None
    flat: list[Value | None] = []
    for item in items:
        flat += nested(call, item, depth + 1) or (None,)
    return few(flat)


_DOUBLES = ("float64", "double", "float", "float_", "f8", "d")
_SINGLES = ("float32", "single", "f4", "f")


def held(call: Call, content: Sequence[Value] | None, kind: str | None, dtype: Value = NONE) -> Content | None:
    """The elements in an array of a kind and of what `dtype=` asks for: by default integers, or floats as Python's become."""
    name = dtype.name.rpartition(".")[2] if isinstance(dtype, Lib) else call.const(dtype, str)
    code = "float" if call.is_none(dtype) else str(name).lstrip("<>=|")
    if content is None or (kind == "float" and code not in (*_DOUBLES, *_SINGLES)) or kind not in ("int", "float"):
        return None
    as_float = as_double if call.dialect.doubles and code in _DOUBLES else as_real
    return few((as_whole if kind == "int" else as_float)(call, item) for item in content)


def as_whole(call: Call, value: Value) -> Value | None:
    """A number once it is an integer, cut off towards zero."""
    if isinstance(value, Real) or (isinstance(value, Const) and type(value.value) is float):
        ends = {math.trunc(end) for end in _bounds(call, value) or ()}
        return Const(ends.pop()) if len(ends) == 1 else None
    if isinstance(value, Num) or (isinstance(value, Const) and type(value.value) is int):
        return value
    dim = whole_part(call, value) if isinstance(value, Const | Ratio) else None
    return None if dim is None else call.number(dim)


def as_double(call: Call, value: Value) -> Value | None:
    """A number as an array of doubles holds it."""
    if isinstance(value, Const):
        bounds = _bounds(call, value)
        return None if bounds is None else Const(bounds[0])
    dim = None if isinstance(value, Ratio | Real) else call.dim(value)
    return value if dim is None else Ratio("float", dim, Dim.of(1))


def as_real(call: Call, value: Value) -> Real | None:
    """A number as an array of floats of single or double precision holds it."""
    if isinstance(value, Real):
        return value
    bounds = _bounds(call, value)
    return None if bounds is None else _rounded(bounds, _ROUNDED)


def written(call: Call, value: Value) -> Value:
    """A tensor that was written into: neither its numbers nor those of what it may be a view of are known any more."""
    if isinstance(value, Tensor) and value.may_hold_numbers:
        return call.world.reshaped(value, value.shape)
    return value


def plain(value: Value) -> Value:
    """An element as a program gets it out of an array."""
    if isinstance(value, Real):
        return Const(value.low) if value.low == value.high else Prim("float")
    return value


def _bounds(call: Call, value: Value) -> Bounds | None:
    if isinstance(value, Real):
        return value.low, value.high
    if isinstance(value, Const):
        number = value.value if type(value.value) in (int, float) else None
    else:
        dim = None if isinstance(value, Ratio) else call.dim(value)
        number = None if dim is None else dim.constant
    return None if number is None or not abs(number) < _MOST else (float(number), float(number))


def _rounded(bounds: Bounds, by: float) -> Real | None:
    """What lies between two bounds, once it is rounded. What single precision holds as it is stays, as an exact result would."""
    low, high = bounds
    if not (abs(low) < _MOST and abs(high) < _MOST) or 0 < max(-low, high) < _LEAST:
        return None
    if low == high and by == _ROUNDED and unpack("f", pack("f", low))[0] == low:
        return Real("float", low, high)
    return Real("float", low - abs(low) * by, high + abs(high) * by)


_SIZES: dict[str, Callable[[Dim, Dim], Dim]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "remainder": lambda a, b: a % b,
}
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/"}
_FLOATS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}
_POWERS = ("power", "pow", "float_power")


def of_two(call: Call, name: str, left: Value, right: Value) -> Value | None:
    """Two numbers combined: integers to one, others as far as is known how they are rounded."""
    a, b = (call.dim(each) if call.dtype(each) == "int" else None for each in (left, right))
    if a is not None and b is not None and (name in _SIZES or name in _POWERS):
        return _of_integers(call, name, a, b)
    if name in _POWERS:
        return _power(as_real(call, left), as_real(call, right))
    if name not in _SIGNS:
        return None
    if not call.dialect.doubles or isinstance(left, Real) or isinstance(right, Real):
        return _of_reals(_SIGNS[name], as_real(call, left), as_real(call, right))
    return ratio(call, _SIGNS[name], left, right) or _of_doubles(_SIGNS[name], left, right)


def _of_integers(call: Call, name: str, left: Dim, right: Dim) -> Value | None:
    if name in _POWERS:
        base, power = left.constant, right.constant
        fits = base is not None and power is not None and 0 <= power < 32 and abs(base) < 1 << 16
        return Const(base**power) if fits and abs(base**power) < _MOST else None  # type: ignore[operator]
    divides = name not in _SIGNS
    return None if divides and right.constant == 0 else call.number(call.small(_SIZES[name](left, right)))


def _of_doubles(sign: str, left: Value, right: Value) -> Value | None:
    if not isinstance(left, Const) or not isinstance(right, Const) or (sign == "/" and not right.value):
        return None
    made = _FLOATS[sign](float(left.value), float(right.value))
    return Const(made) if abs(made) < _MOST else None


def _of_reals(sign: str, left: Real | None, right: Real | None) -> Value | None:
    if left is None or right is None or (sign == "/" and right.low <= 0 <= right.high):
        return None
    ends = [_FLOATS[sign](x, y) for x in (left.low, left.high) for y in (right.low, right.high)]
    return _rounded((min(ends), max(ends)), _ROUNDED)


def _power(base: Real | None, power: Real | None) -> Value | None:
    if base is None or power is None or base.low <= 0:
        return None
    try:
        ends = [x**y for x in (base.low, base.high) for y in (power.low, power.high)]
    except OverflowError:
        return None
    return _rounded((min(ends), max(ends)), _COMPUTED)


_RISING: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "log1p": math.log1p,
    "exp": math.exp,
    "exp2": lambda x: 2.0**x,
    "expm1": math.expm1,
}
"""Functions that are the greater, the greater their argument is."""
_STEPS: dict[str, Callable[[float], int]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "rint": round,
    "round": round,
    "trunc": math.trunc,
    "fix": math.trunc,
}
_OTHER: dict[str, Callable[[float], float]] = {
    "absolute": abs,
    "abs": abs,
    "negative": lambda x: -x,
    "positive": lambda x: x,
}
_NUMBERS = {**_RISING, **_STEPS, **_OTHER}


def _of_one(call: Call, name: str, x: Value) -> Value | None:
    """A function of a number."""
    if isinstance(x, Ratio):
        return _whole_ratio(call, name, x)
    if name not in _NUMBERS:
        return None
    if name in _RISING and not call.dialect.doubles:
        x = as_real(call, x) or x
    bounds = _bounds(call, x)
    try:
        ends = [_NUMBERS[name](end) for end in bounds or ()]
    except (ValueError, OverflowError):
        return None
    if not ends:
        return None
    if isinstance(x, Real):
        return _between(name, x, ends)
    whole = call.dtype(x) == "int" and name not in _RISING and name != "rint"
    return Const(int(ends[0]) if whole else float(ends[0]))


def _whole_ratio(call: Call, name: str, x: Ratio) -> Value | None:
    dim = ceiling_of(call, x) if name == "ceil" else floor_of(call, x) if name == "floor" else None
    return None if dim is None else Ratio("float", dim, Dim.of(1))


def _between(name: str, x: Real, ends: Sequence[float]) -> Value | None:
    """Where a function's value lies, whose ends are known."""
    if name in _STEPS and ends[0] != ends[1]:
        return None
    least = 0.0 if _NUMBERS[name] is abs and x.low < 0 < x.high else min(ends)
    return _rounded((float(least), float(max(ends))), _COMPUTED if name in _RISING else _ROUNDED)


def extreme(call: Call, content: Sequence[Value], largest: bool) -> Value | None:
    """The largest or the smallest element."""
    best, bounds = max if largest else min, _all_bounds(call, content)
    if not bounds:
        return None
    low, high = best(each[0] for each in bounds), best(each[1] for each in bounds)
    if any(isinstance(item, Real) for item in content):
        return Real("float", low, high)
    return content[bounds.index((low, high))]


def distinct(call: Call, content: Sequence[Value]) -> Content | None:
    """The elements in order, each once, if it is certain which are equal."""
    bounds = _all_bounds(call, content)
    found = dict(zip(bounds, content, strict=False))
    repeated = len(found) < len(bounds) and any(low < high for low, high in found)
    apart = all(before[1] < after[0] for before, after in pairwise(sorted(found)))
    return tuple(found[each] for each in sorted(found)) if found and apart and not repeated else None


def _all_bounds(call: Call, content: Sequence[Value]) -> list[Bounds]:
    """The bounds of all elements; none where those of one are not known."""
    found = [_bounds(call, item) for item in content]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else []
