"""What torch's reductions, in-place ops and contexts give, beyond the samples of its own."""

from __future__ import annotations

import pytest

from distml.ops import ShapeError
from distml.shapes import Dim, Facts, Origin, Shape
from distml.values import NONE, Const, Lib, Opaque, Prim, Tensor, Tup, Value

from ops.world import ScratchWorld, lift


def tensor(*sizes: int | Dim, dtype: str = "float") -> Tensor:
    return Tensor("torch", Shape.of(*sizes), dtype)


@pytest.mark.parametrize("name", ["max", "min", "median", "mode", "kthvalue", "sort", "topk", "cummax"])
def test_values_and_indices(name: str) -> None:
    world = ScratchWorld()
    args: list[Value] = [Const(1)]
    if name in ("kthvalue", "topk"):
        args = [Const(2), Const(1)]
    found = world.call(f"torch.Tensor.{name}", tensor(5, 3), *args)
    assert isinstance(found, Tup)
    assert found.fields == ("values", "indices")
    assert [item.dtype for item in found.items if isinstance(item, Tensor)] == ["float", "int"]


@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("sum", [Const(2)], "SHP202"),
        ("mean", [Tup((Const(0), Const(0)))], "SHP202"),
        ("topk", [Const(4)], "SHP302"),
        ("kthvalue", [Const(4)], "SHP302"),
        ("backward", [], "SHP308"),
        ("item", [], "SHP308"),
        ("softmax", [Const(3)], "SHP202"),
        ("add_", [tensor(2, 5, 3)], "SHP305"),
        ("copy_", [tensor(4)], "SHP305"),
        ("masked_fill", [tensor(4, dtype="bool"), Const(0)], "SHP304"),
        ("gather", [Const(1), tensor(5, dtype="int")], "SHP301"),
        ("index_select", [Const(0), tensor(2, 2, dtype="int")], "SHP301"),
        ("__add__", [tensor(4)], "SHP102"),
        ("__isub__", [tensor(4)], "SHP305"),
        ("clamp", [tensor(2), NONE], "SHP102"),
    ],
)
def test_codes(name: str, args: list[Value], code: str) -> None:
    with pytest.raises(ShapeError) as caught:
        ScratchWorld().call(f"torch.Tensor.{name}", tensor(5, 3), *args)
    assert caught.value.code == code


def test_a_scalar_has_the_axes_0_and_minus_1() -> None:
    world = ScratchWorld()
    unknown = Tensor("torch", Facts(world).unknown_shape())
    for axis in (0, -1):
        world.call("torch.sum", unknown, Const(axis))
    assert Facts(world).shape(unknown.shape).least == 0
    world.call("torch.sum", unknown, Const(1))
    assert Facts(world).shape(unknown.shape).least == 2


def test_a_difference_of_a_column_and_a_row_warns_only_where_the_1_was_written() -> None:
    world = ScratchWorld()
    one = Dim.of(1, Origin("1", "model.py", 3, 20))
    made = Dim.of(1, Origin("x[:, None]", "model.py", 9, 1))
    size = world.begin("x").symbol("n")
    world.call("torch.Tensor.__sub__", tensor(size, made), tensor(size))
    world.call("torch.Tensor.__sub__", tensor(50, one), tensor(1))
    world.call("torch.Tensor.__add__", tensor(50, one), tensor(50))
    assert world.warnings == []
    world.call("torch.Tensor.__sub__", tensor(50, one), tensor(50))
    world.call("torch.sub", tensor(size), tensor(size, one))
    assert [code for code, _ in world.warnings] == ["SHP504", "SHP504"]


def test_no_grad_gives_the_function_it_decorates() -> None:
    world = ScratchWorld()
    function = Opaque("forward", world.serial())
    made = world.call("torch.no_grad")
    assert isinstance(made, Lib)
    assert world.call(made.name, function) == function
    assert world.call("torch.no_grad", function) == function
    assert world.call("torch.compile", function) == function


def test_kinds_follow_the_dtype_asked_for() -> None:
    world = ScratchWorld()
    x = tensor(2)
    assert world.call("torch.Tensor.to", x, Lib("torch.long")).dtype == "int"
    assert world.call("torch.Tensor.to", x, Const("cuda")).dtype == "float"
    assert world.call("torch.Tensor.to", x, Opaque("device", 1)).dtype is None
    assert world.call("torch.zeros", Const(2), dtype=Lib("torch.bool")).dtype == "bool"
    assert world.call("torch.zeros", Const(2), dtype=Lib("torch.uint8")).dtype is None
    assert world.call("torch.Tensor.__truediv__", tensor(2, dtype="int"), Const(2)).dtype == "float"
    assert world.call("torch.Tensor.__eq__", x, Const("text")) == Prim("bool")


def test_creation_takes_sizes_in_every_form() -> None:
    world = ScratchWorld()
    for args in ([Const(2), Const(3)], [lift(world, (2, 3))], [lift(world, [2, 3])]):
        assert world.call("torch.zeros", *args).shape == Shape.of(2, 3)
    assert world.call("torch.zeros", size=lift(world, (2, 3))).shape == Shape.of(2, 3)
    assert world.call("torch.randint", Const(9), lift(world, (2, 3))).shape == Shape.of(2, 3)
    assert world.call("torch.arange", Const(2), Const(9), Const(3)).shape == Shape.of(3)
    assert world.call("torch.full", lift(world, (2,)), Const(1.5)).dtype == "float"
