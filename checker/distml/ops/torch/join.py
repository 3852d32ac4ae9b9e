"""torch: joining tensors.

https://docs.pytorch.org/docs/stable/generated/torch.cat.html and its relatives.
"""

from __future__ import annotations

from math import comb

from distml.ops.call import FALSE, NONE, ZERO, Call
from distml.ops.registry import op
from distml.ops.rules import join as rules
from distml.shapes import Dim, Shape
from distml.values import Const, Tensor, Tup, Value

Parts = list[Shape] | Shape | None


def result(call: Call, tensors: Value, shape: Shape) -> Tensor:
    """A tensor of the element kind that all the joined ones have."""
    kinds = {call.dtype(t) for t in call.items(tensors) or ()}
    return call.tensor(shape, kinds.pop() if len(kinds) == 1 else None)


@op("torch.cat", "torch.concat", "torch.concatenate")
def cat(call: Call, tensors: Value, dim: Value = ZERO, *, axis: Value | None = None, out: Value = NONE) -> Value:
    """torch.cat(tensors, dim=0)"""
    parts, length = rules.parts_of(call, tensors), rules.length_of(call, tensors)
    return result(call, tensors, rules.concatenate(call, parts, axis or dim, length))


@op("torch.stack")
def stack(call: Call, tensors: Value, dim: Value = ZERO, *, axis: Value | None = None, out: Value = NONE) -> Value:
    """torch.stack(tensors, dim=0)"""
    parts, length = rules.parts_of(call, tensors), rules.length_of(call, tensors)
    return result(call, tensors, rules.stack(call, parts, axis or dim, length))


@op("torch.vstack", "torch.row_stack")
def vstack(call: Call, tensors: Value, *, out: Value = NONE) -> Value:
    """torch.vstack(tensors)"""
    return result(call, tensors, rules.stack_rows(call, rules.parts_of(call, tensors)))


@op("torch.hstack")
def hstack(call: Call, tensors: Value, *, out: Value = NONE) -> Value:
    """torch.hstack(tensors)"""
    return result(call, tensors, rules.stack_columns(call, rules.parts_of(call, tensors)))


@op("torch.dstack")
def dstack(call: Call, tensors: Value, *, out: Value = NONE) -> Value:
    """torch.dstack(tensors)"""
    return result(call, tensors, rules.stack_depth(call, rules.parts_of(call, tensors)))


@op("torch.column_stack")
def column_stack(call: Call, tensors: Value, *, out: Value = NONE) -> Value:
    """torch.column_stack(tensors)"""
    return result(call, tensors, rules.column_stack(call, rules.parts_of(call, tensors)))


@op("torch.block_diag", "torch.functional.block_diag")
def block_diag(call: Call, *tensors: Value) -> Value:
    """torch.block_diag(*tensors): scalars and vectors are rows"""
    rows, columns = Dim.of(0), Dim.of(0)
    for tensor in tensors:
        shape = call.of_rank(call.shape(tensor), 0, 1, 2)
        if shape.dims is None:
            return call.tensor([None, None])
        padded = (Dim.of(1),) * (2 - len(shape.dims)) + shape.dims
        rows, columns = rows + padded[0], columns + padded[1]
    return call.tensor([rows, columns])


@op("torch.cartesian_prod", "torch.functional.cartesian_prod")
def cartesian_prod(call: Call, *tensors: Value) -> Value:
    """torch.cartesian_prod(*tensors): one row for each choice of an element of each vector"""
    count = Dim.of(1)
    for tensor in tensors:
        count = count * call.of_rank(call.shape(tensor), 1).head[0]
    dims = [count] if len(tensors) == 1 else [count, Dim.of(len(tensors))]
    return call.tensor(dims, call.dtype(tensors[0]) if tensors else None)


@op("torch.combinations")
def combinations(call: Call, input: Value, r: Value = Const(2), with_replacement: Value = FALSE) -> Value:
    """torch.combinations(input, r=2, with_replacement=False)"""
    size = call.of_rank(call.shape(input), 1).head[0]
    width, again = call.dim(r), call.flag(with_replacement)
    count = None
    if width is not None and width.constant is not None and size.constant is not None:
        kept, total = width.constant, size.constant
        if again is not None and kept >= 0:
            count = comb(total + kept - 1 if again and total + kept else total, kept)
    return call.tensor([None if count is None else Dim.of(count), width], call.dtype(input))


@op("torch.meshgrid", "torch.functional.meshgrid")
def meshgrid(call: Call, *tensors: Value, indexing: Value = NONE) -> Value:
    """torch.meshgrid(*tensors, indexing="ij")"""
    given = tensors
    if len(tensors) == 1:
        listed = call.items(tensors[0])
        if listed is None and not isinstance(tensors[0], Tensor):
            return call.unknown()
        given = listed or tensors
    dims = []
    for tensor in given:
        shape = call.of_rank(call.shape(tensor), 0, 1)
        dims.append(None if shape.rank is None else shape.head[0] if shape.head else Dim.of(1))
    order = call.const(indexing, str)
    if order == "xy" and len(dims) > 1:
        dims[0], dims[1] = dims[1], dims[0]
    elif order != "ij" and call.is_none(indexing) is not True:
        dims = [None] * len(dims)
    return Tup(tuple(call.tensor(dims, call.dtype(t)) for t in given))
