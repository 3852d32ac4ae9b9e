"""numpy: polynomials as vectors of coefficients. (https://numpy.org/doc/stable/reference/routines.polynomials.poly1d.html)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, UNKNOWN, Call
from distml.ops.numpy.results import array, vector
from distml.ops.registry import op
from distml.ops.rules.axes import pad_front
from distml.ops.rules.kinds import element_kind, promote
from distml.shapes import Dim
from distml.values import Const, Tensor, Tup

if TYPE_CHECKING:
    from distml.values import Value

ONE = Const(1)


@op("numpy.polyval")
def polyval(call: Call, p: Value, x: Value) -> Value:
    """numpy.polyval(p, x): https://numpy.org/doc/stable/reference/generated/numpy.polyval.html"""
    shape = call.shape(x)
    return array(call, shape) if isinstance(x, Tensor) else call.unranked()


@op("numpy.polyfit")
def polyfit(
    call: Call,
    x: Value,
    y: Value,
    deg: Value,
    rcond: Value = NONE,
    full: Value = FALSE,
    w: Value = NONE,
    cov: Value = FALSE,
) -> Value:
    """numpy.polyfit(x, y, deg): https://numpy.org/doc/stable/reference/generated/numpy.polyfit.html"""
    points = call.of_rank(call.shape(x), 1, what="x")
    values = call.of_rank(call.shape(y), 1, 2, what="y")
    message = f"{call.text}: x {points!r} and y {values!r} must have the same length: {{left}} and {{right}}"
    call.require_equal(points.head[0], call.facts.axis(values, 0), "SHP502", message)
    if call.flag(full) is not False or call.flag(cov) is not False:
        return call.unknown()
    degree = call.dim(deg) if not isinstance(deg, Tensor) else None
    listed = call.items(deg) is not None
    values = call.facts.shape(values)
    count = None if degree is None or listed else degree + 1
    if values.dims is None:
        return call.unranked()
    return array(call, [count, *values.dims[1:]])


@op("numpy.poly")
def poly(call: Call, seq_of_zeros: Value) -> Value:
    """numpy.poly(seq_of_zeros): https://numpy.org/doc/stable/reference/generated/numpy.poly.html"""
    shape = call.of_rank(pad_front(call, call.shape(seq_of_zeros), 1), 1, 2)
    if shape.dims is None or shape.dims[0] == 0:
        return call.unranked()
    if len(shape.dims) == 2:
        message = f"{call.text} needs a square matrix, gets {shape!r}: {{left}} rows, {{right}} columns"
        call.require_equal(shape.dims[0], shape.dims[1], "SHP105", message)
    return array(call, [shape.dims[0] + 1])


@op("numpy.roots")
def roots(call: Call, p: Value) -> Value:
    """numpy.roots(p): https://numpy.org/doc/stable/reference/generated/numpy.roots.html"""
    call.of_rank(pad_front(call, call.shape(p), 1), 1)
    return vector(call)


@op("numpy.polyadd", "numpy.polysub")
def polyadd(call: Call, a1: Value, a2: Value) -> Value:
    """numpy.polyadd(a1, a2): https://numpy.org/doc/stable/reference/generated/numpy.polyadd.html"""
    left, right = _size(call, a1), _size(call, a2)
    known = left is not None and right is not None and left.constant is not None and right.constant is not None
    longest = Dim.of(max(left.constant or 0, right.constant or 0)) if known and left and right else None
    if left is not None and left == right:
        longest = left
    return array(call, [longest], promote((element_kind(call, a1), element_kind(call, a2))))


@op("numpy.polymul")
def polymul(call: Call, a1: Value, a2: Value) -> Value:
    """numpy.polymul(a1, a2): https://numpy.org/doc/stable/reference/generated/numpy.polymul.html"""
    return vector(call, promote((element_kind(call, a1), element_kind(call, a2))))


def _size(call: Call, value: Value) -> Dim | None:
    shape = pad_front(call, call.shape(value), 1)
    return shape.dims[0] if shape.dims is not None and len(shape.dims) == 1 else None


@op("numpy.polyder", "numpy.polyint")
def polyder(call: Call, p: Value, m: Value = ONE, k: Value = NONE) -> Value:
    """numpy.polyder(p, m): https://numpy.org/doc/stable/reference/generated/numpy.polyder.html"""
    size, times = _size(call, p), call.const(m, int)
    if size is None or times is UNKNOWN:
        return vector(call)
    if call.name == "numpy.polyint":
        return array(call, [size + times])
    left = (size - times).constant
    return array(call, [size - times if left is None else max(left, 0)])


@op("numpy.polydiv")
def polydiv(call: Call, u: Value, v: Value) -> Value:
    """numpy.polydiv(u, v): https://numpy.org/doc/stable/reference/generated/numpy.polydiv.html"""
    return Tup((vector(call), vector(call)))


@op("numpy.polynomial.polynomial.polyval", "numpy.polynomial.chebyshev.chebval", "numpy.polynomial.legendre.legval")
def polynomial_value(call: Call, x: Value, c: Value, tensor: Value = NONE) -> Value:
    """numpy.polynomial.polynomial.polyval: https://numpy.org/doc/stable/reference/routines.polynomials.html"""
    coefficients = call.shape(c)
    return array(call, call.shape(x)) if coefficients.rank == 1 else call.unranked()
