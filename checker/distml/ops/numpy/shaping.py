"""numpy: other shapes for the same elements, axes exchanged, added and dropped.

(https://numpy.org/doc/stable/reference/routines.array-manipulation.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, ZERO, Call
from distml.ops.numpy.array import shape_of_nested
from distml.ops.numpy.dtypes import content_of
from distml.ops.numpy.results import array
from distml.ops.registry import attribute, op
from distml.ops.rules import axes as axis_rules
from distml.ops.rules.elements import held, nested
from distml.ops.rules.expand import expand, repeat_elements, tile
from distml.ops.rules.kinds import element_kind
from distml.ops.rules.sizes import shape_from
from distml.ops.rules.view import ravel as ravel_rule
from distml.ops.rules.view import reshape as reshape_rule
from distml.ops.rules.view import reshape_whole
from distml.shapes import Dim, Shape
from distml.values import Const, Num, Prim, ShapeSeq, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

ONE = Const(1)
FIRST_TWO = Tup((ZERO, ONE))


_IN_ROWS = (NONE, Const("C"))
"""The orders in which elements are read as they are kept here."""


@op("numpy.reshape")
def reshape(call: Call, a: Value, shape: Value = NONE, order: Value = NONE, **options: Value) -> Value:
    """numpy.reshape(a, shape): https://numpy.org/doc/stable/reference/generated/numpy.reshape.html"""
    return reshape_method(call, a, options.get("newshape", shape), order=order)


@op("numpy.ndarray.reshape")
def reshape_method(call: Call, self: Value, *shape: Value, **options: Value) -> Value:
    """ndarray.reshape(*shape): https://numpy.org/doc/stable/reference/generated/numpy.ndarray.reshape.html"""
    shape = shape or (options.get("shape", NONE),)
    content = content_of(self) if options.get("order", NONE) in _IN_ROWS else None
    if len(shape) == 1 and isinstance(shape[0], ShapeSeq) and call.sizes(shape[0]) is None:
        whole = reshape_whole(call, shape[0].shape)
        return Tensor(call.lib, whole, element_kind(call, self), content=content)
    new = reshape_rule(call, shape_of_nested(call, self), call.var_sizes(shape))
    return Tensor(call.lib, new, element_kind(call, self), content=content)


@op("numpy.ravel", "numpy.ndarray.ravel", "numpy.ndarray.flatten")
def ravel(call: Call, a: Value, order: Value = NONE) -> Value:
    """numpy.ravel(a): https://numpy.org/doc/stable/reference/generated/numpy.ravel.html"""
    content = content_of(a) if order in _IN_ROWS else None
    return Tensor(call.lib, ravel_rule(call, call.shape(a)), element_kind(call, a), content=content)


@op("numpy.transpose", "numpy.permute_dims")
def transpose(call: Call, a: Value, axes: Value = NONE) -> Value:
    """numpy.transpose(a, axes): https://numpy.org/doc/stable/reference/generated/numpy.transpose.html"""
    shape = call.shape(a)
    absent = call.is_none(axes)
    if absent:
        return array(call, axis_rules.reverse(call, shape), element_kind(call, a))
    items = call.items(axes)
    if absent is None or items is None:
        return array(call, axis_rules.permute(call, shape, None), element_kind(call, a))
    return array(call, axis_rules.permute(call, shape, items), element_kind(call, a))


@op("numpy.ndarray.transpose")
def transpose_method(call: Call, self: Value, *axes: Value) -> Value:
    """ndarray.transpose(*axes): https://numpy.org/doc/stable/reference/generated/numpy.ndarray.transpose.html"""
    if not axes:
        return transpose(call, self)
    single = len(axes) == 1 and call.items(axes[0]) is None and not isinstance(axes[0], Const)
    if len(axes) == 1 and (axes[0] == NONE or call.items(axes[0]) is not None or single):
        return transpose(call, self, axes[0])
    return array(call, axis_rules.permute(call, call.shape(self), axes), element_kind(call, self))


@attribute("numpy.ndarray.T")
def transposed(call: Call, self: Value) -> Value:
    """ndarray.T: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.T.html"""
    return transpose(call, self)


@op("numpy.swapaxes", "numpy.ndarray.swapaxes")
def swapaxes(call: Call, a: Value, axis1: Value, axis2: Value) -> Value:
    """numpy.swapaxes(a, axis1, axis2): https://numpy.org/doc/stable/reference/generated/numpy.swapaxes.html"""
    return array(call, axis_rules.swap_axes(call, call.shape(a), axis1, axis2), element_kind(call, a))


@op("numpy.moveaxis")
def moveaxis(call: Call, a: Value, source: Value, destination: Value) -> Value:
    """numpy.moveaxis(a, source, destination): https://numpy.org/doc/stable/reference/generated/numpy.moveaxis.html"""
    return array(call, axis_rules.move_axes(call, call.shape(a), source, destination), element_kind(call, a))


@op("numpy.rollaxis")
def rollaxis(call: Call, a: Value, axis: Value, start: Value = ZERO) -> Value:
    """numpy.rollaxis(a, axis, start): https://numpy.org/doc/stable/reference/generated/numpy.rollaxis.html"""
    shape, kind = call.shape(a), element_kind(call, a)
    source, target = call.axis(axis, shape.rank), call.axis(start, shape.rank, extra=1)
    number = call.const(start, int)
    if source is None or target is None or shape.dims is None:
        return call.unranked(kind) if shape.rank is None else array(call, [None] * shape.rank, kind)
    # A negative start counts the axes there are, not the places between them.
    target = number + len(shape.dims) if number < 0 else number
    dims = list(shape.dims)
    moved = dims.pop(source)
    dims.insert(target - 1 if source < target else target, moved)
    return array(call, dims, kind)


@op("numpy.expand_dims")
def expand_dims(call: Call, a: Value, axis: Value) -> Value:
    """numpy.expand_dims(a, axis): https://numpy.org/doc/stable/reference/generated/numpy.expand_dims.html"""
    if not isinstance(axis, Const | Num | Prim) and call.items(axis) is None:
        # One axis or several.
        return call.unranked(element_kind(call, a))
    return array(call, axis_rules.expand_dims(call, call.shape(a), axis), element_kind(call, a))


@op("numpy.squeeze", "numpy.ndarray.squeeze")
def squeeze(call: Call, a: Value, axis: Value = NONE) -> Value:
    """numpy.squeeze(a, axis): https://numpy.org/doc/stable/reference/generated/numpy.squeeze.html"""
    absent = call.is_none(axis)
    if absent is None:
        return call.unranked(element_kind(call, a))
    shape = axis_rules.squeeze(call, call.shape(a), None if absent else axis, strict=True)
    return array(call, shape, element_kind(call, a))


@op("numpy.atleast_1d", "numpy.atleast_2d", "numpy.atleast_3d")
def atleast(call: Call, *arys: Value) -> Value:
    """numpy.atleast_2d(*arys): https://numpy.org/doc/stable/reference/generated/numpy.atleast_2d.html"""
    rank = int(call.name[-2])
    raised = tuple(_at_least(call, v, rank) for v in arys)
    return raised[0] if len(raised) == 1 else Tup(raised)


def _at_least(call: Call, value: Value, rank: int) -> Tensor:
    kind = element_kind(call, value)
    content = held(call, nested(call, value), kind)
    return Tensor(call.lib, _raised(call, shape_of_nested(call, value), rank), kind, content=content)


def _raised(call: Call, shape: Shape, rank: int) -> Shape:
    return axis_rules.at_least_3d(call, shape) if rank == 3 else axis_rules.pad_front(call, shape, rank)


@op("numpy.broadcast_to")
def broadcast_to(call: Call, array: Value, shape: Value, subok: Value = NONE) -> Value:
    """numpy.broadcast_to(array, shape): https://numpy.org/doc/stable/reference/generated/numpy.broadcast_to.html"""
    kind = element_kind(call, array)
    wanted = shape_from(call, shape)
    if wanted.dims is None:
        return Tensor(call.lib, wanted, kind)
    return Tensor(call.lib, expand(call, call.shape(array), wanted.dims), kind)


@op("numpy.broadcast_arrays")
def broadcast_arrays(call: Call, *args: Value, subok: Value = NONE) -> Value:
    """numpy.broadcast_arrays(*args): https://numpy.org/doc/stable/reference/generated/numpy.broadcast_arrays.html"""
    shape = call.broadcast(*(call.shape(arg) for arg in args), message=call.text)
    return Tup(tuple(array(call, shape, element_kind(call, arg)) for arg in args))


@op("numpy.broadcast_shapes")
def broadcast_shapes(call: Call, *args: Value) -> Value:
    """numpy.broadcast_shapes(*args): https://numpy.org/doc/stable/reference/generated/numpy.broadcast_shapes.html"""
    shape = call.broadcast(*(shape_from(call, arg) for arg in args), message=call.text)
    return shape_value(call, shape)


def shape_value(call: Call, shape: Shape) -> Value:
    """A shape as the tuple a program sees."""
    shape = call.facts.shape(shape)
    if shape.dims is None:
        return ShapeSeq(shape, call.lib)
    return Tup(tuple(call.number(dim) for dim in shape.dims), "size")


@op("numpy.resize")
def resize(call: Call, a: Value, new_shape: Value) -> Value:
    """numpy.resize(a, new_shape): https://numpy.org/doc/stable/reference/generated/numpy.resize.html"""
    return array(call, shape_from(call, new_shape), element_kind(call, a))


@op("numpy.ndarray.resize")
def resize_in_place(call: Call, self: Value, *new_shape: Value, refcheck: Value = NONE) -> Value:
    """ndarray.resize(new_shape): https://numpy.org/doc/stable/reference/generated/numpy.ndarray.resize.html"""
    if isinstance(self, Tensor):
        sizes = Tup(new_shape) if len(new_shape) > 1 else new_shape[0] if new_shape else Tup(())
        call.world.reshaped(self, shape_from(call, sizes))
    return NONE


@op("numpy.ndarray.shape.setter")
def set_shape(call: Call, self: Value, value: Value) -> Value:
    """`x.shape = value`: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.shape.html"""
    if isinstance(self, Tensor):
        call.world.reshaped(self, reshape_rule(call, call.shape(self), call.sizes(value)))
    return NONE


@op("numpy.tile")
def tile_op(call: Call, A: Value, reps: Value) -> Value:
    """numpy.tile(A, reps): https://numpy.org/doc/stable/reference/generated/numpy.tile.html"""
    return array(call, tile(call, call.shape(A), call.sizes(reps)), element_kind(call, A))


@op("numpy.repeat", "numpy.ndarray.repeat")
def repeat(call: Call, a: Value, repeats: Value, axis: Value = NONE) -> Value:
    """numpy.repeat(a, repeats, axis): https://numpy.org/doc/stable/reference/generated/numpy.repeat.html"""
    if call.is_none(axis) is None:
        return call.unranked(element_kind(call, a))
    shape = call.shape(a)
    if call.const(axis, int) in (0, -1) and shape.least == 0:
        # A scalar is taken for a vector of one element.
        if shape.rank is None:
            return call.unranked(element_kind(call, a))
        shape = Shape.of(1)
    return array(call, repeat_elements(call, shape, repeats, axis), element_kind(call, a))


@op("numpy.roll")
def roll(call: Call, a: Value, shift: Value, axis: Value = NONE) -> Value:
    """numpy.roll(a, shift, axis): https://numpy.org/doc/stable/reference/generated/numpy.roll.html"""
    return _unchanged(call, a, axis)


@op("numpy.flip")
def flip(call: Call, m: Value, axis: Value = NONE) -> Value:
    """numpy.flip(m, axis): https://numpy.org/doc/stable/reference/generated/numpy.flip.html"""
    return _unchanged(call, m, axis)


def _unchanged(call: Call, value: Value, axis: Value) -> Value:
    """The same shape; the axes named must be there."""
    shape = call.shape(value)
    if call.is_none(axis) is False:
        call.axes(axis, shape.rank)
    return array(call, shape, element_kind(call, value))


def _needs(rank: int) -> Callable[[Call, Value], Shape]:
    def required(call: Call, value: Value) -> Shape:
        known = call.facts.at_least(call.shape(value), rank)
        if known is None:
            call.fail("SHP301", f"{call.text} needs at least {rank} axes, gets {call.show(value)}")
        return known

    return required


_AT_LEAST = {"flipud": _needs(1), "fliplr": _needs(2)}


@op("numpy.flipud", "numpy.fliplr")
def fliplr(call: Call, m: Value) -> Value:
    """numpy.fliplr(m): https://numpy.org/doc/stable/reference/generated/numpy.fliplr.html"""
    return array(call, _AT_LEAST[call.name.rpartition(".")[2]](call, m), element_kind(call, m))


@op("numpy.rot90")
def rot90(call: Call, m: Value, k: Value = ONE, axes: Value = FIRST_TWO) -> Value:
    """numpy.rot90(m, k, axes): https://numpy.org/doc/stable/reference/generated/numpy.rot90.html"""
    shape, kind = _needs(2)(call, m), element_kind(call, m)
    turns, pair = call.const(k, int), call.items(axes)
    if not isinstance(turns, int) or pair is None or len(pair) != 2:
        return call.unranked(kind) if shape.rank is None else array(call, [None] * shape.rank, kind)
    if turns % 2 == 0:
        return array(call, shape, kind)
    return array(call, axis_rules.swap_axes(call, shape, *pair), kind)


@op("numpy.tril", "numpy.triu")
def tril(call: Call, m: Value, k: Value = ZERO) -> Value:
    """numpy.tril(m): https://numpy.org/doc/stable/reference/generated/numpy.tril.html"""
    shape = call.shape(m)
    if shape.rank == 1:
        return array(call, [shape.head[0], shape.head[0]], element_kind(call, m))
    return array(call, shape, element_kind(call, m)) if shape.rank or shape.least > 1 else call.unranked()


@op("numpy.diag", "numpy.diagflat")
def diag(call: Call, v: Value, k: Value = ZERO) -> Value:
    """numpy.diag(v, k): https://numpy.org/doc/stable/reference/generated/numpy.diag.html"""
    shape, kind = call.shape(v), element_kind(call, v)
    offset = call.const(k, int)
    shape = ravel_rule(call, shape) if call.name == "numpy.diagflat" else call.of_rank(shape, 1, 2)
    if shape.dims is None:
        return call.unranked(kind)
    if len(shape.dims) == 2:
        return array(call, [diagonal_length(call, *shape.dims, k)], kind)
    size = shape.dims[0] + abs(offset) if isinstance(offset, int) else None
    return array(call, Shape((size, size)) if size is not None else [None, None], kind)


def diagonal_length(call: Call, rows: Dim, columns: Dim, offset: Value) -> Dim | None:
    """How many elements lie on a diagonal."""
    from distml.ops.rules.linalg import smaller

    number = call.const(offset, int)
    if not isinstance(number, int):
        return None
    if number == 0:
        return smaller(call, rows, columns)
    if rows.constant is None or columns.constant is None:
        return None
    rest = (rows.constant, columns.constant - number) if number > 0 else (rows.constant + number, columns.constant)
    return Dim.of(max(0, min(rest)))


@op("numpy.diagonal", "numpy.ndarray.diagonal")
def diagonal(call: Call, a: Value, offset: Value = ZERO, axis1: Value = ZERO, axis2: Value = ONE) -> Value:
    """numpy.diagonal(a): https://numpy.org/doc/stable/reference/generated/numpy.diagonal.html"""
    shape, kind = _needs(2)(call, a), element_kind(call, a)
    first, second = call.axis(axis1, shape.rank), call.axis(axis2, shape.rank)
    if shape.dims is None or first is None or second is None:
        return call.unranked(kind) if shape.rank is None else array(call, [None] * (shape.rank - 1), kind)
    if first == second:
        call.fail("SHP202", f"{call.text}: axis1 and axis2 are the same axis, {first}")
    length = diagonal_length(call, shape.dims[first], shape.dims[second], offset)
    return array(call, [*(d for i, d in enumerate(shape.dims) if i not in (first, second)), length], kind)


@op("numpy.fill_diagonal")
def fill_diagonal(call: Call, a: Value, val: Value, wrap: Value = NONE) -> Value:
    """numpy.fill_diagonal(a, val), in place: https://numpy.org/doc/stable/reference/generated/numpy.fill_diagonal.html"""
    _needs(2)(call, a)
    return NONE
