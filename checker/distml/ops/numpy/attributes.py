"""numpy: attributes of arrays, and the methods that lead out of NumPy.

(https://numpy.org/doc/stable/reference/arrays.ndarray.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.numpy.array import shape_of_nested
from distml.ops.numpy.dtypes import content_of
from distml.ops.numpy.results import array
from distml.ops.numpy.shaping import shape_value
from distml.ops.registry import attribute, op
from distml.ops.rules.axes import swap_axes
from distml.ops.rules.elements import plain, written
from distml.ops.rules.kinds import real
from distml.ops.rules.nested import nested
from distml.ops.rules.one_value import require_number
from distml.ops.rules.ranks import rank_of
from distml.values import Const, Prim, Tensor

if TYPE_CHECKING:
    from distml.values import Value


@attribute("numpy.ndarray.shape")
def shape(call: Call, self: Value) -> Value:
    """ndarray.shape: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.shape.html"""
    return shape_value(call, call.shape(self))


@op("numpy.shape")
def shape_of(call: Call, a: Value) -> Value:
    """numpy.shape(a): https://numpy.org/doc/stable/reference/generated/numpy.shape.html"""
    return shape_value(call, shape_of_nested(call, a))


@attribute("numpy.ndarray.ndim")
@op("numpy.ndim")
def ndim(call: Call, a: Value) -> Value:
    """numpy.ndim(a): https://numpy.org/doc/stable/reference/generated/numpy.ndim.html"""
    return call.number(rank_of(call, shape_of_nested(call, a)))


@attribute("numpy.ndarray.size")
def size(call: Call, self: Value) -> Value:
    """ndarray.size: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.size.html"""
    count = call.shape(self).size
    return Prim("int") if count is None else call.number(call.small(count))


@op("numpy.size")
def size_of(call: Call, a: Value, axis: Value = NONE) -> Value:
    """numpy.size(a, axis): https://numpy.org/doc/stable/reference/generated/numpy.size.html"""
    if isinstance(a, Tensor) and a.lib != "numpy":
        # It asks for the attribute `size`, which is a method elsewhere.
        return call.unknown()
    if call.is_none(axis):
        return size(call, a)
    place = call.const(axis, int)
    found = call.facts.axis(call.shape(a), place) if isinstance(place, int) else None
    return Prim("int") if found is None else call.number(found)


@op("numpy.ndarray.__len__")
def length(call: Call, self: Value) -> Value:
    """`len(x)`: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.__len__.html"""
    found = call.facts.axis(call.shape(self), 0)
    if found is None:
        call.fail("SHP301", f"{call.text}: a scalar has no length")
    return call.number(found)


@attribute("numpy.ndarray.real", "numpy.ndarray.imag")
def real_part(call: Call, self: Value) -> Value:
    """ndarray.real: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.real.html"""
    return array(call, call.shape(self), real(call.dtype(self)))


@attribute("numpy.ndarray.mT")
def matrix_transposed(call: Call, self: Value) -> Value:
    """ndarray.mT: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.mT.html"""
    shape = call.shape(self)
    if shape.rank is not None and shape.rank < 2:
        return call.unknown()
    return array(call, swap_axes(call, shape, Const(-2), Const(-1)), call.dtype(self))


@attribute("numpy.ndarray.itemsize", "numpy.ndarray.nbytes")
def itemsize(call: Call, self: Value) -> Value:
    """ndarray.nbytes: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.nbytes.html"""
    return Prim("int")


@attribute(*(f"numpy.ndarray.{name}" for name in ("flat", "flags", "data", "base", "ctypes", "strides", "device")))
def opaque(call: Call, self: Value) -> Value:
    """ndarray.flat: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.flat.html"""
    if isinstance(self, Tensor) and self.numbers and call.name.endswith(("flat", "data", "base", "ctypes")):
        written(call, self)  # by whoever has it
    return call.unknown()


@op("numpy.ndarray.item")
def item(call: Call, self: Value, *args: Value) -> Value:
    """ndarray.item(*args): https://numpy.org/doc/stable/reference/generated/numpy.ndarray.item.html"""
    if not args:
        require_number(call, self)
    number = self.number if isinstance(self, Tensor) else None
    if number is not None:
        return plain(number)
    kind = call.dtype(self)
    return call.unknown("item") if kind is None else Prim(kind)


@op("numpy.ndarray.tolist")
def tolist(call: Call, self: Value) -> Value:
    """ndarray.tolist(): https://numpy.org/doc/stable/reference/generated/numpy.ndarray.tolist.html"""
    content = content_of(self)
    known = call.shape(self)
    if content is not None and known.rank in (0, 1):
        items = tuple(map(plain, content))
        return call.list_of(items) if known.rank else items[0]
    return nested(call, known, call.dtype(self))


@op("numpy.ndarray.tobytes", "numpy.ndarray.tostring", "numpy.ndarray.dumps")
def tobytes(call: Call, self: Value, *_: Value, **options: Value) -> Value:
    """ndarray.tobytes(): https://numpy.org/doc/stable/reference/generated/numpy.ndarray.tobytes.html"""
    return Prim("bytes")


@op("numpy.ndarray.__contains__")
def contains(call: Call, self: Value, key: Value) -> Value:
    """`value in x`: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.__contains__.html"""
    return Prim("bool")
