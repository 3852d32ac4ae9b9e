"""Containers, modules and data: children, attributes, batches."""

from __future__ import annotations

import pytest

from distml.ops import ShapeError
from distml.shapes import Dim, Shape
from distml.values import Const, DictRecord, InstanceRecord, ListRecord, Many, Opaque, Ref, Slice, Tensor, Tup, Value

from ops.world import ScratchWorld

NN, DATA = "torch.nn", "torch.utils.data"


def tensor(*dims: int | Dim, dtype: str | None = "float") -> Tensor:
    return Tensor("torch", Shape(tuple(Dim.of(d) for d in dims)), dtype)


@pytest.fixture
def world() -> ScratchWorld:
    return ScratchWorld()


def linear(world: ScratchWorld, inside: int, outside: int) -> Value:
    layer: Value = world.call(f"{NN}.Linear", Const(inside), Const(outside))
    return layer


def test_sequential_runs_its_layers_in_order(world: ScratchWorld) -> None:
    model = world.call(f"{NN}.Sequential", linear(world, 4, 8), world.call(f"{NN}.ReLU"), linear(world, 8, 2))
    assert world.apply(model, [tensor(3, 4)]).shape == Shape.of(3, 2)
    assert world.call(f"{NN}.Sequential.__len__", model) == Const(3)
    head = world.call(f"{NN}.Sequential.__getitem__", model, Slice(stop=Const(1)))
    assert world.apply(head, [tensor(3, 4)]).shape == Shape.of(3, 8)
    last = world.call(f"{NN}.Sequential.__getitem__", model, Const(-1))
    assert world.apply(last, [tensor(3, 8)]).shape == Shape.of(3, 2)
    world.call(f"{NN}.Sequential.append", model, linear(world, 3, 1))
    with pytest.raises(ShapeError, match="needs 3 features"):
        world.apply(model, [tensor(3, 4)])


def test_sequential_of_named_layers(world: ScratchWorld) -> None:
    named = world.allocate(DictRecord({Const("fc"): linear(world, 4, 8), Const("out"): linear(world, 8, 2)}))
    model = world.call(f"{NN}.Sequential", named)
    assert world.apply(model, [tensor(3, 4)]).shape == Shape.of(3, 2)
    fc = world.attribute(model, "fc")
    assert fc is not None
    assert world.apply(fc, [tensor(3, 4)]).shape == Shape.of(3, 8)


def test_unknown_many_layers_keep_the_shape_or_lose_it(world: ScratchWorld) -> None:
    keep = world.call(f"{NN}.Sequential", Many(linear(world, 4, 4)))
    assert world.apply(keep, [tensor(3, 4)]).shape == Shape.of(3, 4)
    change = world.call(f"{NN}.Sequential", Many(linear(world, 4, 8)))
    assert isinstance(world.apply(change, [tensor(3, 4)]), Opaque)
    # There may be none of them.
    assert isinstance(world.apply(change, [tensor(3, 5)]), Opaque)


def test_module_list(world: ScratchWorld) -> None:
    layers = [linear(world, 4, 8), linear(world, 8, 2)]
    modules = world.call(f"{NN}.ModuleList", world.allocate(ListRecord(tuple(layers))))
    assert world.call(f"{NN}.ModuleList.__iter__", modules) == Tup(tuple(layers))
    more = linear(world, 2, 1)
    assert world.call(f"{NN}.ModuleList.__iadd__", modules, world.allocate(ListRecord((more,)))) == modules
    assert world.call(f"{NN}.ModuleList.__getitem__", modules, Const(2)) == more
    world.call(f"{NN}.ModuleList.insert", modules, Const(0), more)
    assert world.call(f"{NN}.ModuleList.__getitem__", modules, Const(0)) == more
    assert world.call(f"{NN}.ModuleList.__len__", modules) == Const(4)


def test_module_dict(world: ScratchWorld) -> None:
    fc = linear(world, 4, 8)
    modules = world.call(f"{NN}.ModuleDict", world.allocate(DictRecord({Const("fc"): fc})))
    assert world.call(f"{NN}.ModuleDict.__getitem__", modules, Const("fc")) == fc
    out = linear(world, 8, 2)
    world.call(f"{NN}.ModuleDict.__setitem__", modules, Const("out"), out)
    assert world.call(f"{NN}.ModuleDict.keys", modules) == Tup((Const("fc"), Const("out")))
    assert world.call(f"{NN}.ModuleDict.items", modules) == Tup((Tup((Const("fc"), fc)), Tup((Const("out"), out))))
    assert world.call(f"{NN}.ModuleDict.__contains__", modules, Const("no")) == Const(False)


def test_modules_return_themselves(world: ScratchWorld) -> None:
    fc = linear(world, 4, 8)
    assert world.call(f"{NN}.Module.to", fc, Const("cuda")) == fc
    scale = world.call(f"{NN}.Parameter", tensor(1, 8))
    assert scale.parameter
    assert scale.shape == Shape.of(1, 8)


def test_wrapped_modules_are_called_through(world: ScratchWorld) -> None:
    wrapped = world.call(f"{NN}.parallel.DistributedDataParallel", linear(world, 4, 8))
    assert world.apply(wrapped, [tensor(3, 4)]).shape == Shape.of(3, 8)


def test_transformer_encoder_of_copies(world: ScratchWorld) -> None:
    one = world.call(f"{NN}.TransformerEncoderLayer", Const(16), Const(4), batch_first=Const(True))
    encoder = world.call(f"{NN}.TransformerEncoder", one, Const(6))
    assert world.apply(encoder, [tensor(2, 5, 16)]).shape == Shape.of(2, 5, 16)
    with pytest.raises(ShapeError, match="needs 16 features"):
        world.apply(encoder, [tensor(2, 5, 12)])


def test_packed_sequences_come_back_with_their_batch(world: ScratchWorld) -> None:
    lengths = world.allocate(ListRecord((Const(5), Const(3))))
    rnn = "torch.nn.utils.rnn"
    packed = world.call(f"{rnn}.pack_padded_sequence", tensor(2, 7, 4), lengths, batch_first=Const(True))
    lstm = world.call(f"{NN}.LSTM", Const(4), Const(6), batch_first=Const(True))
    output, states = world.apply(lstm, [packed]).items
    assert states.items[0].shape == Shape.of(1, 2, 6)
    padded, sizes = world.call(f"{rnn}.pad_packed_sequence", output, batch_first=Const(True)).items
    assert padded.shape == Shape.of(2, 5, 6)
    assert sizes.shape == Shape.of(2)


def batches(world: ScratchWorld, dataset: Value, **options: Value) -> list[Shape]:
    loader = world.call(f"{DATA}.DataLoader", dataset, **options)
    found = world.call(f"{DATA}.DataLoader.__iter__", loader)
    assert isinstance(found, Many)
    items = world.begin("items").items(found.item)
    assert items is not None
    return [item.shape for item in items if isinstance(item, Tensor)]


def test_tensor_dataset_needs_one_length(world: ScratchWorld) -> None:
    with pytest.raises(ShapeError, match="1000 and 900"):
        world.call(f"{DATA}.TensorDataset", tensor(1000, 20), tensor(900))


def test_batches(world: ScratchWorld) -> None:
    data = world.call(f"{DATA}.TensorDataset", tensor(1000, 20), tensor(1000, dtype="int"))
    assert batches(world, data, batch_size=Const(50)) == [Shape.of(50, 20), Shape.of(50)]
    assert batches(world, data, batch_size=Const(64), drop_last=Const(True)) == [Shape.of(64, 20), Shape.of(64)]
    first, second = batches(world, data, batch_size=Const(64))
    assert first.head[0].constant is None
    assert first.head[0] == second.head[0]
    assert world.call(f"{DATA}.DataLoader.__len__", world.call(f"{DATA}.DataLoader", data, Const(64))) == Const(16)


def test_random_split(world: ScratchWorld) -> None:
    data = world.call(f"{DATA}.TensorDataset", tensor(100, 20))
    lengths = world.allocate(ListRecord((Const(80), Const(20))))
    parts = world.call(f"{DATA}.random_split", data, lengths)
    record = world.record(parts)
    assert isinstance(record, ListRecord)
    assert record.items is not None
    assert batches(world, record.items[0], batch_size=Const(16)) == [Shape.of(16, 20)]
    for wrong in ((80, 30), (80, 10)):
        with pytest.raises(ShapeError, match="the data set has 100"):
            world.call(f"{DATA}.random_split", data, Tup(tuple(Const(n) for n in wrong)))
    fractions = world.call(f"{DATA}.random_split", data, Tup((Const(0.7), Const(0.3))))
    assert isinstance(fractions, Ref)


@pytest.mark.requires("torch")
def test_batches_are_those_of_the_real_loader(world: ScratchWorld) -> None:
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    real = TensorDataset(torch.zeros(10, 3), torch.zeros(10))
    data = world.call(f"{DATA}.TensorDataset", tensor(10, 3), tensor(10))
    for size, drop in ((5, False), (4, True), (16, False)):
        wanted = [Shape.of(*part.shape) for part in next(iter(DataLoader(real, size, drop_last=drop)))]
        assert batches(world, data, batch_size=Const(size), drop_last=Const(drop)) == wanted


def test_instances_are_instances(world: ScratchWorld) -> None:
    assert isinstance(world.record(linear(world, 1, 1)), InstanceRecord)
