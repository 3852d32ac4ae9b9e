"""torch: lists of lists that become a tensor. https://docs.pytorch.org/docs/stable/generated/torch.tensor.html

torch reads how long the rows are off the first one, whose items it follows down to a number. An array of NumPy, or a tensor
behind a list, is a row; a tensor where the first item is one stands for a number, of which it must have one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.one_value import require_number
from distml.shapes import Dim
from distml.values import ListRecord, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

MAX_DEPTH = 8


def require_even(call: Call, data: Value, depth: int = 0) -> None:
    """Fail where rows differ in length (SHP203), or a tensor that stands for a number has several elements (SHP308)."""
    items = _items(call, data)
    if not items or depth > MAX_DEPTH:
        return
    distinct = tuple(dict.fromkeys(items))
    if isinstance(distinct[0], Tensor) and distinct[0].lib == "torch":
        for item in distinct:
            if isinstance(item, Tensor) and item.lib == "torch":
                require_number(call, item)
        return
    first = _length(call, distinct[0])
    if first is None or first == 0:  # behind an empty row torch does not look
        return
    for item in distinct:
        other = _length(call, item)
        if other is not None and other.differs(first):
            message = f"{call.text}: rows differ in length: one of {first} items, another of {other}"
            call.fail("SHP203", message, *call.notes(first, other), hint="pad them, or keep a list of tensors")
        require_even(call, item, depth + 1)


def _items(call: Call, value: Value) -> tuple[Value, ...] | None:
    """The items of a list or a plain tuple."""
    record = call.world.record(value) if isinstance(value, Ref) else None
    plain = isinstance(record, ListRecord) or (isinstance(value, Tup) and not value.fields)
    return call.items(value) if plain else None


def _length(call: Call, row: Value) -> Dim | None:
    if isinstance(row, Tensor):
        shape = call.facts.shape(row.shape)
        return call.facts.axis(shape, 0) if shape.rank else None
    items = _items(call, row)
    return None if items is None else Dim.of(len(items))
