"""Linear algebra on the last two axes; those before are a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.rules.axes import replace_axes
from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from distml.ops.call import Call


class Matrix(NamedTuple):
    """A stack of matrices."""

    shape: Shape
    rows: Dim
    columns: Dim


def matrix(call: Call, shape: Shape, what: str = "the input") -> Matrix:
    """The last two axes; fails (SHP301) where there are fewer."""
    rows, columns = call.facts.axis(shape, -2), call.facts.axis(shape, -1)
    if rows is None or columns is None:
        call.fail(
            "SHP301",
            f"{call.text} needs {what} with at least 2 axes, gets {call.show(shape)}",
            *call.notes(*shape.head),
        )
    return Matrix(call.facts.shape(shape), rows, columns)


def square(call: Call, shape: Shape, what: str = "the input") -> Matrix:
    """The last two axes, required to be equal (SHP105)."""
    found = matrix(call, shape, what)
    call.require_equal(
        found.rows,
        found.columns,
        "SHP105",
        f"{call.text} needs square matrices, gets {call.show(shape)}: {{left}} rows, {{right}} columns",
    )
    return Matrix(call.facts.shape(shape), *(call.facts.dim(d) for d in found[1:]))


def ending(call: Call, shape: Shape, *last: Dim) -> Shape:
    """The batch of a stack of matrices, then `last` in place of its two axes."""
    return replace_axes(call, shape, -2, 2, last)


def batch(call: Call, shape: Shape) -> Shape:
    """The axes before the last two."""
    return ending(call, shape)


def smaller(call: Call, left: Dim, right: Dim) -> Dim:
    """The lesser of two sizes; a new symbol where that is not decided."""
    if left == right:
        return left
    low, high = (left - right).low, (right - left).low
    if low is not None and low >= 0:
        return right
    if high is not None and high >= 0:
        return left
    return call.symbol("size")


def solve(call: Call, left: Shape, right: Shape, vector: bool) -> Shape:
    """`solve(a, b)`: `b` is a stack of vectors or of matrices with as many rows as `a`; SHP104."""
    square_left = square(call, left, "the matrix")
    axis = -1 if vector else -2
    rows = call.facts.axis(right, axis)
    if rows is None:
        call.fail("SHP301", f"{call.text}: the right-hand side {call.show(right)} has too few axes")
    call.require_equal(
        square_left.columns,
        rows,
        "SHP101",
        f"{call.text}: {call.show(left)} has {{left}} columns, the right-hand side "
        f"{call.show(right)} has {{right}} rows",
    )
    left, right = call.facts.shape(left), call.facts.shape(right)
    last = (rows,) if vector else (rows, call.facts.axis(right, -1) or call.symbol("columns"))
    ahead = batches(call, batch(call, left), replace_axes(call, right, axis, -axis, ()))
    return call.facts.framed((), ahead, last)


def batches(call: Call, left: Shape, right: Shape) -> Shape:
    """The batch axes of two operands, broadcast; SHP104."""
    return call.broadcast(left, right, code="SHP104", message=f"{call.text}: batch axes")


def svd(call: Call, shape: Shape, full: bool | None) -> tuple[Shape, Shape, Shape]:
    """U, S and Vh; `full` is full_matrices, None when unknown."""
    found = matrix(call, shape)
    shape, rows, columns = found
    least = smaller(call, rows, columns)
    inner = (rows, columns) if full else (least, least)
    if full is None:
        inner = (call.symbol("size"), call.symbol("size"))
    u = ending(call, shape, rows, inner[0])
    return u, ending(call, shape, least), ending(call, shape, inner[1], columns)


def qr(call: Call, shape: Shape, mode: str | None) -> tuple[Shape, Shape]:
    """Q and R for the modes "reduced", "complete" and "r"; None is an unknown mode."""
    found = matrix(call, shape)
    shape, rows, columns = found
    least = smaller(call, rows, columns)
    if mode is None:
        least = call.symbol("size")
    elif mode == "complete":
        least = rows
    return ending(call, shape, rows, least), ending(call, shape, least, columns)
