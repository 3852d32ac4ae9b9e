"""torch: splitting tensors.

https://docs.pytorch.org/docs/stable/generated/torch.split.html and its relatives.
"""

from __future__ import annotations

from distml.ops.call import NONE, ZERO, Call
from distml.ops.registry import op
from distml.ops.rules import split as rules
from distml.ops.torch.view import like
from distml.values import Const, Many, Num, Opaque, Tensor, Tup, Value


def pieces(call: Call, source: Value, parts: rules.Parts) -> Value:
    """The tuple of parts."""
    listed, each = parts
    if listed is None:
        return Many(like(call, source, each), "tuple")
    return Tup(tuple(like(call, source, shape) for shape in listed))


@op(
    *("torch.split", "torch.Tensor.split", "torch.functional.split"),
    *("torch.unsafe_split", "torch.Tensor.unsafe_split", "torch.split_copy"),
)
def split(
    call: Call,
    tensor: Value,
    split_size_or_sections: Value = NONE,
    dim: Value = ZERO,
    *,
    split_size: Value | None = None,
    axis: Value | None = None,
) -> Value:
    """torch.split(tensor, split_size_or_sections, dim=0)"""
    return _split(call, tensor, split_size or split_size_or_sections, axis or dim)


def _split(call: Call, tensor: Value, sizes: Value, at: Value) -> Value:
    shape = call.shape(tensor)
    listed = call.items(sizes)
    if listed is not None:
        return pieces(call, tensor, rules.of_sizes(call, shape, at, [call.dim(s) for s in listed]))
    length = call.dim(sizes) if isinstance(sizes, Const | Num) else None
    return pieces(call, tensor, rules.of_length(call, shape, at, length))


@op(
    "torch.split_with_sizes",
    "torch.Tensor.split_with_sizes",
    "torch.split_with_sizes_copy",
    "torch.unsafe_split_with_sizes",
)
def split_with_sizes(call: Call, input: Value, split_sizes: Value, dim: Value = ZERO) -> Value:
    """torch.split_with_sizes(input, split_sizes, dim=0)"""
    return _split(call, input, split_sizes, dim)


@op("torch.chunk", "torch.Tensor.chunk", "torch.unsafe_chunk", "torch.Tensor.unsafe_chunk")
def chunk(call: Call, input: Value, chunks: Value, dim: Value = ZERO, *, axis: Value | None = None) -> Value:
    """torch.chunk(input, chunks, dim=0)"""
    return pieces(call, input, rules.chunk(call, call.shape(input), axis or dim, call.dim(chunks)))


@op("torch.tensor_split", "torch.Tensor.tensor_split")
def tensor_split(
    call: Call,
    input: Value,
    indices_or_sections: Value = NONE,
    dim: Value = ZERO,
    *,
    indices: Value | None = None,
    sections: Value | None = None,
    axis: Value | None = None,
) -> Value:
    """torch.tensor_split(input, indices_or_sections, dim=0)"""
    how = indices or sections or indices_or_sections
    return _at(call, input, how, axis or dim)


def _at(call: Call, input: Value, how: Value, dim: Value) -> Value:
    shape, listed = call.shape(input), call.items(how)
    if listed is not None:
        return pieces(call, input, rules.at_indices(call, shape, dim, [call.dim(i) for i in listed]))
    if isinstance(how, Tensor | Opaque):
        return pieces(call, input, rules.nearly_even(call, shape, dim, None))
    return pieces(call, input, rules.nearly_even(call, shape, dim, call.dim(how)))


@op("torch.hsplit", "torch.Tensor.hsplit")
def hsplit(call: Call, input: Value, indices_or_sections: Value) -> Value:
    """torch.hsplit(input, indices_or_sections): the second axis, of a vector its only one"""
    shape = call.shape(input)
    if shape.rank is None and shape.least < 2:
        return Many(call.unranked(call.dtype(input)), "tuple")
    return _along(call, input, indices_or_sections, 0 if shape.rank == 1 else 1, 1)


@op("torch.vsplit", "torch.Tensor.vsplit")
def vsplit(call: Call, input: Value, indices_or_sections: Value) -> Value:
    """torch.vsplit(input, indices_or_sections): the first axis of at least two"""
    return _along(call, input, indices_or_sections, 0, 2)


@op("torch.dsplit", "torch.Tensor.dsplit")
def dsplit(call: Call, input: Value, indices_or_sections: Value) -> Value:
    """torch.dsplit(input, indices_or_sections): the third axis"""
    return _along(call, input, indices_or_sections, 2, 3)


def _along(call: Call, input: Value, how: Value, axis: int, least: int) -> Value:
    shape = call.shape(input)
    if call.facts.at_least(shape, least) is None:
        call.fail("SHP301", f"{call.text} needs at least {least} axes, gets {call.show(shape)}")
    if call.items(how) is None and isinstance(how, Const | Num):
        return pieces(call, input, rules.even(call, shape, Const(axis), call.dim(how)))
    return _at(call, input, how, Const(axis))


@op("torch.unbind", "torch.Tensor.unbind", "torch.unbind_copy")
def unbind(call: Call, input: Value, dim: Value = ZERO, *, axis: Value | None = None) -> Value:
    """torch.unbind(input, dim=0)"""
    return pieces(call, input, rules.unbind(call, call.shape(input), axis or dim))
