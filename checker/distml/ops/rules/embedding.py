"""Tables that are looked up by number: one axis more, at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.layers import known_shape, parameter
from distml.ops.rules.sizes import nonnegative
from distml.shapes import Dim, Shape
from distml.values import NONE, Const, InstanceRecord, Lib, Tensor, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


def one_more(call: Call, shape: Shape, last: Dim | None) -> Shape:
    """The shape with one axis more at the end."""
    shape = call.facts.shape(shape)
    size = call.symbol("size") if last is None else last
    if shape.dims is not None:
        return Shape((*shape.dims, size))
    key = ("one more", shape.middle, size)
    known: Shape | None = call.world.get(key)
    if known is None:
        known = call.facts.framed((), shape, (size,))
        call.world.put(key, known)
    return call.facts.shape(known)


def look_up(call: Call, input: Value, table: Shape) -> Shape:
    """The rows of a table for every number (torch.nn.functional.embedding)."""
    require_inside(call, input, call.facts.axis(table, 0), "rows, row {} is looked up")
    return one_more(call, call.shape(input), call.facts.axis(table, 1))


def require_inside(call: Call, input: Value, count: Dim | None, what: str, besides: Value = NONE) -> None:
    """Numbers that are known are less than the count, or the one that may be there besides (SHP302)."""
    most = None if count is None else count.constant
    if count is None or most is None or not isinstance(input, Tensor) or input.dtype != "int":
        return
    for item in input.numbers:
        number = call.const(item, int)
        if isinstance(number, int) and not 0 <= number < most and item != besides:
            call.fail("SHP302", f"{call.text}: there are {most} {what.format(number)}", *call.notes(count))


def require_padding_index(call: Call, count: Dim, padding_idx: Value) -> None:
    """The row for padding is one of the table (SHP302)."""
    number, rows = call.const(padding_idx, int), count.constant
    if isinstance(number, int) and rows is not None and not -rows <= number < rows:
        call.fail("SHP302", f"{call.text}: padding_idx {number} is outside of the {rows} rows", *call.notes(count))


def class_count(call: Call, labels: Value, num_classes: Value) -> Dim | None:
    """The number of classes: where -1 leaves it to the data, one more than the largest of the labels."""
    dim = call.dim(num_classes)
    if dim == -1:
        return _classes_of(labels)
    if dim is None or (dim.low is None and dim.constant is None):
        return None
    return nonnegative(call, dim, "num_classes")


def _classes_of(labels: Value) -> Dim | None:
    if not isinstance(labels, Tensor):
        return None
    numbers = [each.value for each in labels.numbers if isinstance(each, Const) and type(each.value) is int]
    return Dim.of(max(numbers) + 1) if numbers and len(numbers) == len(labels.numbers) else None


def bags(call: Call, input: Shape, offsets: Value, weights: Value, include_last: Value) -> Dim | None:
    """How many bags there are: the rows of a matrix, or the offsets into a vector."""
    input = call.of_rank(input, 1, 2, what="an input")
    given = known_shape(call, weights)
    if given is not None and given.dims is not None and input.dims is not None:
        message = f"{call.text}: per_sample_weights {given!r} need the shape of the input {input!r}"
        if len(given.dims) != len(input.dims):
            call.fail("SHP104", message)
        for a, b in zip(input.dims, given.dims, strict=True):
            call.require_equal(a, b, "SHP104", message)
    if input.dims is None:
        return None
    if len(input.dims) == 2:
        return input.dims[0]
    starts = known_shape(call, offsets)
    last = call.flag(include_last)
    if starts is None or last is None:
        return None
    starts = call.of_rank(starts, 1, what="offsets")
    count = call.facts.axis(starts, 0)
    return None if count is None else count - 1 if last else count


def instance(call: Call, dims: tuple[Dim, ...]) -> Value:
    """An Embedding of a given table."""
    attrs: dict[str, Value] = {
        "num_embeddings": call.number(dims[0]),
        "embedding_dim": call.number(dims[1]),
        "padding_idx": NONE,
        "weight": parameter(call, dims),
        "sparse": Const(False),
    }
    return call.world.allocate(InstanceRecord(Lib("torch.nn.Embedding"), attrs))
