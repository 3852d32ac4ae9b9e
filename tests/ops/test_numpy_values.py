"""NumPy: what the oracle cannot ask: contents, changes in place, unknown sizes, messages, the thesis's arrays."""

from __future__ import annotations

from typing import Any

import pytest

from distml.ops import ShapeError
from distml.shapes import Dim, Shape, Symbol
from distml.values import Const, Lib, ListRecord, Num, Opaque, Prim, Ratio, Ref, Tensor, Tup, Value

from ops.world import ScratchWorld


@pytest.fixture
def world() -> ScratchWorld:
    return ScratchWorld()


def array(*dims: int | Dim, dtype: str | None = "float") -> Tensor:
    return Tensor("numpy", Shape.of(*dims), dtype)


def a_list(world: ScratchWorld, *items: Value) -> Ref:
    return world.allocate(ListRecord(items))


def shape_of(world: ScratchWorld, value: Any) -> str:
    return world.begin("numpy.x").show(value)


def size(name: str, low: int | None = 0) -> Dim:
    return Dim.symbol(Symbol(name, 1, low))


def test_arrays_of_the_thesis(world: ScratchWorld) -> None:
    m, n = Opaque("m", world.serial()), Opaque("n", world.serial())
    two = Tup((Const(2), Const(2), Const(2)))
    assert shape_of(world, world.call("numpy.array", a_list(world, m, two))) == "[2, 3]"
    assert shape_of(world, world.call("numpy.array", a_list(world, m, n))) == "[2, ...]"
    rows = a_list(world, *[Tup((Const(1),) * 5)] * 2)
    assert shape_of(world, world.call("numpy.array", Tup((rows, rows, n)))) == "[3, 2, 5]"
    left = Tup((Tup((Const(2),)), Tup((Const(3),)), Tup((Const(6),))))
    assert shape_of(world, world.call("numpy.ndarray.__mod__", left, array(5, 1, 1))) == "[5, 3, 1]"
    with pytest.raises(ShapeError, match="the nested sequences differ") as caught:
        world.call("numpy.array", a_list(world, two, Const(7)))
    assert caught.value.code == "SHP203"


def test_the_same_unknown_size_gives_the_same_shape(world: ScratchWorld) -> None:
    shape = Opaque("shape", world.serial())
    first, second = world.call("numpy.zeros", shape), world.call("numpy.ones", shape)
    assert first.shape == second.shape


def test_a_size_is_learned_not_to_be_negative(world: ScratchWorld) -> None:
    count = size("n", None)
    made = world.call("numpy.zeros", Tup((Num(count), Const(3))))
    assert made.shape.head[0].low == 0
    assert world.begin("x").facts.dim(count).low == 0


def test_contents_become_sizes(world: ScratchWorld) -> None:
    n = size("n")
    shape = world.call("numpy.array", a_list(world, Num(n), Const(6)))
    assert shape_of(world, world.call("numpy.zeros", shape)) == "[n, 6]"
    assert shape_of(world, world.call("numpy.zeros", world.call("numpy.prod", shape))) == "[6*n]"
    half = world.call("numpy.ndarray.__floordiv__", shape, Const(2))
    assert shape_of(world, world.call("numpy.zeros", half)) == "[(n//2), 3]"
    last = world.call("numpy.ndarray.__getitem__", shape, Const(-1))
    assert shape_of(world, world.call("numpy.ones", last)) == "[6]"
    rounded = world.call("numpy.ceil", Ratio("float", n + 1, Dim.of(2)))
    whole = world.call("numpy.ndarray.astype", rounded, Lib("builtins.int"))
    assert shape_of(world, world.call("numpy.ones", whole)) == shape_of(
        world, Tensor("numpy", Shape.of(-(-(n + 1) // 2)))
    )


def test_a_change_in_place_forgets_contents(world: ScratchWorld) -> None:
    forgotten: list[Tensor] = []

    def reshaped(tensor: Tensor, shape: Shape, moved: bool = False) -> Tensor:
        forgotten.append(tensor)
        return ScratchWorld.reshaped(world, tensor, shape, moved)

    world.reshaped = reshaped  # type: ignore[method-assign]
    shape = world.call("numpy.array", a_list(world, Const(5), Const(6)))
    world.call("numpy.ndarray.__setitem__", shape, Const(0), Const(7))
    world.call("numpy.ndarray.__iadd__", shape, Const(1))
    world.call("numpy.ndarray.fill", shape, Const(1))
    world.call("numpy.ndarray.sort", shape)
    assert forgotten == [shape] * 4


def test_in_place_keeps_the_shape(world: ScratchWorld) -> None:
    with pytest.raises(ShapeError) as caught:
        world.call("numpy.ndarray.__isub__", array(16, 2), array(2, 16))
    assert caught.value.code in ("SHP102", "SHP305")
    with pytest.raises(ShapeError) as caught:
        world.call("numpy.ndarray.__iadd__", array(3), array(2, 3))
    assert caught.value.code == "SHP305"
    # A number that NumPy gives is no array: the name is bound anew.
    assert shape_of(world, world.call("numpy.ndarray.__iadd__", array(), array(3))) == "[3]"


def test_objects_hold_anything(world: ScratchWorld) -> None:
    objects = array(4, dtype=None)
    world.call("numpy.ndarray.__setitem__", objects, Const(0), a_list(world, Const(1), Const(2)))
    element = world.call("numpy.ndarray.__getitem__", objects, Const(0))
    world.call("numpy.ndarray.__getitem__", element, Const(0))
    with pytest.raises(ShapeError):
        world.call("numpy.ndarray.__getitem__", array(), Const(0))


@pytest.mark.parametrize("number", [Const(2.0), Prim("float"), Ratio("float", size("n"), Dim.of(2))])
def test_a_float_is_no_size(world: ScratchWorld, number: Value) -> None:
    for made in (number, Tup((number, Const(2)))):
        with pytest.raises(ShapeError) as caught:
            world.call("numpy.zeros", made)
        assert caught.value.code == "SHP603"


def test_a_generator_draws_like_the_module(world: ScratchWorld) -> None:
    rng = world.call("numpy.random.default_rng", Const(0))
    drawn = world.call("numpy.random.Generator.normal", rng, size=Tup((Const(2), Num(size("n")))))
    assert shape_of(world, drawn) == "[2, n]"
    with pytest.raises(ShapeError, match="do not broadcast to size"):
        world.call("numpy.random.Generator.normal", rng, array(3), size=Const(4))


def test_splitting_what_is_not_known(world: ScratchWorld) -> None:
    parts = world.call("numpy.array_split", array(size("n")), Const(2))
    record = world.record(parts)
    assert isinstance(record, ListRecord)
    assert record.items is not None
    assert [shape_of(world, item) for item in record.items] == ["[((n + 1)//2)]", "[(n//2)]"]


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("numpy.linalg.lstsq", (array(5, 3), array(4)), "[5, 3] has 5 rows, the right-hand side [4] has 4"),
        ("numpy.interp", (Const(1.0), array(3), array(4)), "must have the same length: 3 and 4"),
        ("numpy.random.choice", (Const(3), Const(None), Const(True), array(2)), "3 items to choose from have 2"),
        ("numpy.add", (array(2, 3), array(2)), "3 meets 2"),
    ],
)
def test_messages_say_what_meets_what(world: ScratchWorld, name: str, args: tuple[Value, ...], message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        world.call(name, *args)
    assert message in caught.value.message
