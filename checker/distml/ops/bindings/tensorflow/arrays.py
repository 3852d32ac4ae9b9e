"""tensorflow: arrays of tensors that a loop fills.

https://www.tensorflow.org/api_docs/python/tf/TensorArray
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE
from distml.ops.registry import layer, op
from distml.ops.rules.axes import replace_axes
from distml.values import Const, InstanceRecord, Lib, Tensor, Value

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.shapes import Dim

ARRAY = "tensorflow.TensorArray"
_ITEM, _COUNT = "__item__", "__count__"


@layer(ARRAY)
class TensorArray:
    """https://www.tensorflow.org/api_docs/python/tf/TensorArray"""

    bases = ()

    @staticmethod
    def init(
        call: Call, dtype: Value, size: Value = NONE, dynamic_size: Value = NONE, *args: Value, **options: Value
    ) -> dict[str, Value]:
        """So many tensors, or as many as are written; what they are the first one written says."""
        grows = call.is_none(dynamic_size) is not True and call.flag(dynamic_size) is not False
        return {_COUNT: NONE if grows else size, _ITEM: NONE}


def _with(call: Call, self: Value, **changed: Value) -> Value:
    attrs = call.attrs(self)
    if attrs is None:
        return call.unknown()
    return call.world.allocate(InstanceRecord(Lib(ARRAY), {**attrs, **changed}))


def _item(call: Call, self: Value) -> Tensor | None:
    found = (call.attrs(self) or {}).get(_ITEM)
    return found if isinstance(found, Tensor) else None


def _under(call: Call, first: Dim | None, item: Tensor | None) -> Value:
    """Tensors of one shape on a new first axis."""
    if item is None or call.facts.shape(item.shape).dims is None:
        return call.unranked()
    size = call.symbol("size") if first is None else first
    return call.tensor(replace_axes(call, item.shape, 0, 0, (size,)), item.dtype)


@op(f"{ARRAY}.write")
def write(call: Call, self: Value, index: Value, value: Value, name: Value = NONE) -> Value:
    """array.write(index, value): items of other shapes leave open what an item is."""
    written, before = call.tensor(call.shape(value), call.dtype(value)), _item(call, self)
    if before is not None and call.facts.shape(before.shape) != call.facts.shape(written.shape):
        written = call.unranked()
    return _with(call, self, **{_ITEM: written})


@op(f"{ARRAY}.unstack")
def unstack(call: Call, self: Value, value: Value, name: Value = NONE) -> Value:
    """array.unstack(value): an item for each index of the first axis."""
    shape = call.facts.shape(call.shape(value))
    if not shape.dims:
        return _with(call, self, **{_ITEM: call.unranked()})
    item = call.tensor(shape.dims[1:], call.dtype(value))
    return _with(call, self, **{_ITEM: item, _COUNT: call.number(shape.dims[0])})


@op(f"{ARRAY}.read")
def read(call: Call, self: Value, index: Value, name: Value = NONE) -> Value:
    """array.read(index)"""
    item = _item(call, self)
    return call.unranked() if item is None else item


@op(f"{ARRAY}.stack")
def stack(call: Call, self: Value, name: Value = NONE) -> Value:
    """array.stack(): all items on a new first axis."""
    return _under(call, call.dim((call.attrs(self) or {}).get(_COUNT, NONE)), _item(call, self))


@op(f"{ARRAY}.gather")
def gather(call: Call, self: Value, indices: Value, name: Value = NONE) -> Value:
    """array.gather(indices): some items on a new first axis."""
    return _under(call, call.facts.axis(call.shape(indices), 0), _item(call, self))


@op(f"{ARRAY}.concat")
def concat(call: Call, self: Value, name: Value = NONE) -> Value:
    """array.concat(): items one after the other along their first axis, which may differ in length."""
    item = _item(call, self)
    shape = None if item is None else call.facts.shape(item.shape)
    if item is None or shape is None or not shape.dims:
        return call.unranked()
    return call.tensor([None, *shape.dims[1:]], item.dtype)


@op(f"{ARRAY}.size")
def size(call: Call, self: Value, name: Value = NONE) -> Value:
    """array.size()"""
    return call.tensor([], "int")


@op(f"{ARRAY}.identity", f"{ARRAY}.mark_used", f"{ARRAY}.scatter", f"{ARRAY}.split")
def other(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """What leaves open what an item is."""
    return _with(call, self, **{_ITEM: call.unranked(), _COUNT: Const(None)})
