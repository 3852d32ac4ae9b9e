"""torch: `x[...]`, `x[...] = y`, and taking a tensor apart by iterating over it.

https://docs.pytorch.org/docs/stable/tensors.html: indexing follows NumPy, but for steps below 1.
"""

from __future__ import annotations

from distml.ops.call import NONE, UNKNOWN, Call
from distml.ops.registry import op
from distml.ops.rules.axes import drop_axis
from distml.ops.rules.index import assigned, indexed, picked
from distml.ops.rules.index_parts import parse
from distml.ops.rules.kinds import kind_of
from distml.ops.torch.pointwise import written
from distml.shapes import Dim, Shape
from distml.values import Many, Slice, Tensor, Tup, Value

MAX_ITEMS = 256
"""A tensor of more items than this is iterated over without telling them apart."""


@op("torch.Tensor.__getitem__")
def getitem(call: Call, self: Value, index: Value) -> Value:
    """`self[index]`"""
    _require_forward(call, index)
    shape = indexed(call, call.shape(self), index, "torch")
    kind = kind_of(self)
    if shape is None or (call.lib != "torch" and _depends_on_library(call, index)):
        return call.unranked(kind)
    content = picked(call, self, index) if isinstance(self, Tensor) else None
    return Tensor(call.lib, shape, kind, content=content)


@op("torch.Tensor.__setitem__")
def setitem(call: Call, self: Value, index: Value, value: Value) -> Value:
    """`self[index] = value`"""
    _require_forward(call, index)
    if call.lib == "torch" or not _depends_on_library(call, index):
        assigned(call, call.shape(self), index, value, "torch")
    written(call, self)
    return NONE


@op("torch.Tensor.index_put", "torch.index_put", "torch.Tensor.index_put_", "torch.index_put_")
def index_put(call: Call, input: Value, indices: Value, values: Value, accumulate: Value = NONE) -> Value:
    """torch.Tensor.index_put(indices, values, accumulate=False)"""
    items = call.items(indices)
    if items is not None:
        assigned(call, call.shape(input), Tup(items), values, "torch")
    if call.name.endswith("_"):
        return written(call, input)
    return call.tensor(call.shape(input), kind_of(input))


def _require_forward(call: Call, index: Value) -> None:
    if call.lib != "torch":
        # An array of a library that is not known may be read backwards.
        return
    for part in index.items if isinstance(index, Tup) else (index,):
        step = call.const(part.step, int) if isinstance(part, Slice) else UNKNOWN
        if step is not UNKNOWN and step <= 0:
            call.fail("SHP302", f"a slice of a tensor needs a step above 0, gets {step}", hint="use torch.flip")


def _depends_on_library(call: Call, index: Value) -> bool:
    """Where the array axes go, when integers stand beside arrays, is not the same in NumPy and torch."""
    kinds = {part.kind for part in parse(call, index, "torch") or ()}
    return bool(kinds & {"array", "mask"}) and bool(kinds & {"int", "dots"})


@op("torch.Tensor.__len__")
def length(call: Call, self: Value) -> Value:
    """`len(x)`: the size of the first axis."""
    return call.number(_first(call, self, "len()"))


@op("torch.Tensor.__iter__")
def iterate(call: Call, self: Value) -> Value:
    """Iterating over a tensor goes along its first axis."""
    size = _first(call, self, "iteration")
    kind = kind_of(self)
    item = Tensor(call.lib, drop_axis(call, call.shape(self), 0), kind)
    count = size.constant
    if count is None or count > MAX_ITEMS:
        return Many(item, "iterable", size)
    if isinstance(self, Tensor) and self.content is not None and len(self.content) == count:
        return Tup(tuple(Tensor(call.lib, Shape.of(), kind, content=(value,)) for value in self.content))
    return Tup((item,) * count)


def _first(call: Call, tensor: Value, what: str) -> Dim:
    size = call.facts.axis(call.shape(tensor), 0)
    if size is None:
        call.fail("SHP301", f"{what} of a tensor without axes")
    return size
