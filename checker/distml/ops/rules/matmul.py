"""Contraction: the matrix product and its relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.broadcast import state_meeting
from distml.ops.rules.axes import axis_in, drop_axis, pad_front
from distml.ops.rules.expand import tile
from distml.ops.rules.linear import with_last
from distml.ops.rules.view import ravel
from distml.shapes import Dim, Shape
from distml.values import Const, Num

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value


def matmul(call: Call, left: Shape, right: Shape) -> Shape:
    """The shape of `left @ right`.

    Vectors are promoted to matrices and the added axis dropped; the last axis of
    the left meets the second last of the right; the axes before broadcast.
    (Python array API, `matmul`; NumPy and PyTorch agree.)
    """
    left, right = _operand(call, left, "left"), _operand(call, right, "right")
    _contract(call, left, right)
    left, right = call.facts.shape(left), call.facts.shape(right)
    if left.dims is None or right.dims is None:
        return _unknown(call, left, right)
    batch = call.broadcast(Shape(left.dims[:-2]), Shape(right.dims[:-2]), message=f"{call.text}: batch axes")
    rows = left.dims[-2:-1]
    columns = right.dims[-1:] if len(right.dims) > 1 else ()
    return Shape(batch.head + rows + columns)


def _operand(call: Call, shape: Shape, side: str) -> Shape:
    known = call.facts.at_least(shape, 1)
    if known is None:
        call.fail("SHP301", f"{call.text}: the {side} operand is a scalar, needs at least 1 axis")
    return known


def _contract(call: Call, left: Shape, right: Shape) -> None:
    if right.rank is None and right.least < 2:
        # A vector or a matrix: the axis that meets the left's last one is not settled.
        return
    meet(call, left, right, -1, -1 if right.rank == 1 else -2)


def meet(call: Call, left: Shape, right: Shape, left_axis: int, right_axis: int) -> None:
    """Require the axis of the left to be as long as the axis of the right it is summed with; SHP101."""
    inner, outer = call.facts.axis(left, left_axis), call.facts.axis(right, right_axis)
    shown = f"{call.show(left)} @ {call.show(right)}"
    on_right = "elements of the vector" if right.rank == 1 else "rows on the right"
    on_left = "elements of the vector" if left.rank == 1 else "columns on the left"
    call.require_equal(
        inner,
        outer,
        "SHP101",
        f"{call.text}: {shown}: {{left}} {on_left} meet {{right}} {on_right}",
        hint=_product_hint(left, right),
    )


def _product_hint(left: Shape, right: Shape) -> str | None:
    """Which transposition or exchange would make two known matrices fit."""
    if left.dims is None or right.dims is None or len(left.dims) < 2 or len(right.dims) < 2:
        return None
    (rows, columns), (height, width) = left.dims[-2:], right.dims[-2:]
    if columns == width:
        return "transpose the right operand"
    if rows == height:
        return "transpose the left operand"
    if width == rows:
        return "exchange the operands"
    return None


def _unknown(call: Call, left: Shape, right: Shape) -> Shape:
    """At least one rank is unknown: keep the matrix axes where they are settled."""
    if right.rank == 1:
        return drop_axis(call, left, -1)
    if left.rank == 1:
        return drop_axis(call, right, -2) if right.least >= 2 else call.facts.unknown_shape()
    if right.least < 2 or left.least < 1:
        return call.facts.unknown_shape()
    columns = call.facts.axis(right, -1)
    if right.rank == 2 and columns is not None:
        return with_last(call, left, columns)
    if left.least < 2:
        return Shape((), call.facts.unknown_shape().middle, () if columns is None else (columns,), right.least - 1)
    rows = call.facts.axis(left, -2)
    tail: tuple[Dim, ...] = tuple(d for d in (rows, columns) if d is not None)
    least = max(left.least, right.least)
    return Shape((), call.facts.unknown_shape().middle, tail, least)


def product_of_rank(call: Call, left: Shape, right: Shape, ranks: tuple[int, int]) -> Shape:
    """A product that wants exactly these ranks: torch.mm, mv, dot, bmm; of rank 3 the batches
    must be the same (SHP104)."""
    left = call.of_rank(left, ranks[0], what="the left operand")
    right = call.of_rank(right, ranks[1], what="the right operand")
    if ranks[0] == 3:
        call.require_equal(
            left.head[0],
            right.head[0],
            "SHP104",
            f"{call.text}: {left!r} and {right!r} have batches of {{left}} and {{right}}",
        )
    meet(call, left, right, -1, max(-ranks[1], -2))
    left, right = call.facts.shape(left), call.facts.shape(right)
    return Shape(left.head[:-1] + (right.head[-1:] if ranks[1] > 1 else ()))


def dot(call: Call, left: Shape, right: Shape) -> Shape:
    """numpy.dot: the last axis of the left with the second last of the right; scalars multiply."""
    left, right = call.facts.shape(left), call.facts.shape(right)
    if left.dims is None or right.dims is None:
        if left.least >= 1 and (right.least >= 2 or right.rank == 1):
            _contract(call, left, right)
            return _outer_parts(call, left, right, -1 if right.rank == 1 else -2)
        return call.facts.unknown_shape()
    if not left.dims or not right.dims:
        return left if left.dims else right
    _contract(call, left, right)
    return _outer_parts(call, left, right, -1 if len(right.dims) == 1 else -2)


def inner(call: Call, left: Shape, right: Shape) -> Shape:
    """The last axes summed with each other (numpy.inner, torch.inner); scalars multiply."""
    left, right = call.facts.shape(left), call.facts.shape(right)
    if left.rank == 0 or right.rank == 0:
        return right if left.rank == 0 else left
    if left.least < 1 or right.least < 1:
        return call.facts.unknown_shape()
    call.require_equal(
        call.facts.axis(left, -1),
        call.facts.axis(right, -1),
        "SHP101",
        f"{call.text}: the last axes of {call.show(left)} and {call.show(right)} differ: {{left}} and {{right}}",
    )
    return _outer_parts(call, left, right, -1)


def _outer_parts(call: Call, left: Shape, right: Shape, axis: int) -> Shape:
    """The left without its last axis, then the right without `axis`."""
    return joined(call, drop_axis(call, left, -1), drop_axis(call, right, axis))


def joined(call: Call, front: Shape, back: Shape) -> Shape:
    """The axes of `front`, then those of `back`."""
    front, back = call.facts.shape(front), call.facts.shape(back)
    if front.dims is not None and back.dims is not None:
        return Shape(front.dims + back.dims)
    head = front.head if front.dims is None else front.dims + back.head
    tail = back.tail if back.dims is None else front.tail + back.dims
    return Shape(head, call.facts.unknown_shape().middle, tail, front.least + back.least)


def outer(call: Call, left: Shape, right: Shape) -> Shape:
    """All products of two flattened operands (numpy.outer)."""
    return Shape((*ravel(call, left).head, *ravel(call, right).head))


def kron(call: Call, left: Shape, right: Shape) -> Shape:
    """The Kronecker product: sizes multiply, the shorter shape padded in front."""
    left, right = call.facts.shape(left), call.facts.shape(right)
    if left.dims is None or right.dims is None:
        return call.facts.unknown_shape()
    rank = max(len(left.dims), len(right.dims))
    return tile(call, left, pad_front(call, right, rank).dims)


def tensordot(call: Call, left: Shape, right: Shape, axes: Value) -> Shape:
    """Several axes summed at once: the last `axes` with the first, or those listed for each side."""
    number = call.dim(axes) if isinstance(axes, Const | Num) else None
    pair = call.items(axes)
    if number is not None and number.constant is not None:
        count = number.constant
        if count < 0:
            call.fail("SHP202", f"{call.text}: {count} axes cannot be summed")
        left_axes: tuple[int, ...] | None = tuple(range(-count, 0))
        right_axes: tuple[int, ...] | None = tuple(range(count))
    elif pair is not None and len(pair) == 2:
        left_axes, right_axes = _axes_of(call, left, pair[0]), _axes_of(call, right, pair[1])
    else:
        return call.facts.unknown_shape()
    if left_axes is None or right_axes is None:
        return call.facts.unknown_shape()
    return _tensordot(call, left, right, left_axes, right_axes)


def _axes_of(call: Call, shape: Shape, value: Value) -> tuple[int, ...] | None:
    items = call.items(value)
    axes = [axis_in(call, item, shape) for item in ((value,) if items is None else items)]
    known = tuple(axis for axis in axes if axis is not None)
    return known if len(known) == len(axes) else None


def _tensordot(call: Call, left: Shape, right: Shape, left_axes: tuple[int, ...], right_axes: tuple[int, ...]) -> Shape:
    if len(left_axes) != len(right_axes):
        call.fail(
            "SHP101",
            f"{call.text}: {len(left_axes)} axes of the left are to meet {len(right_axes)} of the right",
        )
    for a, b in zip(left_axes, right_axes, strict=True):
        _summed(call, left, right, a, b)
    left, right = call.facts.shape(left), call.facts.shape(right)
    if left.dims is None or right.dims is None:
        return call.facts.unknown_shape()
    gone = {a % len(left.dims) for a in left_axes}, {b % len(right.dims) for b in right_axes}
    if len(gone[0]) < len(left_axes) or len(gone[1]) < len(right_axes):
        call.fail("SHP202", f"{call.text}: an axis is summed twice in {left_axes} and {right_axes}")
    kept = [d for i, d in enumerate(left.dims) if i not in gone[0]]
    kept += [d for i, d in enumerate(right.dims) if i not in gone[1]]
    return Shape(tuple(kept))


def _summed(call: Call, left: Shape, right: Shape, a: int, b: int) -> None:
    sizes = call.facts.axis(left, a), call.facts.axis(right, b)
    for shape, axis, size in ((left, a, sizes[0]), (right, b, sizes[1])):
        if size is None:
            call.fail("SHP202", f"{call.text}: axis {axis} is out of range for {call.show(shape)}")
    if call.dialect.one_contracts and any(s is not None and not s.differs(1) for s in sizes):
        # An axis of size 1 is broadcast here.
        first, second = sizes
        if first is not None and second is not None:
            state_meeting(call, first, second, "SHP101", f"{call.text}: {first} meets {second}")
        return
    call.require_equal(
        *sizes,
        "SHP101",
        f"{call.text}: axis {a} of {call.show(left)} has {{left}}, axis {b} of {call.show(right)} has {{right}}",
    )


def chain(call: Call, matrices: list[Shape]) -> Shape:
    """numpy.linalg.multi_dot: matrices, the first and the last may be vectors."""
    if len(matrices) < 2:
        call.fail("SHP101", f"{call.text} needs at least two matrices, gets {len(matrices)}")
    for i, matrix in enumerate(matrices):
        call.of_rank(matrix, *((1, 2) if i in (0, len(matrices) - 1) else (2,)), what=f"matrix {i}")
    result = matrices[0]
    for matrix in matrices[1:]:
        result = matmul(call, result, matrix)
    return result
