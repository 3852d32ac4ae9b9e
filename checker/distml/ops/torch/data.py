"""torch.utils.data: data sets.

https://docs.pytorch.org/docs/stable/data.html
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.registry import find_op, layer, op
from distml.ops.rules import dataset as rules
from distml.ops.rules.widths import width_of
from distml.values import InstanceRecord, Lib, Many, Prim, Range, Tensor, Tup

if TYPE_CHECKING:
    from distml.shapes import Dim
    from distml.values import Value

ROOT = "torch.utils.data"


@layer(f"{ROOT}.Dataset", f"{ROOT}.IterableDataset", f"{ROOT}.dataset.Dataset")
class Dataset:
    """The base of data sets that programs write themselves."""

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """Nothing of its own."""
        return {}


@op(f"{ROOT}.Dataset.__init__", f"{ROOT}.IterableDataset.__init__", f"{ROOT}.dataset.Dataset.__init__")
def initialize(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """`super().__init__()`."""
    return NONE


@layer(f"{ROOT}.TensorDataset", f"{ROOT}.dataset.TensorDataset")
class TensorDataset:
    """https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.TensorDataset"""

    bases = (f"{ROOT}.Dataset",)

    @staticmethod
    def init(call: Call, *tensors: Value) -> dict[str, Value]:
        """The tensors have one length (SHP502)."""
        shapes = [call.shape(t) for t in tensors if not isinstance(t, Many)]
        for shape in shapes[1:]:
            call.require_equal(
                call.facts.axis(shapes[0], 0),
                call.facts.axis(shape, 0),
                "SHP502",
                f"{call.text}: the tensors {call.show(shapes[0])} and {call.show(shape)} have different lengths: "
                "{left} and {right}",
            )
        return {"tensors": Tup(tensors)}


def _tensors(call: Call, self: Value) -> tuple[Value, ...]:
    found = call.items((call.attrs(self) or {}).get("tensors", NONE)) or ()
    return () if any(isinstance(item, Many) for item in found) else found


@op(f"{ROOT}.TensorDataset.__len__")
def tensor_dataset_length(call: Call, self: Value) -> Value:
    """The length of the first tensor."""
    tensors = _tensors(call, self)
    size = call.facts.axis(call.shape(tensors[0]), 0) if tensors else None
    return Prim("int") if size is None else call.number(size)


@op(f"{ROOT}.TensorDataset.__getitem__")
def tensor_dataset_item(call: Call, self: Value, index: Value) -> Value:
    """A tuple of one row of each tensor."""
    rule, tensors = find_op("torch.Tensor.__getitem__"), _tensors(call, self)
    if rule is None or not tensors:
        return call.unknown("item")
    return Tup(tuple(_row(rule(call, _as_tensor(call, tensor), index), tensor) for tensor in tensors))


def _row(row: Value, tensor: Value) -> Value:
    return replace(row, width=width_of(tensor)) if isinstance(row, Tensor) else row


def _as_tensor(call: Call, value: Value) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor("torch", call.shape(value), call.dtype(value))


def subset(call: Call, dataset: Value, indices: Value, length: Dim | None) -> Value:
    """A part of a data set of a known or unknown length."""
    own = Prim("int") if length is None else call.number(length)
    attrs: dict[str, Value] = {"dataset": dataset, "indices": indices, "__length__": own}
    return call.world.allocate(InstanceRecord(Lib(f"{ROOT}.Subset"), attrs))


@layer(f"{ROOT}.Subset", f"{ROOT}.dataset.Subset")
class Subset:
    """https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Subset"""

    bases = (f"{ROOT}.Dataset",)

    @staticmethod
    def init(call: Call, dataset: Value, indices: Value) -> dict[str, Value]:
        """As long as there are indices."""
        length = _range_length(call, indices) if isinstance(indices, Range) else rules.length_of(call, indices)
        own = Prim("int") if length is None else call.number(length)
        return {"dataset": dataset, "indices": indices, "__length__": own}


def _range_length(call: Call, indices: Range) -> Dim | None:
    items = call.items(indices)
    if items is not None:
        return call.dim(indices.stop) if not items else _count(call, items)
    start, stop = call.dim(indices.start), call.dim(indices.stop)
    step = call.const(indices.step, int)
    if start is None or stop is None or step != 1:
        return None
    low = (stop - start).low
    return stop - start if low is not None and low >= 0 else None


def _count(call: Call, items: tuple[Value, ...]) -> Dim | None:
    return rules.length_of(call, Tup(items))


@op(f"{ROOT}.Subset.__len__", f"{ROOT}.ConcatDataset.__len__")
def subset_length(call: Call, self: Value) -> Value:
    """The length, where it is known."""
    return (call.attrs(self) or {}).get("__length__", Prim("int"))


@op(f"{ROOT}.Subset.__getitem__")
def subset_item(call: Call, self: Value, index: Value) -> Value:
    """An item of the whole."""
    whole = (call.attrs(self) or {}).get("dataset")
    item = None if whole is None else rules.item_of(call, whole)
    return call.unknown("item") if item is None else item


@layer(f"{ROOT}.ConcatDataset", f"{ROOT}.dataset.ConcatDataset")
class ConcatDataset:
    """https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.ConcatDataset"""

    bases = (f"{ROOT}.Dataset",)

    @staticmethod
    def init(call: Call, datasets: Value) -> dict[str, Value]:
        """As long as all together."""
        parts = call.items(datasets)
        lengths = [None] if parts is None else [rules.length_of(call, part) for part in parts]
        known = [length for length in lengths if length is not None]
        total = call.number(sum(known[1:], start=known[0])) if known and len(known) == len(lengths) else Prim("int")
        return {"datasets": datasets, "__length__": total}


@op(f"{ROOT}.ConcatDataset.__getitem__")
def concat_item(call: Call, self: Value, index: Value) -> Value:
    """An item of one of them."""
    parts = call.items((call.attrs(self) or {}).get("datasets", NONE)) or ()
    items = [rules.item_of(call, part) for part in parts]
    known = tuple(item for item in items if item is not None)
    found = rules.one_of(call, known) if len(known) == len(items) else None
    return call.unknown("item") if found is None else found


@op(f"{ROOT}.Dataset.__add__", f"{ROOT}.TensorDataset.__add__", f"{ROOT}.Subset.__add__")
def add(call: Call, self: Value, other: Value) -> Value:
    """One behind the other."""
    attrs = ConcatDataset.init(call, Tup((self, other)))
    return call.world.allocate(InstanceRecord(Lib(f"{ROOT}.ConcatDataset"), attrs))


@op(f"{ROOT}.random_split", f"{ROOT}.dataset.random_split")
def random_split(call: Call, dataset: Value, lengths: Value, generator: Value = NONE) -> Value:
    """https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split"""
    wanted = call.items(lengths)
    if wanted is None:
        return Many(subset(call, dataset, call.unknown("indices"), None), "list")
    sizes = rules.split_lengths(call, rules.length_of(call, dataset), wanted)
    return call.list_of([subset(call, dataset, call.unknown("indices"), size) for size in sizes])
