"""torch: functions of three tensors, masks, softmax: what broadcasts without being a plain binary operation.

https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.registry import op
from distml.ops.rules.axes import axis_in
from distml.ops.rules.kinds import floating, kind_of, promote
from distml.ops.rules.pointwise import elementwise
from distml.ops.torch.dtypes import asked_kind, into
from distml.ops.torch.pointwise import register
from distml.values import Const, Tup, Value

if TYPE_CHECKING:
    from distml.shapes import Shape


def _clamp(call: Call, input: Value, min: Value = NONE, max: Value = NONE, *, out: Value = NONE) -> Value:
    """torch.clamp(input, min=None, max=None)"""
    given = [v for v in (input, min, max) if call.is_none(v) is not True]
    return into(call, call.tensor(elementwise(call, *given), promote(kind_of(v) for v in given)), out)


register(["clamp", "clip"], _clamp)


def _clamp_min(call: Call, input: Value, min: Value, *, out: Value = NONE) -> Value:
    """torch.clamp_min(input, min)"""
    return _clamp(call, input, min, out=out)


def _clamp_max(call: Call, input: Value, max: Value, *, out: Value = NONE) -> Value:
    """torch.clamp_max(input, max)"""
    return _clamp(call, input, max, out=out)


register(["clamp_min"], _clamp_min)
register(["clamp_max"], _clamp_max)


def _lerp(call: Call, input: Value, end: Value, weight: Value, *, out: Value = NONE) -> Value:
    """torch.lerp(input, end, weight)"""
    return into(call, call.tensor(elementwise(call, input, end, weight), kind_of(input)), out)


register(["lerp"], _lerp)


def _add_product(
    call: Call, input: Value, tensor1: Value, tensor2: Value, *, value: Value = NONE, out: Value = NONE
) -> Value:
    """torch.addcmul(input, tensor1, tensor2, *, value=1), torch.addcdiv"""
    kind = promote(kind_of(v) for v in (input, tensor1, tensor2))
    return into(call, call.tensor(elementwise(call, input, tensor1, tensor2), kind), out)


register(["addcmul", "addcdiv"], _add_product)


def masked_shape(call: Call, tensor: Value, mask: Value) -> Shape:
    """The shape of a tensor and its mask, which broadcast (SHP304)."""
    message = f"{call.text}: tensor and mask"
    return call.broadcast(call.shape(tensor), call.shape(mask), code="SHP304", message=message)


def _masked_fill(call: Call, input: Value, mask: Value, value: Value = Const(0)) -> Value:
    """torch.Tensor.masked_fill(mask, value)"""
    return call.tensor(masked_shape(call, input, mask), kind_of(input))


register(["masked_fill"], _masked_fill)


def _masked_scatter(call: Call, input: Value, mask: Value, source: Value) -> Value:
    """torch.Tensor.masked_scatter(mask, tensor)"""
    return call.tensor(masked_shape(call, input, mask), kind_of(input))


register(["masked_scatter"], _masked_scatter)


@op("torch.masked_select", "torch.Tensor.masked_select")
def masked_select(call: Call, input: Value, mask: Value, *, out: Value = NONE) -> Value:
    """torch.masked_select(input, mask)"""
    masked_shape(call, input, mask)
    return into(call, call.tensor([call.chosen(input)], kind_of(input)), out)


@op("torch.where", "torch.Tensor.where")
def where(call: Call, condition: Value, input: Value = NONE, other: Value = NONE, *, out: Value = NONE) -> Value:
    """torch.where(condition, input, other), torch.where(condition), torch.Tensor.where(condition, y)"""
    if call.name.startswith("torch.Tensor."):
        condition, input = input, condition
    if input == NONE and other == NONE:
        return positions(call, condition)
    return into(
        call, call.tensor(elementwise(call, condition, input, other), promote((kind_of(input), kind_of(other)))), out
    )


def positions(call: Call, tensor: Value) -> Value:
    """One vector of indices an axis, for the elements that are not zero."""
    shape = call.shape(tensor)
    vector = call.tensor([call.chosen(shape)], "int")
    if shape.dims is None:
        return call.unknown()
    return Tup((vector,) * max(len(shape.dims), 1))


@op("torch.softmax", "torch.Tensor.softmax", "torch.log_softmax", "torch.Tensor.log_softmax")
@op("torch.special.softmax", "torch.special.log_softmax", "torch.sparse.softmax", "torch.sparse.log_softmax")
def softmax(call: Call, input: Value, dim: Value = NONE, dtype: Value = NONE, *, axis: Value = NONE) -> Value:
    """torch.softmax(input, dim, *, dtype=None): the shape stays, the axis must exist."""
    return along(call, input, dim if axis == NONE else axis, asked_kind(call, dtype, floating(kind_of(input))))


def along(call: Call, input: Value, dim: Value, kind: str | None) -> Value:
    """A result of the input's shape, for an op that runs along one axis of it."""
    shape = call.shape(input)
    axis = axis_in(call, dim, shape)
    if axis is not None and axis not in (0, -1):
        call.facts.axis(shape, axis)
    return call.tensor(call.facts.shape(shape), kind)
