"""The shape of anything that can stand where an array is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.shapes import Dim, Shape
from distml.values import (
    ClaimedNum,
    ClaimedPrim,
    ClaimedTensor,
    Const,
    DictRecord,
    Expr,
    InstanceRecord,
    ListRecord,
    Many,
    Num,
    Opaque,
    Prim,
    Range,
    Ref,
    SetRecord,
    ShapeSeq,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call, World

MAX_NESTING = 32
OF_MASKED = frozenset("anom compressed count fill_value filled harden_mask mask shrink_mask soften_mask".split())
"""What masked arrays have and other arrays do not."""


def may_redefine(world: World, value: Value) -> bool:
    """Whether operators and functions may do with a value what its class wants: nothing shows what it is.

    A sparse matrix, a data frame or an object of the program has operators of its own, and NumPy's functions call
    what it defines. What was given to a layer is a tensor, what was used as a size is a number.
    """
    if isinstance(value, Expr):
        return may_redefine(world, value.left) or may_redefine(world, value.right)
    return isinstance(value, Opaque) and world.get(("kind", value)) is None and world.get(("dim", value)) is None


def shape_of(call: Call, value: Value, depth: int = 0) -> Shape:
    """The shape an array-like value has once it is an array.

    Numbers have rank 0; nested sequences stack their items; a value nothing is
    known of gets an unknown shape that stays its own, so that what is learned of
    it later reaches every use. `None`, `...` and, where the dialect says so, strings are no arrays: an
    operation that meets one meets a placeholder on a path that is not taken like this.
    """
    if isinstance(value, ClaimedNum | ClaimedPrim | ClaimedTensor) and _is_scalar_by_claim(call, value):
        call.trusting = True
        return call.facts.unknown_shape() if call.wary else Shape.of()
    if isinstance(value, Tensor):
        return call.facts.shape(value.shape)
    if isinstance(value, Num | Prim) or (isinstance(value, Const) and _is_scalar(call, value, depth)):
        return Shape.of()
    if isinstance(value, Const):
        return call.facts.unknown_shape()
    if isinstance(value, Opaque):
        return _remembered(call, value)
    if depth > MAX_NESTING:
        return call.facts.unknown_shape()
    if isinstance(value, Union):
        return common(call, [shape_of(call, option, depth + 1) for option in value.options])
    if isinstance(value, Expr):
        return _expression(call, value, depth)
    return _sequence(call, value, depth)


def _is_scalar_by_claim(call: Call, value: Value) -> bool:
    """Whether an annotation alone says that a value is a number, or what it was computed of."""
    return not isinstance(value, Tensor) or call.facts.shape(value.shape).rank == 0


def _is_scalar(call: Call, value: Const, depth: int) -> bool:
    """Whether a constant is a number, or an element as NumPy's arrays of strings and objects have them."""
    if isinstance(value.value, int | float | complex):
        return True
    if isinstance(value.value, str | bytes):
        return call.dialect.text_is_element
    return call.dialect.anything_is_element and depth > 0


def common(call: Call, shapes: Sequence[Shape]) -> Shape:
    """The most precise shape that all of `shapes` are; new symbols where they differ."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    if first.rank is None or any(shape.rank != first.rank for shape in shapes):
        return call.facts.unknown_shape()
    columns = zip(*(shape.head for shape in shapes), strict=True)
    return Shape(tuple(column[0] if all(d == column[0] for d in column) else call.symbol("size") for column in columns))


def _remembered(call: Call, value: Opaque) -> Shape:
    call.doubtful = call.doubtful or may_redefine(call.world, value)
    key = ("shape", value)
    known = call.world.get(key)
    if known is None:
        known = call.facts.unknown_shape(value.name)
        call.world.put(key, known)
    return call.facts.shape(known)


def _expression(call: Call, value: Expr, depth: int) -> Shape:
    left, right = (shape_of(call, v, depth + 1) for v in (value.left, value.right))
    if right.rank == 0:
        return left
    if left.rank == 0:
        return right
    return call.facts.unknown_shape()


def _sequence(call: Call, value: Value, depth: int) -> Shape:
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(record, InstanceRecord) and "__items__" in record.attrs:
        return _sequence(call, record.attrs["__items__"], depth)
    if isinstance(record, DictRecord | SetRecord) or (isinstance(value, Tup) and value.kind == "view"):
        # NumPy makes one object of it, which nobody means.
        return call.facts.unknown_shape()
    items = call.items(value)
    if items is not None:
        return _stacked(call, items, depth)
    if isinstance(value, Range | ShapeSeq):
        return Shape((call.symbol("length"),))
    if isinstance(value, Many):
        length = value.length if value.length is not None else call.symbol("length")
        return call.facts.framed((length,), shape_of(call, value.item, depth + 1))
    if isinstance(record, ListRecord):
        length = record.length if record.length is not None else call.symbol("length")
        if record.item is None:
            return call.facts.unknown_shape()
        return call.facts.framed((length,), shape_of(call, record.item, depth + 1))
    call.foreign = call.foreign or isinstance(record, InstanceRecord)
    return call.facts.unknown_shape()


def _stacked(call: Call, items: tuple[Value, ...], depth: int) -> Shape:
    if not items:
        return Shape.of(0)
    seen: dict[Value, Shape] = {}
    for item in items:
        if item not in seen:
            seen[item] = shape_of(call, item, depth + 1)
    return call.facts.framed((Dim.of(len(items)),), common(call, list(seen.values())))
