"""Layers: what they say when they fail, and what they give for inputs known in part."""

from __future__ import annotations

import pytest

from distml.ops import Call, ShapeError, find_layer
from distml.shapes import Dim, Origin, Shape
from distml.values import NONE, Const, InstanceRecord, Lib, Opaque, Prim, Ref, Tensor, Tup, Union, Value

from ops.world import ScratchWorld

NN, F = "torch.nn", "torch.nn.functional"


def tensor(*dims: int | Dim, dtype: str | None = "float") -> Tensor:
    return Tensor("torch", Shape(tuple(Dim.of(d) for d in dims)), dtype)


def ints(*numbers: int) -> list[Const]:
    return [Const(n) for n in numbers]


def shown(world: ScratchWorld, value: Value) -> str:
    if isinstance(value, Tensor):
        return repr(world.begin("show").facts.shape(value.shape))
    if isinstance(value, Tup):
        return f"({', '.join(shown(world, item) for item in value.items)})"
    if isinstance(value, Union):
        return " | ".join(shown(world, option) for option in value.options)
    return repr(value)


def use(name: str, *make: Value, on: tuple[Value, ...], text: str = "layer", **options: Value) -> str:
    """The shape of the layer's result, or the code and message of its failure."""
    world = ScratchWorld()
    rules = find_layer(f"{NN}.{name}")
    call = Call(world, f"{NN}.{name}", "torch", text)
    try:
        attrs = rules.init(call, *make, **options)
        return shown(world, rules.forward(call, attrs, *on))
    except ShapeError as error:
        return f"{error.code} {error.message}" + (f" [{error.hint}]" if error.hint else "")


def function(name: str, *args: Value, **options: Value) -> str:
    world = ScratchWorld()
    try:
        return shown(world, world.call(f"{F}.{name}", *args, **options))
    except ShapeError as error:
        return f"{error.code} {error.message}" + (f" [{error.hint}]" if error.hint else "")


def test_linear_names_both_sides() -> None:
    assert use("Linear", *ints(3136, 10), on=(tensor(8, 1600),), text="fc1") == (
        "SHP401 fc1 needs 3136 features on the last axis, gets 1600 (input [8, 1600]) [set in_features to 1600]"
    )
    found = use("Linear", *ints(400, 10), on=(tensor(8, 16, 5, 5),), text="fc1")
    assert found.endswith("[flatten the axes behind the batch first: .flatten(1)]")


def test_linear_points_at_the_constructor() -> None:
    world, origin = ScratchWorld(), Origin("128", "net.py", 8, 4)
    fc = world.call(f"{NN}.Linear", Const(128, origin), Const(10))
    with pytest.raises(ShapeError) as raised:
        world.apply(fc, [tensor(4, 96)])
    assert [note.origin for note in raised.value.notes] == [origin]


def test_a_replaced_weight_is_what_counts() -> None:
    world = ScratchWorld()
    fc = world.call(f"{NN}.Linear", *ints(128, 10))
    record = world.record(fc)
    assert isinstance(fc, Ref)
    assert isinstance(record, InstanceRecord)
    world.replace(fc, InstanceRecord(record.cls, {**record.attrs, "weight": tensor(10, 96)}))
    assert shown(world, world.apply(fc, [tensor(4, 96)])) == "[4, 10]"


def test_linear_of_an_unknown_input_learns_its_features() -> None:
    world = ScratchWorld()
    x = Opaque("x", world.serial())
    first, second = (world.call(f"{NN}.Linear", *ints(n, 10)) for n in (64, 32))
    world.apply(first, [x])
    with pytest.raises(ShapeError, match="needs 32 features"):
        world.apply(second, [x])


def test_a_lazy_layer_is_settled_by_its_first_input() -> None:
    world = ScratchWorld()
    fc = world.call(f"{NN}.LazyLinear", Const(10))
    world.apply(fc, [tensor(4, 96)])
    with pytest.raises(ShapeError, match="needs 96 features"):
        world.apply(fc, [tensor(4, 32)])


@pytest.mark.parametrize("width", [Const(16.0), Prim("float"), Const(-3)])
def test_a_size_is_a_number_of_things(width: Value) -> None:
    assert use("Linear", width, Const(10), on=(tensor(1, 16),)).startswith("SHP603")


def test_convolution() -> None:
    image = tensor(8, 3, 32, 32)
    assert use("Conv2d", *ints(3, 16, 5), on=(image,)) == "[8, 16, 28, 28]"
    assert use("Conv2d", *ints(3, 16, 3), on=(image,), padding=Const("same")) == "[8, 16, 32, 32]"
    assert use("Conv2d", *ints(1, 16, 3), on=(image,), text="conv1") == (
        "SHP402 conv1 needs 1 input channels, gets 3 (input [8, 3, 32, 32])"
    )
    assert "move the last axis there" in use("Conv2d", *ints(3, 16, 3), on=(tensor(8, 32, 32, 3),))
    assert use("Conv2d", *ints(3, 16, 5), on=(tensor(8, 3, 4, 4),)).startswith(
        "SHP403 layer: the window reaches over 5"
    )
    assert use("Conv2d", *ints(3, 16, 3), on=(image,), groups=Const(2)).startswith("SHP404")
    assert use("Conv2d", *ints(3, 16, 3), on=(tensor(8, 32),)).startswith("SHP301")


def test_convolution_of_symbols() -> None:
    world = ScratchWorld()
    call = world.begin("test")
    b, h, w = (call.symbol(name) for name in "bhw")
    conv = world.call(f"{NN}.Conv2d", *ints(3, 16, 3), stride=Const(2), padding=Const(1))
    found = world.apply(conv, [tensor(b, 3, h, w)])
    assert found.shape == Shape((b, Dim.of(16), (h - 1) // 2 + 1, (w - 1) // 2 + 1))


def test_convolution_of_an_unknown_input_may_have_a_batch_or_not() -> None:
    world = ScratchWorld()
    conv = world.call(f"{NN}.Conv2d", *ints(3, 16, 1))
    found = world.apply(conv, [Opaque("x", world.serial())])
    assert isinstance(found, Union)
    assert [option.shape.rank for option in found.options if isinstance(option, Tensor)] == [4, 3]


def test_two_convolutions_that_want_other_channels_of_one_input() -> None:
    world = ScratchWorld()
    x = Opaque("x", world.serial())
    first, second = (world.call(f"{NN}.Conv2d", *ints(n, 8, 3)) for n in (2, 4))
    world.apply(first, [x])
    with pytest.raises(ShapeError, match="needs 4 input channels, gets 2"):
        world.apply(second, [x])


def test_grouped_channels_that_are_symbols() -> None:
    world = ScratchWorld()
    c = world.begin("test").number(world.begin("test").symbol("c"))
    conv = world.call(f"{NN}.Conv2d", c, c, Const(3), groups=c, padding=Const(1))
    assert shown(world, world.apply(conv, [tensor(2, world.begin("test").dim(c), 8, 8)])) == "[2, c, 8, 8]"


def test_pooling() -> None:
    assert use("MaxPool2d", *ints(2), on=(tensor(8, 16, 7, 7),)) == "[8, 16, 3, 3]"
    assert use("MaxPool2d", *ints(2), on=(tensor(8, 16, 7, 7),), ceil_mode=Const(True)) == "[8, 16, 4, 4]"
    assert use("MaxPool2d", *ints(4), on=(tensor(8, 16, 3, 3),)).startswith("SHP403")
    assert use("AdaptiveAvgPool2d", Tup((NONE, Const(7))), on=(tensor(8, 16, 3, 3),)) == "[8, 16, 3, 7]"


def test_normalization() -> None:
    assert "needs 32 channels, gets 16" in use("BatchNorm2d", Const(32), on=(tensor(8, 16, 4, 4),))
    assert use("BatchNorm2d", Const(32), on=(tensor(8, 32),)).startswith("SHP301")
    assert use("LayerNorm", Const(64), on=(tensor(8, 10, 32),)).startswith("SHP401")
    assert use("GroupNorm", *ints(3, 16), on=(tensor(8, 16),)).startswith("SHP404")
    # Nothing of the layer has a size then.
    assert use("InstanceNorm2d", Const(32), on=(tensor(8, 16, 4, 4),)) == "[8, 16, 4, 4]"


@pytest.mark.parametrize(
    ("options", "shapes"),
    [
        ({}, "([20, 8, 64], ([1, 8, 64], [1, 8, 64]))"),
        ({"bidirectional": Const(True), "num_layers": Const(2)}, "([20, 8, 128], ([4, 8, 64], [4, 8, 64]))"),
        ({"proj_size": Const(10)}, "([20, 8, 10], ([1, 8, 10], [1, 8, 64]))"),
        ({"batch_first": Const(True)}, "([20, 8, 64], ([1, 20, 64], [1, 20, 64]))"),
    ],
)
def test_lstm(options: dict[str, Value], shapes: str) -> None:
    assert use("LSTM", *ints(32, 64), on=(tensor(20, 8, 32),), **options) == shapes


def test_recurrent_state() -> None:
    options = {"num_layers": Const(2), "batch_first": Const(True)}
    inputs = tensor(8, 20, 32)
    assert use("GRU", *ints(32, 64), on=(inputs, tensor(2, 8, 64)), **options) == "([8, 20, 64], [2, 8, 64])"
    found = use("GRU", *ints(32, 64), on=(inputs, tensor(1, 8, 64)), text="encoder", **options)
    assert found.startswith("SHP405 encoder needs a state h_0 [2, 8, 64], gets [1, 8, 64]: 2 for layers and directions")
    assert use("GRU", *ints(32, 64), on=(inputs, tensor(8, 2, 64)), **options).startswith("SHP405")


def test_attention() -> None:
    assert use("MultiheadAttention", *ints(100, 8), on=()).startswith("SHP404")
    q, kv = tensor(5, 2, 16), tensor(7, 2, 16)
    assert use("MultiheadAttention", *ints(16, 4), on=(q, kv, kv)) == "([5, 2, 16], [2, 5, 7])"
    found = use("MultiheadAttention", *ints(16, 4), on=(tensor(2, 5, 16), kv, kv))
    assert found.startswith("SHP104")
    assert function("scaled_dot_product_attention", tensor(2, 4, 5, 8), tensor(2, 4, 7, 8), tensor(2, 4, 7, 3)) == (
        "[2, 4, 5, 3]"
    )
    assert use("TransformerEncoderLayer", *ints(16, 4), on=(tensor(5, 2, 16), tensor(6, 6))).startswith("SHP104")


@pytest.mark.parametrize(
    ("scores", "target", "code"),
    [
        (tensor(8, 10), tensor(8, dtype="int"), None),
        (tensor(8, 10), tensor(8, 10), None),
        (tensor(8, 10, 4, 4), tensor(8, 4, 4, dtype="int"), None),
        (tensor(8, 10), tensor(4, dtype="int"), "SHP501"),
        (tensor(8, 10), tensor(8, 1, dtype="int"), "SHP501"),
        (tensor(8, 10), tensor(8, 10, dtype="int"), "SHP501"),
        (tensor(8, 10, 4, 4), tensor(8, 5, 4, dtype="int"), "SHP501"),
    ],
)
def test_cross_entropy(scores: Tensor, target: Tensor, code: str | None) -> None:
    found = use("CrossEntropyLoss", on=(scores, target))
    assert found == "[]" if code is None else found.startswith(code), found


def test_losses_that_broadcast() -> None:
    world = ScratchWorld()
    world.call(f"{F}.mse_loss", tensor(32, 1), tensor(32))
    assert [code for code, _ in world.warnings] == ["SHP503"]
    for pair in ((tensor(32, 1), tensor(32, 1)), (tensor(1, 32), tensor(32)), (tensor(32, 10), tensor(32, 1))):
        quiet = ScratchWorld()
        quiet.call(f"{F}.mse_loss", *pair)
        assert not quiet.warnings
    assert function("mse_loss", tensor(32, 10), tensor(32)).startswith("SHP501")
    found = function("binary_cross_entropy", tensor(32, 1), tensor(32))
    assert found.startswith("SHP501")
    assert "[squeeze the prediction: .squeeze(-1)]" in found


def test_reduction_decides_the_shape() -> None:
    assert function("mse_loss", tensor(4, 3), tensor(4, 3), reduction=Const("none")) == "[4, 3]"
    assert function("mse_loss", tensor(4, 3), tensor(4, 3), reduction=Prim("str")) == "[] | [4, 3]"


def test_resampling() -> None:
    image = tensor(1, 8, 5, 5)
    assert function("interpolate", image, scale_factor=Const(1.5)) == "[1, 8, 7, 7]"
    assert function("interpolate", image, Tup(tuple(ints(3, 4)))) == "[1, 8, 3, 4]"
    assert use("PixelShuffle", Const(3), on=(image,)).startswith("SHP404")
    assert function("pad", image, Tup(tuple(ints(1, 2, 3, 4)))) == "[1, 8, 12, 8]"
    assert function("pad", image, Tup(tuple(ints(5, 5, 0, 0))), mode=Const("reflect")).startswith("SHP403")


def test_embedding_adds_an_axis() -> None:
    world = ScratchWorld()
    table = world.call(f"{NN}.Embedding", *ints(1000, 64))
    found = world.apply(table, [Opaque("tokens", world.serial())])
    assert found.shape.tail == (Dim.of(64),)
    assert found.shape.rank is None


def test_a_layer_has_the_attributes_of_the_real_one() -> None:
    world = ScratchWorld()
    conv = world.record(world.call(f"{NN}.Conv2d", *ints(3, 16, 5)))
    assert isinstance(conv, InstanceRecord)
    assert conv.cls == Lib("torch.nn.Conv2d")
    assert conv.attrs["kernel_size"] == Tup(tuple(ints(5, 5)))
    assert conv.attrs["out_channels"] == Const(16)
    assert shown(world, conv.attrs["weight"]) == "[16, 3, 5, 5]"


@pytest.mark.requires("torch")
@pytest.mark.parametrize("name", ["Linear", "Conv2d", "LSTM", "BatchNorm1d", "LayerNorm", "Embedding", "Bilinear"])
def test_attributes_and_weights_are_those_of_the_real_layer(name: str) -> None:
    import torch

    make = {"Linear": (6, 4), "Conv2d": (4, 8, 3), "LSTM": (6, 4, 2), "Bilinear": (2, 3, 4), "Embedding": (9, 4)}
    numbers = make.get(name, (6,))
    real = getattr(torch.nn, name)(*numbers)
    world = ScratchWorld()
    record = world.record(world.call(f"{NN}.{name}", *ints(*numbers)))
    assert isinstance(record, InstanceRecord)
    for key, weight in real.named_parameters():
        assert shown(world, record.attrs[key]) == repr(list(weight.shape)), key
