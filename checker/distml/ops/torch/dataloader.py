"""torch.utils.data: DataLoader and samplers.

https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, ONE, Call, ShapeError
from distml.ops.registry import layer, op
from distml.ops.rules import dataset as rules
from distml.values import ListRecord, Many, Prim

if TYPE_CHECKING:
    from distml.values import Value

ROOT = "torch.utils.data"
SAMPLERS = (
    "RandomSampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
    "BatchSampler",
    "Sampler",
)


@layer(f"{ROOT}.DataLoader", f"{ROOT}.dataloader.DataLoader")
class DataLoader:
    """https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader"""

    @staticmethod
    def init(
        call: Call,
        dataset: Value,
        batch_size: Value = ONE,
        shuffle: Value = NONE,
        sampler: Value = NONE,
        batch_sampler: Value = NONE,
        num_workers: Value = NONE,
        collate_fn: Value = NONE,
        pin_memory: Value = FALSE,
        drop_last: Value = FALSE,
        *rest: Value,
        **options: Value,
    ) -> dict[str, Value]:
        """The size of a batch is settled once, so that all loops over the loader share it."""
        plain = call.is_none(sampler) and call.is_none(batch_sampler)
        claimed = rules.length_of(call, dataset) if plain else None
        indexed = rules.by_index(call, dataset)
        length = claimed if indexed or not plain else rules.streamed(call, dataset, num_workers)
        size = call.dim(batch_size) if call.is_none(batch_sampler) else None
        flag = call.flag(drop_last)
        count, said = (rules.batch_count(each, size, flag) for each in (length, claimed))
        last = rules.last_batch(length, size, flag)
        return {
            "dataset": dataset,
            "batch_size": batch_size,
            "drop_last": drop_last,
            "sampler": sampler,
            "batch_sampler": batch_sampler,
            "collate_fn": collate_fn,
            "__batch__": call.number(rules.batch_size(call, length, size, flag)),
            **({} if last is None else {"__last__": call.number(last)}),
            **({"__indices__": call.number(length)} if length is not None and indexed else {}),
            **({} if count is None else {"__batches__": call.number(count)}),
            "__length__": Prim("int") if said is None else call.number(said),
        }


@op(f"{ROOT}.DataLoader.__len__")
def length(call: Call, self: Value) -> Value:
    """The number of batches: of as many items as the data set says that it has."""
    return (call.attrs(self) or {}).get("__length__", Prim("int"))


@op(f"{ROOT}.DataLoader.__iter__")
def iterate(call: Call, self: Value) -> Value:
    """Batches, all of them alike."""
    attrs = call.attrs(self) or {}
    count, size = (call.dim(attrs.get(name, NONE)) for name in ("__batches__", "__last__"))
    last = None
    if size is not None:
        made, before = (_batch(call, {**attrs, "__batch__": attrs[name]}) for name in ("__last__", "batch_size"))
        last = rules.unlike(made, before, size, call.dim(attrs["batch_size"]), "drop_last")
    return Many(_batch(call, attrs), "iterator", count, last=last)


def _batch(call: Call, attrs: dict[str, Value]) -> Value:
    item = rules.item_of(call, attrs.get("dataset", NONE), call.dim(attrs.get("__indices__", NONE)))
    size, collate_fn = attrs.get("batch_size", NONE), attrs.get("collate_fn", NONE)
    batch = call.dim(attrs.get("__batch__", NONE))
    if item is None or batch is None:
        return call.unknown("batch")
    empty, default = call.is_none(size), call.is_none(collate_fn)
    if empty and not call.is_none(attrs.get("batch_sampler", NONE)):
        empty = False
    if empty is None or default is None:
        return call.unknown("batch")
    if empty:
        return item if default else _collated(call, collate_fn, item)
    if default:
        return rules.collate(call, item, batch)
    return _collated(call, collate_fn, call.world.allocate(ListRecord(None, item, batch)))


def _collated(call: Call, collate_fn: Value, items: Value) -> Value:
    try:
        return call.apply(collate_fn, items)
    except ShapeError:
        # Items that are like each other here may still differ, and a loader may be empty.
        return call.unknown("batch")


@op(f"{ROOT}.default_collate", f"{ROOT}.dataloader.default_collate")
def default_collate(call: Call, batch: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.default_collate"""
    item, size = rules.item_of(call, batch), rules.length_of(call, batch)
    if item is None:
        return call.unknown("batch")
    return rules.collate(call, item, call.symbol("batch", 1) if size is None else size)


@layer(*(f"{ROOT}.{name}" for name in SAMPLERS), f"{ROOT}.distributed.DistributedSampler")
class Sampler:
    """Samplers give numbers of items: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Sampler"""

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """Nothing that shapes depend on."""
        return {}


@op(*(f"{ROOT}.{name}.__len__" for name in SAMPLERS), f"{ROOT}.distributed.DistributedSampler.__len__")
def sampler_length(call: Call, self: Value) -> Value:
    """Some number."""
    return Prim("int")


@op(*(f"{ROOT}.{name}.__iter__" for name in SAMPLERS), f"{ROOT}.distributed.DistributedSampler.__iter__")
def sampler_iterate(call: Call, self: Value) -> Value:
    """Unknown many numbers, or lists of them."""
    return Many(call.unknown("index"), "iterator")


@op(f"{ROOT}.distributed.DistributedSampler.set_epoch")
def set_epoch(call: Call, self: Value, epoch: Value) -> Value:
    """Another order."""
    return NONE
