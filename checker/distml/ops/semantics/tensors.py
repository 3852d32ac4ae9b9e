"""Operations on whole tensors that every library has, by value: elementwise, reductions, axes, joins, splits.

Each takes what a binding hands over in one order and decides by the laws of `ops/rules`; what a library does its own way
is in its dialect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import UNKNOWN
from distml.ops.rules import axes as axis_rules
from distml.ops.rules import einsum as einsum_rules
from distml.ops.rules import expand, join, split, view
from distml.ops.rules import matmul as products
from distml.ops.rules.axes import replace_axis
from distml.ops.rules.kinds import floating, kind_of, promote
from distml.ops.rules.pointwise import elementwise
from distml.ops.rules.ranks import rank_of
from distml.ops.rules.reduce import folded, reduced
from distml.shapes import Dim, Shape
from distml.values import Const, Many, Num, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call
    from distml.ops.rules.reduce import Fold

    Kind = Callable[[str | None], str | None]


def same(kind: str | None) -> str | None:
    """The kind of an operation that keeps it."""
    return kind


def always(kind: str) -> Kind:
    """The kind of an operation that gives one only."""
    return lambda _: kind


def unary(kind: Kind = same) -> Callable[..., Value]:
    """One result for each element."""

    def rule(call: Call, x: Value) -> Value:
        return call.tensor(call.shape(x), kind(kind_of(x)))

    return rule


def binary(kind: Kind = same) -> Callable[..., Value]:
    """One result for each pair of elements: the operands broadcast."""

    def rule(call: Call, x: Value, y: Value) -> Value:
        return call.tensor(elementwise(call, x, y), kind(promote((kind_of(x), kind_of(y)))))

    return rule


def reduction(kind: Kind = same, fold: Fold | None = None) -> Callable[..., Value]:
    """One result for all elements along some axes, or along all of them."""

    def rule(call: Call, x: Value, axes: Value, keep: Value) -> Value:
        shape = reduced(call, call.shape(x), axes, keep)
        result = call.tensor(shape, kind(kind_of(x)))
        if fold is None or call.is_none(axes) is not True or shape.rank != 0:
            return result
        return Tensor(result.lib, shape, result.dtype, content=folded(call, x, fold))

    return rule


def along(kind: Kind = same) -> Callable[..., Value]:
    """A running sum, a softmax: the shape stays, the axis must exist."""

    def rule(call: Call, x: Value, axis: Value) -> Value:
        shape = call.shape(x)
        if call.items(axis) is None and call.is_none(axis) is False:
            axis_rules.axis_in(call, axis, shape)
        return call.tensor(call.shape(x), kind(kind_of(x)))

    return rule


def reshape(call: Call, x: Value, sizes: Value) -> Value:
    """The same elements under other sizes."""
    return call.tensor(view.reshape(call, call.shape(x), call.sizes(sizes)), kind_of(x))


def transpose(call: Call, x: Value, axes: Value) -> Value:
    """The axes in another order, reversed for None."""
    shape, listed = call.shape(x), call.items(axes)
    empty = call.is_none(axes)
    if empty:
        return call.tensor(axis_rules.reverse(call, shape), kind_of(x))
    return call.tensor(axis_rules.permute(call, shape, None if empty is None else listed), kind_of(x))


def expand_dims(call: Call, x: Value, axis: Value) -> Value:
    """A new axis of size 1."""
    return call.tensor(axis_rules.expand_dims(call, call.shape(x), axis), kind_of(x))


def squeeze(call: Call, x: Value, axes: Value) -> Value:
    """Without axes of size 1; a named one must be."""
    absent = call.is_none(axes)
    if absent is None:
        return call.unranked(kind_of(x))
    every = absent or call.items(axes) == ()
    return call.tensor(axis_rules.squeeze(call, call.shape(x), None if every else axes, strict=True), kind_of(x))


def broadcast_to(call: Call, x: Value, sizes: Value) -> Value:
    """The tensor repeated along axes of size 1."""
    return call.tensor(expand.expand(call, call.shape(x), call.sizes(sizes)), kind_of(x))


def _kind_of_parts(call: Call, parts: Value) -> str | None:
    kinds = {kind_of(part) for part in call.items(parts) or ()}
    return kinds.pop() if len(kinds) == 1 else None


def concatenate(call: Call, parts: Value, axis: Value) -> Value:
    """Tensors joined along an axis they have."""
    if not _is_sequence(call, parts):
        return call.unranked()
    shape = join.concatenate(call, join.parts_of(call, parts), axis, join.length_of(call, parts))
    return call.tensor(shape, _kind_of_parts(call, parts))


def stack(call: Call, parts: Value, axis: Value) -> Value:
    """Tensors of one shape on a new axis."""
    if not _is_sequence(call, parts):
        return call.unranked()
    shape = join.stack(call, join.parts_of(call, parts), axis, join.length_of(call, parts))
    return call.tensor(shape, _kind_of_parts(call, parts))


def _is_sequence(call: Call, parts: Value) -> bool:
    """Whether parts are to be seen: an empty list may be filled where nobody looks, and one part needs no list."""
    return isinstance(parts, Tup | Many | Ref) and call.items(parts) != ()


def listed_parts(call: Call, x: Value, found: split.Parts) -> Value:
    """The parts of a split, or a sequence of parts like these."""
    parts, each = found
    kind = kind_of(x)
    if parts is None:
        return Many(call.tensor(each, kind), "list")
    return call.list_of([call.tensor(part, kind) for part in parts])


def unstack(call: Call, x: Value, axis: Value) -> Value:
    """The slices along an axis, as a list."""
    return listed_parts(call, x, split.unbind(call, call.shape(x), axis))


def tile(call: Call, x: Value, counts: Value) -> Value:
    """The tensor repeated along each axis, with one count for each (SHP301)."""
    shape, listed = call.shape(x), call.sizes(counts)
    if listed is not None and shape.rank is not None and shape.rank != len(listed):
        call.fail("SHP301", f"{call.text}: {len(listed)} counts for the {shape.rank} axes of {call.show(shape)}")
    return call.tensor(expand.tile(call, shape, listed, strict=True), kind_of(x))


def repeat(call: Call, x: Value, counts: Value, axis: Value) -> Value:
    """Every element repeated along an axis."""
    if call.is_none(axis) is None:
        return call.unranked(kind_of(x))
    return call.tensor(expand.repeat_elements(call, call.shape(x), counts, axis), kind_of(x))


def take(call: Call, x: Value, indices: Value, axis: Value) -> Value:
    """The items that indices name on an axis: their axes stand in its place."""
    shape, chosen = call.shape(x), call.shape(indices)
    at = axis_rules.axis_in(call, axis, shape)
    if at is None or shape.rank == 0:
        return call.unranked(kind_of(x))
    size = call.facts.axis(shape, at)
    for index in (indices,) if isinstance(indices, Const | Num) else ():
        _in_bounds(call, index, size, shape)
    if chosen.dims is None:
        return call.unranked(kind_of(x))
    return call.tensor(axis_rules.replace_axes(call, shape, at, 1, chosen.dims), kind_of(x))


def _in_bounds(call: Call, index: Value, size: Dim | None, shape: Shape) -> None:
    at = call.dim(index)
    over = None if at is None or size is None else (at - size).low
    if over is not None and over >= 0:
        call.fail("SHP302", f"{call.text}: index {at} is out of bounds for the {size} of {call.show(shape)}")


def pad(call: Call, x: Value, widths: Value) -> Value:
    """Elements added before and behind each axis: one pair for each (SHP301)."""
    shape, pairs = call.shape(x), call.items(widths)
    if pairs is None:
        sizes = None if shape.dims is None else [None] * len(shape.dims)
        return call.unranked(kind_of(x)) if sizes is None else call.tensor(sizes, kind_of(x))
    if pairs and all(isinstance(pair, Const | Num) for pair in pairs):
        call.fail(
            "SHP301", f"{call.text} needs a pair of widths for each axis, gets {len(pairs)} numbers, which are no pairs"
        )
    shape = call.of_rank(shape, len(pairs))
    both = [call.sizes(pair) for pair in pairs]
    if any(pair is not None and len(pair) != 2 for pair in both) or shape.dims is None:
        return call.unranked(kind_of(x))
    grown: list[Dim | None] = []
    for dim, pair in zip(shape.dims, both, strict=True):
        sides = [size for size in pair or () if size is not None]
        grown.append(dim + sides[0] + sides[1] if len(sides) == 2 else None)
    return call.tensor(grown, kind_of(x))


def matmul(call: Call, x: Value, y: Value, flip_x: Value, flip_y: Value) -> Value:
    """The matrix product of stacks of matrices, either of them transposed before."""
    shapes = []
    for value, flip, side in ((x, flip_x, "left"), (y, flip_y, "right")):
        shape, turned = call.facts.at_least(call.shape(value), 2), call.flag(flip)
        if shape is None:
            call.fail("SHP301", f"{call.text}: the {side} operand {call.show(value)} needs at least 2 axes")
        if turned is None:
            return call.unranked(promote((kind_of(x), kind_of(y))))
        shapes.append(axis_rules.swap_axes(call, shape, Const(-1), Const(-2)) if turned else shape)
    return call.tensor(products.matmul(call, shapes[0], shapes[1]), promote((kind_of(x), kind_of(y))))


def contract(call: Call, x: Value, y: Value, axes: Value) -> Value:
    """The sum over pairs of axes (tensordot)."""
    return call.tensor(products.tensordot(call, call.shape(x), call.shape(y), axes), promote((kind_of(x), kind_of(y))))


def einsum(call: Call, equation: Value, *operands: Value) -> Value:
    """A contraction written as an equation."""
    text = call.const(equation, str)
    if text is UNKNOWN or any(not isinstance(value, Tensor) for value in operands):
        return call.unranked()
    kinds = {kind_of(value) for value in operands}
    shape = einsum_rules.einsum(call, text, [call.shape(value) for value in operands])
    return call.tensor(shape, kinds.pop() if len(kinds) == 1 else None)


def where(call: Call, condition: Value, x: Value, y: Value) -> Value:
    """Elements of one or the other; without them the places that are true, one a row."""
    absent = call.is_none(x), call.is_none(y)
    if absent == (True, True):
        return call.tensor([call.chosen(condition), call.shape(condition).rank], "int")
    if None in absent or True in absent:
        return call.unranked()
    return call.tensor(elementwise(call, condition, x, y), promote((kind_of(x), kind_of(y))))


def one_hot(call: Call, x: Value, depth: Value, axis: Value) -> Value:
    """A new axis of `depth` places, of which one is set."""
    shape, number = call.shape(x), call.const(axis, int)
    if number is UNKNOWN:
        return call.unranked()
    wider = axis_rules.unsqueeze(call, shape, axis)
    return call.tensor(replace_axis(call, wider, number, call.dim(depth)), None)


def filled(call: Call, sizes: Value, kind: str | None) -> Value:
    """A tensor of the sizes that are asked for; one that is negative is no size (SHP603)."""
    listed = call.sizes(sizes)
    if listed is None:
        return call.unranked(kind)
    for size in listed:
        high = None if size is None else (-size).low
        if size is not None and high is not None and high > 0:
            call.fail("SHP603", f"{call.text}: a size cannot be negative, gets {size}", *call.notes(size))
    known = [None if size is None else call.facts.nonnegative(size) for size in listed]
    return call.tensor(known, kind)


def sizes_of(call: Call, x: Value) -> Value:
    """A vector of the sizes, known as numbers."""
    shape = call.shape(x)
    if shape.dims is None:
        return call.tensor([rank_of(call, shape)], "int")
    content = tuple(call.number(dim) for dim in shape.dims)
    return Tensor(call.lib, Shape.of(len(content)), "int", content=content or None)


def rank(call: Call, x: Value) -> Value:
    """The number of axes, as a tensor."""
    return Tensor(call.lib, Shape.of(), "int", content=(call.number(rank_of(call, call.shape(x))),))


def count(call: Call, x: Value) -> Value:
    """The number of elements, as a tensor."""
    total = call.shape(x).size
    return Tensor(call.lib, Shape.of(), "int", content=None if total is None else (call.number(call.small(total)),))


def divided(call: Call, x: Value, y: Value) -> Value:
    """A true quotient."""
    return call.tensor(elementwise(call, x, y), floating(promote((kind_of(x), kind_of(y)))))
