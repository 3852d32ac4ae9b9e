"""torch.nested: tensors of one number of axes and different sizes, held as one; padded, each axis is as long as the longest.

https://docs.pytorch.org/docs/stable/nested.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.registry import op
from distml.shapes import Dim, Shape
from distml.values import InstanceRecord, Lib, Many, Ref, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "torch.nested.NestedTensor"


@op("torch.nested.nested_tensor", "torch.nested.as_nested_tensor")
def nested_tensor(call: Call, tensor_list: Value, *args: Value, **options: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/nested.html#torch.nested.nested_tensor"""
    items = call.iterate(tensor_list)
    count = items.length if isinstance(items, Many) else Dim.of(len(items))
    listed = (items.item,) if isinstance(items, Many) else items
    shapes = [call.facts.shape(call.shape(item)) for item in listed]
    if not shapes or any(shape.rank is None for shape in shapes):
        return call.unknown()
    for other in shapes:
        if other.rank != shapes[0].rank:
            call.fail("SHP301", f"{call.text}: {shapes[0]!r} and {other!r} differ in their number of axes")
    longest = _longest(call, shapes, one_for_all=not isinstance(items, Many))
    padded = call.tensor(Shape((call.symbol("tensors") if count is None else count, *longest)), call.dtype(listed[0]))
    held = call.unknown() if isinstance(items, Many) else call.list_of(items)
    return call.world.allocate(InstanceRecord(Lib(NAME), {"__items__": held, "__padded__": padded}, exact=False))


def _longest(call: Call, shapes: Sequence[Shape], one_for_all: bool) -> list[Dim]:
    """The largest size on each axis: a number where all are numbers, the one that all have where each tensor is known."""
    found = []
    for sizes in zip(*(shape.head for shape in shapes), strict=True):
        numbers = [size.constant for size in sizes if size.constant is not None]
        if len(numbers) == len(sizes):
            found.append(Dim.of(max(numbers)))
        else:
            same = one_for_all and all(size == sizes[0] for size in sizes)
            found.append(sizes[0] if same else call.symbol("longest"))
    return found


def _held(call: Call, value: Value, name: str) -> Value:
    record = call.world.record(value) if isinstance(value, Ref) else None
    ours = isinstance(record, InstanceRecord) and record.cls == Lib(NAME)
    return record.attrs.get(name, call.unknown()) if isinstance(record, InstanceRecord) and ours else call.unknown()


@op("torch.nested.to_padded_tensor", f"{NAME}.to_padded_tensor")
def to_padded_tensor(call: Call, input: Value, padding: Value, output_size: Value = NONE, *args: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/nested.html#torch.nested.to_padded_tensor"""
    if call.is_none(output_size) is True:
        return _held(call, input, "__padded__")
    asked = call.sizes(output_size)
    return call.unranked() if asked is None else call.tensor(asked)


@op(f"{NAME}.unbind")
def unbind(call: Call, self: Value, dim: Value = NONE) -> Value:
    """nested.unbind(): the tensors that it was made of."""
    items = call.items(_held(call, self, "__items__"))
    return Many(call.unknown("tensor"), "list") if items is None else call.list_of(items)


@op(f"{NAME}.dim")
def dim(call: Call, self: Value) -> Value:
    """nested.dim(): one more than its tensors have."""
    rank = call.shape(_held(call, self, "__padded__")).rank
    return call.unknown() if rank is None else call.number(Dim.of(rank))
