"""torch: repeating, with and without copies.

https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html and its relatives.
"""

from __future__ import annotations

from distml.ops.call import FALSE, NONE, Call
from distml.ops.registry import op
from distml.ops.rules import expand as rules
from distml.ops.torch.view import like, shape_asked
from distml.shapes import Shape
from distml.values import Tup, Value


@op("torch.Tensor.expand")
def expand(call: Call, self: Value, *sizes: Value, implicit: Value = FALSE, **named: Value) -> Value:
    """torch.Tensor.expand(*sizes)"""
    return like(call, self, _expanded(call, self, (named["size"],) if "size" in named else sizes))


@op("torch.broadcast_to", "torch.Tensor.broadcast_to", "torch.expand_copy")
def broadcast_to(call: Call, input: Value, *size: Value, **named: Value) -> Value:
    """torch.broadcast_to(input, size)"""
    return like(call, input, _expanded(call, input, tuple(named.values()) or size))


@op("torch.Tensor.expand_as")
def expand_as(call: Call, self: Value, other: Value) -> Value:
    """torch.Tensor.expand_as(other)"""
    target = call.shape(other)
    if target.dims is None:
        return like(call, self, target)
    return like(call, self, rules.expand(call, call.shape(self), target.dims))


def _expanded(call: Call, tensor: Value, sizes: tuple[Value, ...]) -> Shape:
    whole = shape_asked(sizes)
    if whole is not None and call.sizes(sizes[0]) is None:
        return rules.expand_whole(call, whole)
    return rules.expand(call, call.shape(tensor), call.var_sizes(sizes))


@op("torch.Tensor.repeat")
def repeat(call: Call, self: Value, *repeats: Value, **named: Value) -> Value:
    """torch.Tensor.repeat(*repeats)"""
    given = tuple(named.values()) or repeats
    return like(call, self, rules.tile(call, call.shape(self), call.var_sizes(given), strict=True))


@op("torch.tile", "torch.Tensor.tile")
def tile(call: Call, input: Value, *dims: Value, **named: Value) -> Value:
    """torch.tile(input, dims)"""
    return like(call, input, rules.tile(call, call.shape(input), call.var_sizes(tuple(named.values()) or dims)))


@op("torch.repeat_interleave", "torch.Tensor.repeat_interleave")
def repeat_interleave(
    call: Call,
    input: Value,
    repeats: Value = NONE,
    dim: Value = NONE,
    *,
    output_size: Value = NONE,
    axis: Value | None = None,
) -> Value:
    """torch.repeat_interleave(input, repeats, dim=None, *, output_size=None)"""
    if call.is_none(repeats):
        return call.tensor([call.dim(output_size)], "int")
    return like(call, input, rules.repeat_elements(call, call.shape(input), repeats, axis or dim))


@op("torch.broadcast_tensors", "torch.functional.broadcast_tensors")
def broadcast_tensors(call: Call, *tensors: Value) -> Value:
    """torch.broadcast_tensors(*tensors)"""
    shape = call.broadcast(*(call.shape(t) for t in tensors))
    return Tup(tuple(like(call, t, shape) for t in tensors))


@op("torch.broadcast_shapes")
def broadcast_shapes(call: Call, *shapes: Value) -> Value:
    """torch.broadcast_shapes(*shapes)"""
    found = []
    for value in shapes:
        sizes = call.sizes(value)
        if sizes is None:
            return call.unknown()
        found.append(call.tensor(sizes).shape)
    dims = call.broadcast(*found).dims or ()
    return Tup(tuple(call.number(d) for d in dims), "size")
