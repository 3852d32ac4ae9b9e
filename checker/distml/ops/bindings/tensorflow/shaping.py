"""tensorflow: other shapes: reshaping, axes, joining, splitting, taking, padding, for tf and keras.ops.

https://www.tensorflow.org/api_docs/python/tf, https://keras.io/api/ops/numpy
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.dtypes import asked_kind
from distml.ops.call import UNKNOWN
from distml.ops.rules import split as parts
from distml.ops.rules.axes import replace_axis
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.slices import slice_length
from distml.ops.semantics import tensors as rules
from distml.shapes import Shape
from distml.values import Const, Slice, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call


def split(call: Call, x: Value, sections: Value, axis: Value) -> Value:
    """So many equal parts, or parts of the sizes listed."""
    listed, shape = call.items(sections), call.shape(x)
    if listed is not None:
        sizes = [call.dim(size) for size in listed]
        known = [None if size is not None and size == -1 else size for size in sizes]
        return rules.listed_parts(call, x, parts.of_sizes(call, shape, axis, known))
    count = call.dim(sections) if isinstance(sections, Const) else None
    return rules.listed_parts(call, x, parts.even(call, shape, axis, count))


def split_at(call: Call, x: Value, sections: Value, axis: Value) -> Value:
    """So many equal parts, or parts between the indices listed (keras.ops.split)."""
    listed, shape = call.items(sections), call.shape(x)
    if listed is not None:
        found = parts.at_indices(call, shape, axis, [call.dim(index) for index in listed])
        return rules.listed_parts(call, x, found)
    count = call.dim(sections) if isinstance(sections, Const) else None
    return rules.listed_parts(call, x, parts.even(call, shape, axis, count))


def gather(call: Call, params: Value, indices: Value, axis: Value, batch_dims: Value) -> Value:
    """The items that indices name; without batch axes."""
    if batch_dims != Const(0):
        return call.unranked(kind_of(params))
    return rules.take(call, params, indices, Const(0) if call.is_none(axis) else axis)


def gather_nd(call: Call, params: Value, indices: Value, batch_dims: Value) -> Value:
    """The last axis of the indices names places in the first axes of the tensor."""
    shape, places = call.shape(params), call.shape(indices)
    depth = places.dims[-1].constant if places.dims else None
    if batch_dims != Const(0) or depth is None or shape.dims is None or places.dims is None:
        return call.unranked(kind_of(params))
    if depth > len(shape.dims):
        text = f"{call.text}: indices {places!r} name {depth} axes, {shape!r} has {len(shape.dims)}"
        call.fail("SHP303", text, *call.notes(*places.dims))
    return call.tensor(Shape((*places.dims[:-1], *shape.dims[depth:])), kind_of(params))


def cut(call: Call, x: Value, begin: Value, size: Value) -> Value:
    """tf.slice: so many elements of each axis from its beginning; -1 for all that are left."""
    shape, starts, counts = call.shape(x), call.items(begin), call.sizes(size)
    if starts is None or counts is None or shape.dims is None or not len(shape.dims) == len(starts) == len(counts):
        return call.unranked(kind_of(x))
    dims = []
    for dim, start, count in zip(shape.dims, starts, counts, strict=True):
        rest = count is not None and count == -1
        dims.append(slice_length(call, dim, Slice(start)) if rest else count)
    return call.tensor(dims, kind_of(x))


def mask(call: Call, tensor: Value, mask: Value, axis: Value) -> Value:
    """The elements where a mask is true: its axes become one."""
    shape, wanted = call.shape(tensor), call.shape(mask)
    at = 0 if call.is_none(axis) else call.const(axis, int)
    if shape.dims is None or wanted.dims is None or at is UNKNOWN or not 0 <= at <= len(shape.dims):
        return call.unranked(kind_of(tensor))
    covered = shape.dims[at : at + len(wanted.dims)]
    if not wanted.dims or len(covered) < len(wanted.dims):
        text = f"{call.text}: the mask {wanted!r} has more axes than {shape!r}"
        call.fail("SHP304", text, *call.notes(*wanted.dims, *shape.dims))
    message = f"{call.text}: mask {wanted!r} does not match {shape!r}: {{left}} in the mask meets {{right}}"
    for one, other in zip(wanted.dims, covered, strict=True):
        call.require_equal(one, other, "SHP304", message)
    rest = shape.dims[at + len(wanted.dims) :]
    return call.tensor([*shape.dims[:at], call.chosen(mask), *rest], kind_of(tensor))


def arg(call: Call, x: Value, axis: Value) -> Value:
    """The places of extremes along one axis, the first for None."""
    first = Const(0) if call.is_none(axis) else axis
    return rules.reduction(rules.always("int"))(call, x, first, Const(False))


def range_(call: Call, start: Value, limit: Value, delta: Value) -> Value:
    """A vector of numbers, known where they are integers."""
    low, high = (Const(0), start) if call.is_none(limit) else (start, limit)
    if call.is_none(limit) is None:
        return call.tensor([None])
    first, last, step = (call.dim(value) for value in (low, high, delta))
    if first is None or last is None or step is None or step != 1:
        return call.tensor([None])
    size = last - first
    content = None
    if size.constant is not None and 0 <= size.constant <= 64 and first.constant is not None:
        content = tuple(Const(first.constant + i) for i in range(size.constant))
    known = size if size.low is not None and size.low >= 0 else None
    made = call.tensor([known], "int")
    return Tensor(made.lib, made.shape, "int", content=content or None)


def top(call: Call, x: Value, k: Value) -> Value:
    """The largest elements of the last axis and their places."""
    shape, wanted = call.shape(x), call.dim(k)
    if shape.rank == 0:
        call.fail("SHP301", f"{call.text} needs an input with at least 1 axis, gets a scalar")
    size = call.facts.axis(shape, -1)
    over = None if wanted is None or size is None else (wanted - size).low
    if over is not None and over > 0:
        call.fail("SHP302", f"{call.text}: {wanted} asked for of the {size} on the last axis of {shape!r}")
    found = replace_axis(call, shape, -1, wanted)
    return Tup((call.tensor(found, kind_of(x)), call.tensor(found, "int")), "TopK", ("values", "indices"))


def filled(kind: str | None = None) -> Callable[..., Value]:
    """tf.zeros and its like."""

    def rule(call: Call, shape: Value, dtype: Value) -> Value:
        return rules.filled(call, shape, asked_kind(call, dtype, kind))

    return rule


def fill(call: Call, dims: Value, value: Value) -> Value:
    """tf.fill: one value everywhere."""
    return rules.filled(call, dims, kind_of(value))


def like(call: Call, x: Value, dtype: Value) -> Value:
    """tf.zeros_like and its like."""
    return call.tensor(call.shape(x), asked_kind(call, dtype, kind_of(x)))


def eye(call: Call, rows: Value, columns: Value) -> Value:
    """An identity matrix."""
    return call.tensor([call.dim(rows), call.dim(rows if call.is_none(columns) else columns)], None)


def spaced(call: Call, start: Value, stop: Value, num: Value) -> Value:
    """A vector of so many numbers."""
    scalars = all(isinstance(value, Const) for value in (start, stop))
    return call.tensor([call.dim(num)], "float") if scalars else call.unranked()


def joined(call: Call, tensors: Value, axis: Value) -> Value:
    """keras.ops.concatenate: what None for an axis means differs between backends."""
    return call.unranked() if call.is_none(axis) else rules.concatenate(call, tensors, axis)


_TF, _KERAS = "tensorflow.", "keras.ops."
bind(rules.reshape, "tensor shape -name=None", f"{_TF}reshape")
bind(rules.reshape, "x newshape", f"{_KERAS}reshape")
bind(rules.transpose, "a perm=None -conjugate=False -name=None", f"{_TF}transpose")
bind(rules.transpose, "x axes=None", f"{_KERAS}transpose")
bind(rules.expand_dims, "input axis -name=None", f"{_TF}expand_dims")
bind(rules.expand_dims, "x axis", f"{_KERAS}expand_dims")
bind(rules.squeeze, "input axis=None -name=None", f"{_TF}squeeze")
bind(rules.squeeze, "x axis=None", f"{_KERAS}squeeze")
bind(rules.broadcast_to, "input shape -name=None", f"{_TF}broadcast_to")
bind(rules.broadcast_to, "x shape", f"{_KERAS}broadcast_to")
bind(rules.concatenate, "values axis -name=None", f"{_TF}concat")
bind(joined, "xs axis=0", f"{_KERAS}concatenate")
bind(rules.stack, "values axis=0 -name=None", f"{_TF}stack")
bind(rules.stack, "x axis=0", f"{_KERAS}stack")
bind(rules.unstack, "value -num=None axis=0 -name=None", f"{_TF}unstack")
bind(rules.unstack, "x -num=None axis=0", f"{_KERAS}unstack")
bind(rules.tile, "input multiples -name=None", f"{_TF}tile")
bind(rules.repeat, "input repeats axis=None -name=None", f"{_TF}repeat")
bind(rules.repeat, "x repeats axis=None", f"{_KERAS}repeat")
bind(rules.take, "x indices axis", f"{_KERAS}take")
bind(rules.pad, "tensor paddings -mode='CONSTANT' -constant_values=0 -name=None", f"{_TF}pad")
bind(rules.one_hot, "indices depth -on_value=None -off_value=None axis=-1 -dtype=None -name=None", f"{_TF}one_hot")
bind(rules.one_hot, "x num_classes axis=-1 -dtype=None -sparse=False", f"{_KERAS}one_hot")
bind(rules.sizes_of, "input -out_type=None -name=None", f"{_TF}shape")
bind(rules.rank, "input -name=None", f"{_TF}rank")
bind(rules.count, "input -out_type=None -name=None", f"{_TF}size")
bind(split, "value num_or_size_splits axis=0 -num=None -name=None", f"{_TF}split")
bind(split_at, "x indices_or_sections axis=0", f"{_KERAS}split")
bind(gather, "params indices -validate_indices=None axis=None batch_dims=0 -name=None", f"{_TF}gather")
bind(gather_nd, "params indices batch_dims=0 -name=None", f"{_TF}gather_nd")
bind(cut, "input_ begin size -name=None", f"{_TF}slice")
bind(mask, "tensor mask axis=None -name=None", f"{_TF}boolean_mask")
bind(
    arg,
    "input axis=None -output_type=None -name=None",
    *(f"{_TF}{s}arg{n}" for s in ("", "math.") for n in ("max", "min")),
)
bind(range_, "start limit=None delta=1 -dtype=None -name=None", f"{_TF}range")
bind(top, "input k=1 -sorted=True -index_type=None -name=None", f"{_TF}math.top_k", f"{_TF}nn.top_k")
bind(filled("float"), "shape dtype=None -name=None -layout=None", f"{_TF}zeros", f"{_TF}ones")
bind(filled("float"), "shape dtype=None", f"{_KERAS}zeros", f"{_KERAS}ones")
bind(fill, "dims value -name=None -layout=None", f"{_TF}fill")
bind(like, "input dtype=None -name=None -layout=None", f"{_TF}zeros_like", f"{_TF}ones_like")
bind(like, "x dtype=None", f"{_KERAS}zeros_like", f"{_KERAS}ones_like")
bind(eye, "num_rows num_columns=None -dtype=None -name=None", f"{_TF}eye", f"{_TF}linalg.eye")
bind(spaced, "start stop num -name=None -axis=0", f"{_TF}linspace")
_RANDOM = "-mean=0.0 -stddev=1.0 dtype='float32' -seed=None -name=None"
bind(filled("float"), f"shape {_RANDOM}", *(f"{_TF}random.{name}" for name in ("normal", "truncated_normal")))
bind(filled("float"), "shape -minval=0 -maxval=None dtype='float32' -seed=None -name=None", f"{_TF}random.uniform")
bind(rules.unary(), "value -seed=None -name=None", f"{_TF}random.shuffle")
bind(rules.along(), "tensor axis -name=None", f"{_TF}reverse")
bind(rules.along(), "input -shift axis -name=None", f"{_TF}roll")
bind(rules.along(), "values axis=-1 -direction='ASCENDING' -name=None", f"{_TF}sort")
bind(
    rules.along(rules.always("int")), "values axis=-1 -direction='ASCENDING' -stable=False -name=None", f"{_TF}argsort"
)
