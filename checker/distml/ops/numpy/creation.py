"""numpy: arrays of a given size: zeros, ones, full, eye, and those like another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, UNKNOWN, ZERO, Call
from distml.ops.numpy.array import shape_of_nested
from distml.ops.numpy.dtypes import kind_of
from distml.ops.numpy.results import array
from distml.ops.registry import op
from distml.ops.rules.kinds import element_kind
from distml.ops.rules.pointwise import fits_into
from distml.ops.rules.sizes import nonnegative, of_items, shape_from
from distml.shapes import Dim, Shape
from distml.values import Const, Tup

if TYPE_CHECKING:
    from distml.values import Value

FLOAT = Const("float64")


@op("numpy.zeros", "numpy.ones", "numpy.empty", "numpy.ndarray")
def filled(call: Call, shape: Value, dtype: Value = NONE, *_: Value, **options: Value) -> Value:
    """numpy.zeros(shape): https://numpy.org/doc/stable/reference/generated/numpy.zeros.html"""
    return array(call, shape_from(call, shape), kind_of(call, dtype, "float"))


@op("numpy.full")
def full(call: Call, shape: Value, fill_value: Value, dtype: Value = NONE, *_: Value, **options: Value) -> Value:
    """numpy.full(shape, fill_value): https://numpy.org/doc/stable/reference/generated/numpy.full.html"""
    wanted = shape_from(call, shape)
    fits_into(call, call.shape(fill_value), wanted, drops_ones=True, code="SHP102")
    return array(call, wanted, kind_of(call, dtype, element_kind(call, fill_value)))


@op("numpy.zeros_like", "numpy.ones_like", "numpy.empty_like")
def like(
    call: Call,
    a: Value = NONE,
    dtype: Value = NONE,
    order: Value = NONE,
    subok: Value = NONE,
    shape: Value = NONE,
    **options: Value,
) -> Value:
    """numpy.zeros_like(a): https://numpy.org/doc/stable/reference/generated/numpy.zeros_like.html"""
    a = options.pop("prototype", a)
    kind = kind_of(call, dtype, element_kind(call, a))
    absent = call.is_none(shape)
    if absent is None:
        return call.unranked(kind)
    return array(call, shape_of_nested(call, a) if absent else shape_from(call, shape), kind)


@op("numpy.full_like")
def full_like(
    call: Call,
    a: Value,
    fill_value: Value,
    dtype: Value = NONE,
    order: Value = NONE,
    subok: Value = NONE,
    shape: Value = NONE,
    **options: Value,
) -> Value:
    """numpy.full_like(a, fill_value): https://numpy.org/doc/stable/reference/generated/numpy.full_like.html"""
    made: Value = like(call, a, dtype, order, subok, shape)
    fits_into(call, call.shape(fill_value), call.shape(made), drops_ones=True, code="SHP102")
    return made


@op("numpy.eye")
def eye(
    call: Call,
    N: Value,
    M: Value = NONE,
    k: Value = ZERO,
    dtype: Value = NONE,
    *_: Value,
    **options: Value,
) -> Value:
    """numpy.eye(N, M): https://numpy.org/doc/stable/reference/generated/numpy.eye.html"""
    rows = of_items(call, [N]).head[0]
    absent = call.is_none(M)
    columns = rows if absent else None if absent is None else of_items(call, [M]).head[0]
    return array(call, [rows, columns], kind_of(call, dtype, "float"))


@op("numpy.identity")
def identity(call: Call, n: Value, dtype: Value = NONE, **options: Value) -> Value:
    """numpy.identity(n): https://numpy.org/doc/stable/reference/generated/numpy.identity.html"""
    size = of_items(call, [n]).head[0]
    return array(call, [size, size], kind_of(call, dtype, "float"))


@op("numpy.tri")
def tri(
    call: Call,
    N: Value,
    M: Value = NONE,
    k: Value = ZERO,
    dtype: Value = NONE,
    **options: Value,
) -> Value:
    """numpy.tri(N, M): https://numpy.org/doc/stable/reference/generated/numpy.tri.html"""
    rows = _clamped(call, N)
    absent = call.is_none(M)
    columns = rows if absent else None if absent is None else _clamped(call, M)
    return array(call, [rows, columns], kind_of(call, dtype, "float"))


def _clamped(call: Call, value: Value) -> Dim | None:
    """A size that a negative number makes zero."""
    dim = call.dim(value)
    if dim is not None and dim.low is None and (-dim).low is None:
        return dim
    return dim if dim is None or (dim.low or 0) >= 0 else call.symbol("size")


@op("numpy.fromfunction")
def fromfunction(call: Call, function: Value, shape: Value, *, dtype: Value = NONE, **kwargs: Value) -> Value:
    """numpy.fromfunction(function, shape): https://numpy.org/doc/stable/reference/generated/numpy.fromfunction.html"""
    wanted = shape_from(call, shape)
    if wanted.dims is None:
        return call.unknown()
    grid = array(call, wanted, kind_of(call, dtype, "float"))
    return call.apply(function, *(grid for _ in wanted.dims), kwargs=kwargs)


@op("numpy.indices")
def indices(call: Call, dimensions: Value, dtype: Value = NONE, sparse: Value = Const(False)) -> Value:
    """numpy.indices(dimensions): https://numpy.org/doc/stable/reference/generated/numpy.indices.html"""
    grid, kind = shape_from(call, dimensions), kind_of(call, dtype, "int")
    flag = call.flag(sparse)
    if grid.dims is None or flag is None:
        return call.unknown() if flag is not False else call.unranked(kind)
    if not flag:
        return array(call, [len(grid.dims), *grid.dims], kind)
    return Tup(tuple(array(call, alone(grid, axis), kind) for axis in range(len(grid.dims))))


def alone(grid: Shape, axis: int) -> Shape:
    """The shape of one axis of a grid, the others being 1."""
    return Shape(tuple(dim if i == axis else Dim.of(1) for i, dim in enumerate(grid.head)))


@op("numpy.diag_indices", "numpy.tril_indices", "numpy.triu_indices")
def diag_indices(call: Call, n: Value, *args: Value, **options: Value) -> Value:
    """numpy.diag_indices(n): https://numpy.org/doc/stable/reference/generated/numpy.diag_indices.html"""
    if call.name != "numpy.diag_indices":
        return Tup((pair := array(call, [_triangle(call, n, args, options)], "int"), pair))
    count = call.const(args[0] if args else options.get("ndim", Const(2)), int)
    if count is UNKNOWN or count > 32:
        return call.unknown()
    return Tup((array(call, [nonnegative(call, call.dim(n))], "int"),) * count)


def _triangle(call: Call, n: Value, args: tuple[Value, ...], options: dict[str, Value]) -> Dim:
    offset = call.const(args[0] if args else options.get("k", ZERO), int)
    size = call.dim(n)
    if size is None or len(args) > 1 or "m" in options or offset not in (-1, 0, 1):
        return call.symbol("count")
    upper = call.name == "numpy.triu_indices"
    inside = offset == 0
    # Without the diagonal n*(n-1)/2 cells are left, with it n*(n+1)/2.
    if not inside and (offset == 1) is not upper:
        return call.symbol("count")
    return size * (size + 1 if inside else size - 1) // 2


@op("numpy.diag_indices_from", "numpy.tril_indices_from", "numpy.triu_indices_from")
def indices_from(call: Call, arr: Value, k: Value = ZERO) -> Value:
    """numpy.diag_indices_from(arr): https://numpy.org/doc/stable/reference/generated/numpy.diag_indices_from.html"""
    shape = call.shape(arr)
    if call.name != "numpy.diag_indices_from":
        call.of_rank(shape, 2)
        pair = array(call, [None], "int")
        return Tup((pair, pair))
    if shape.dims is None:
        return call.unknown()
    if len(shape.dims) < 2:
        call.of_rank(shape, 2)
    for dim in shape.dims[1:]:
        message = f"{call.text}: all axes must have one length, gets {shape!r}: {{left}} meets {{right}}"
        call.require_equal(shape.dims[0], dim, "SHP105", message)
    return Tup((array(call, [shape.dims[0]], "int"),) * len(shape.dims))


@op("numpy.mask_indices")
def mask_indices(call: Call, n: Value, mask_func: Value, k: Value = ZERO) -> Value:
    """numpy.mask_indices: https://numpy.org/doc/stable/reference/generated/numpy.mask_indices.html"""
    pair = array(call, [None], "int")
    return Tup((pair, pair))
