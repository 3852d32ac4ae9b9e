"""torch: axes added, dropped, exchanged, moved.

https://docs.pytorch.org/docs/stable/torch.html#indexing-slicing-joining-mutating-ops
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.registry import attribute, op
from distml.ops.rules import axes as rules
from distml.ops.torch.view import changed, like
from distml.shapes import Shape
from distml.values import Const, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable


@op("torch.squeeze", "torch.Tensor.squeeze", "torch.squeeze_copy")
def squeeze(call: Call, input: Value, dim: Value | None = None, *, axis: Value | None = None) -> Value:
    """torch.squeeze(input, dim=None)"""
    return like(call, input, rules.squeeze(call, call.shape(input), axis or dim))


@op("torch.Tensor.squeeze_")
def squeeze_in_place(call: Call, self: Value, dim: Value | None = None) -> Value:
    """torch.Tensor.squeeze_(dim=None)"""
    return changed(call, self, rules.squeeze(call, call.shape(self), dim))


@op("torch.unsqueeze", "torch.Tensor.unsqueeze", "torch.unsqueeze_copy")
def unsqueeze(call: Call, input: Value, dim: Value = NONE, *, axis: Value | None = None) -> Value:
    """torch.unsqueeze(input, dim)"""
    return like(call, input, rules.unsqueeze(call, call.shape(input), axis or dim))


@op("torch.Tensor.unsqueeze_")
def unsqueeze_in_place(call: Call, self: Value, dim: Value) -> Value:
    """torch.Tensor.unsqueeze_(dim)"""
    return changed(call, self, rules.unsqueeze(call, call.shape(self), dim))


@op("torch.Tensor.permute")
def permute_method(call: Call, self: Value, *dims: Value, **named: Value) -> Value:
    """torch.Tensor.permute(*dims)"""
    given = (named["dims"],) if "dims" in named else dims
    return like(call, self, rules.permute(call, call.shape(self), _listed(call, given)))


def _listed(call: Call, given: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """`permute(0, 2, 1)` or `permute((0, 2, 1))`."""
    if len(given) != 1 or isinstance(given[0], Const):
        return given
    return call.items(given[0])


@op("torch.permute", "torch.permute_copy")
def permute(call: Call, input: Value, dims: Value) -> Value:
    """torch.permute(input, dims)"""
    return like(call, input, rules.permute(call, call.shape(input), _listed(call, (dims,))))


@op(
    "torch.transpose",
    "torch.swapaxes",
    "torch.swapdims",
    "torch.transpose_copy",
    "torch.Tensor.transpose",
    "torch.Tensor.swapaxes",
    "torch.Tensor.swapdims",
)
def transpose(
    call: Call,
    input: Value,
    dim0: Value = NONE,
    dim1: Value = NONE,
    *,
    axis0: Value | None = None,
    axis1: Value | None = None,
) -> Value:
    """torch.transpose(input, dim0, dim1), torch.swapaxes(input, axis0, axis1)"""
    return like(call, input, rules.swap_axes(call, call.shape(input), axis0 or dim0, axis1 or dim1))


@op("torch.Tensor.transpose_", "torch.Tensor.swapaxes_", "torch.Tensor.swapdims_")
def transpose_in_place(call: Call, self: Value, dim0: Value, dim1: Value) -> Value:
    """torch.Tensor.transpose_(dim0, dim1)"""
    return changed(call, self, rules.swap_axes(call, call.shape(self), dim0, dim1))


@op("torch.t", "torch.Tensor.t", "torch.t_copy")
def t(call: Call, input: Value) -> Value:
    """torch.t(input): a matrix transposed, fewer axes as they are"""
    return like(call, input, _transposed(call, input))


@op("torch.Tensor.t_")
def t_in_place(call: Call, self: Value) -> Value:
    """torch.Tensor.t_()"""
    return changed(call, self, _transposed(call, self))


def _transposed(call: Call, tensor: Value) -> Shape:
    shape = call.of_rank(call.shape(tensor), 0, 1, 2)
    if shape.rank is None:
        return call.facts.unknown_shape()
    return rules.reverse(call, shape)


@op("torch.adjoint", "torch.Tensor.adjoint")
@attribute("torch.Tensor.mT", "torch.Tensor.mH")
def adjoint(call: Call, input: Value) -> Value:
    """torch.adjoint(input), torch.Tensor.mT: the last two axes exchanged"""
    shape = call.shape(input)
    if call.facts.at_least(shape, 2) is None:
        call.fail("SHP301", f"{call.text} needs at least 2 axes, gets {call.show(shape)}")
    return like(call, input, rules.swap_axes(call, shape, Const(-2), Const(-1)))


@attribute("torch.Tensor.T", "torch.Tensor.H")
def reversed_axes(call: Call, self: Value) -> Value:
    """torch.Tensor.T, torch.Tensor.H"""
    return like(call, self, rules.reverse(call, call.shape(self)))


@op("torch.movedim", "torch.moveaxis", "torch.Tensor.movedim", "torch.Tensor.moveaxis")
def movedim(call: Call, input: Value, source: Value, destination: Value) -> Value:
    """torch.movedim(input, source, destination)"""
    return like(call, input, rules.move_axes(call, call.shape(input), source, destination))


@op("torch.atleast_1d", "torch.functional.atleast_1d")
def atleast_1d(call: Call, *tensors: Value) -> Value:
    """torch.atleast_1d(*tensors)"""
    return _each(call, tensors, lambda shape: rules.pad_front(call, shape, 1))


@op("torch.atleast_2d", "torch.functional.atleast_2d")
def atleast_2d(call: Call, *tensors: Value) -> Value:
    """torch.atleast_2d(*tensors)"""
    return _each(call, tensors, lambda shape: rules.pad_front(call, shape, 2))


@op("torch.atleast_3d", "torch.functional.atleast_3d")
def atleast_3d(call: Call, *tensors: Value) -> Value:
    """torch.atleast_3d(*tensors)"""
    return _each(call, tensors, lambda shape: rules.at_least_3d(call, shape))


def _each(call: Call, tensors: tuple[Value, ...], change: Callable[[Shape], Shape]) -> Value:
    """One tensor for one, a tuple for several or for a sequence of them."""
    single = tensors[0] if len(tensors) == 1 else None
    if isinstance(single, Tensor):
        return like(call, single, change(call.shape(single)))
    listed = tensors if single is None else call.items(single)
    if listed is None:
        return call.unknown()
    return Tup(tuple(like(call, t, change(call.shape(t))) for t in listed))
