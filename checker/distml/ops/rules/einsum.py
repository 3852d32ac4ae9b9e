"""Einstein summation, as NumPy and PyTorch read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

from distml.ops.broadcast import meet
from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call
    from distml.values import Value


class Labels(NamedTuple):
    """The labels of one operand or of the result; `front` is how many stand before the
    ellipsis, None where there is none."""

    names: tuple[str, ...]
    front: int | None


def einsum(call: Call, equation: str, shapes: Sequence[Shape]) -> Shape:
    """The shape of `einsum(equation, *operands)`; SHP103 for what does not fit.

    An axis of size 1 meets any size of the same label, in both libraries.
    """
    operands, result = labels_of(call, equation)
    if len(operands) != len(shapes):
        call.fail(
            "SHP103",
            f"{call.text}: '{equation}' names {len(operands)} operands, {len(shapes)} are given",
        )
    return contract(call, f"'{equation}'", operands, shapes, result)


def labels_of(call: Call, equation: str) -> tuple[list[Labels], Labels]:
    """The labels of the operands and of the result; SHP103 for what is no label."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    operands = [_labels(call, text, equation) for text in left.split(",")]
    return operands, _labels(call, right, equation) if arrow else implicit(operands)


def _labels(call: Call, text: str, equation: str) -> Labels:
    before, dots, after = text.partition("...")
    names = tuple(before + after)
    wrong = next((c for c in names if not (call.dialect.any_label or (c.isascii() and c.isalpha()))), None)
    if wrong is not None:
        call.fail("SHP103", f"{call.text}: {wrong!r} is no label in '{equation}'")
    return Labels(names, len(before) if dots else None)


def implicit(operands: Sequence[Labels]) -> Labels:
    """The result when none is written: labels that occur once, in order, after the ellipsis."""
    seen = [name for operand in operands for name in operand.names]
    once = sorted(name for name in set(seen) if seen.count(name) == 1)
    dots = any(operand.front is not None for operand in operands)
    return Labels(tuple(once), 0 if dots else None)


def sublists(call: Call, args: Sequence[Value]) -> tuple[list[Value], list[Labels], Labels] | None:
    """`einsum(x, [0, 1], y, [1, 2], [0, 2])` taken apart: operands, their labels, the result's.

    None where a list is not known.
    """
    operands, lists = list(args[::2]), list(args[1::2])
    if len(args) % 2:
        lists.append(operands.pop())
    read = [_from_list(call, value) for value in lists]
    labels = [r for r in read if r is not None]
    if len(labels) < len(read):
        return None
    if len(labels) == len(operands):
        return operands, labels, implicit(labels)
    return operands, labels[:-1], labels[-1]


def _from_list(call: Call, value: Value) -> Labels | None:
    names: list[str] = []
    front = None
    for item in call.items(value) or (value,):
        label = call.const(item)
        if label is Ellipsis:
            front = len(names)
        elif isinstance(label, int) and 0 <= label < 52:
            names.append("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[label])
        elif call.items(value) != ():
            return None
    return Labels(tuple(names), front)


def contract(call: Call, shown: str, operands: Sequence[Labels], shapes: Sequence[Shape], result: Labels) -> Shape:
    """The shape of a contraction whose labels are known."""
    _check_result(call, shown, operands, result)
    sizes: dict[str, Dim] = {}
    rest = Shape.of()
    for index, (labels, shape) in enumerate(zip(operands, shapes, strict=True)):
        front, middle, back = _assign(call, shown, labels, shape, index)
        _gather(call, shown, labels.names, front + back, sizes, index)
        if middle is not None:
            rest = call.broadcast(rest, middle, code="SHP103", message=f"{call.text}: {shown}: '...'")
    dims = [sizes[name] for name in result.names]
    if result.front is None:
        if call.dialect.dots_in_result and rest.rank:
            call.fail("SHP103", f"{call.text}: {shown}: the result has no '...' for the axes {rest!r}")
        return Shape(tuple(dims))
    head, tail = tuple(dims[: result.front]), tuple(dims[result.front :])
    if rest.dims is not None:
        return Shape(head + rest.dims + tail)
    unknown = call.facts.unknown_shape().middle
    return Shape(head + rest.head, unknown, rest.tail + tail, len(dims) + rest.least)


def _check_result(call: Call, shown: str, operands: Sequence[Labels], result: Labels) -> None:
    present = {name for operand in operands for name in operand.names}
    for name in result.names:
        if name not in present:
            call.fail("SHP103", f"{call.text}: {shown}: '{name}' of the result is on no operand")
        if result.names.count(name) > 1:
            call.fail("SHP103", f"{call.text}: {shown}: '{name}' appears twice in the result")


def _assign(
    call: Call, shown: str, labels: Labels, shape: Shape, index: int
) -> tuple[tuple[Dim, ...], Shape | None, tuple[Dim, ...]]:
    """The dimensions the labels stand for, before and behind the ellipsis, and what it stands for."""
    count = len(labels.names)
    if labels.front is None:
        known = call.facts.of_rank(shape, count, labels.names)
        if known is None:
            _wrong_rank(call, shown, labels, shape, index)
        return known.head, None, ()
    if call.facts.at_least(shape, count) is None:
        _wrong_rank(call, shown, labels, shape, index)
    front, back = labels.front, count - labels.front
    if front:
        call.facts.axis(shape, front - 1)
    tail = call.facts.tail(shape, back) or ()
    shape = call.facts.shape(shape)
    if shape.dims is not None:
        return shape.dims[:front], Shape(shape.dims[front : len(shape.dims) - back]), tail
    keep = max(shape.least - front, 0)
    inside = shape.tail[: len(shape.tail) - back]
    middle = inside[max(len(inside) - max(keep - back, 0), 0) :]
    unknown = call.facts.unknown_shape().middle
    return shape.head[:front], Shape((), unknown, middle, shape.least - count), tail


def _wrong_rank(call: Call, shown: str, labels: Labels, shape: Shape, index: int) -> NoReturn:
    least = "at least " if labels.front is not None else ""
    call.fail(
        "SHP103",
        f"{call.text}: {shown} wants {least}{len(labels.names)} axes of operand {index}, which is {call.show(shape)}",
        *call.notes(*shape.head, *shape.tail),
    )


def _gather(
    call: Call,
    shown: str,
    names: Sequence[str],
    dims: Sequence[Dim],
    sizes: dict[str, Dim],
    index: int,
) -> None:
    here: dict[str, Dim] = {}
    for name, dim in zip(names, dims, strict=True):
        if name in here:
            _repeated(call, shown, name, here[name], dim, index)
        here[name] = dim if name not in here or here[name].constant is None else here[name]
    for name, dim in here.items():
        known = sizes.get(name)
        met = dim if known is None else meet(call, known, dim)
        if met is None:
            call.fail(
                "SHP103",
                f"{call.text}: {shown}: '{name}' is {known} so far and {dim} on operand {index}",
                *call.notes(*(d for d in (known, dim) if d is not None)),
            )
        sizes[name] = met


def _repeated(call: Call, shown: str, name: str, first: Dim, dim: Dim, index: int) -> None:
    """A diagonal: unlike across operands, a size of 1 does not stretch."""
    call.require_equal(
        first,
        dim,
        "SHP103",
        f"{call.text}: {shown}: '{name}' is {{left}} and {{right}} on operand {index}",
    )
