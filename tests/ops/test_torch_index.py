"""`x[...]` of torch and NumPy against the real ones, on indices drawn at random with a fixed seed."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from typing import Any

import pytest

from distml.ops import Call, ShapeError
from distml.ops.rules.index import assigned, indexed
from distml.ops.rules.slices import slice_length
from distml.shapes import Dim, Shape, Symbol
from distml.values import NONE, Const, Num, Slice, Tensor

from ops.world import ScratchWorld, lift

LIBRARIES = [pytest.param(lib, marks=pytest.mark.requires(lib)) for lib in ("torch", "numpy")]
BOUNDS = (None, None, 0, 1, 2, -1, -2, 5)


class Draw:
    """Indices and arrays of one library."""

    def __init__(self, lib: str, seed: int) -> None:
        self.rng = random.Random(seed)
        if lib == "torch":
            import torch

            self.zeros: Any = torch.zeros
            self.array: Any = torch.tensor
        else:
            import numpy as np

            self.zeros, self.array = np.zeros, np.array

    def shape(self) -> tuple[int, ...]:
        return tuple(self.rng.choice((2, 3, 4)) for _ in range(self.rng.randint(0, 5)))

    def index(self, shape: tuple[int, ...]) -> Any:
        items: list[Any] = []
        for _ in range(self.rng.randint(0, 5)):
            item = self.item(shape, sum(isinstance(i, int | slice | list) for i in items))
            if item is not Ellipsis or not any(i is Ellipsis for i in items):
                items.append(item)
        return tuple(items) if len(items) != 1 or self.rng.random() < 0.5 else items[0]

    def item(self, shape: tuple[int, ...], axis: int) -> Any:
        rng = self.rng
        kind = rng.choice(["int", "slice", "slice", "new", "dots", "array", "matrix", "mask", "flag", "list"])
        if kind == "int":
            return rng.randint(-4, 4)
        if kind == "slice":
            return slice(rng.choice(BOUNDS), rng.choice(BOUNDS), rng.choice((None, 1, 2)))
        if kind == "mask":
            return self.zeros(tuple(shape[axis : axis + rng.randint(0, 2)])) == 0
        if kind == "list":
            return rng.choice(([0, 1], [True, False], []))
        arrays = {"array": [0, 1], "matrix": [[0, 1]]}
        return self.array(arrays[kind]) if kind in arrays else {"new": None, "dots": Ellipsis, "flag": True}[kind]


def abstracted(call: Call, draw: Draw, shape: tuple[int, ...], mode: str) -> tuple[Shape, dict[Symbol, Dim]]:
    if mode == "unranked":
        return call.facts.unknown_shape(), {}
    values: dict[Symbol, Dim] = {}
    dims = []
    for size in shape:
        symbol = Symbol("s", call.world.serial())
        hidden = mode == "symbolic" and draw.rng.random() < 0.6
        dims.append(Dim.symbol(symbol) if hidden else Dim.of(size))
        if hidden:
            values[symbol] = Dim.of(size)
    return Shape(tuple(dims)), values


def verdict(found: Shape | None, real: tuple[int, ...], values: dict[Symbol, Dim]) -> str:
    if found is None:
        return "unknown"
    if found.least > len(real) or (found.dims is not None and len(found.dims) != len(real)):
        return "wrong"
    pairs = [*zip(found.head, real, strict=False), *zip(found.tail[::-1], real[::-1], strict=False)]
    sizes = [(d.substitute(values).constant, size) for d, size in pairs]
    # Of an axis of unknown size, items cut off by number are taken to be there.
    if any(number is not None and number != size and not (number < 0 and size == 0) for number, size in sizes):
        return "wrong"
    return "exact" if found.dims is not None and all(n is not None for n, _ in sizes) else "partial"


@pytest.mark.parametrize(
    ("mode", "exact", "found"), [("plain", 0.8, 0.95), ("symbolic", 0.7, 0.85), ("unranked", 0, 0.07)]
)
@pytest.mark.parametrize("lib", LIBRARIES)
def test_reading(lib: str, mode: str, exact: float, found: float) -> None:
    draw, counts = Draw(lib, 1), Counter[str]()
    for _ in range(2500):
        shape = draw.shape()
        index = draw.index(shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                real = tuple(draw.zeros(shape)[index].shape)
            except IndexError:
                real = None
        world = ScratchWorld()
        call = world.begin(f"{lib}.getitem")
        made, values = abstracted(call, draw, shape, mode)
        try:
            result = indexed(call, made, lift(world, index), lib)
        except ShapeError as error:
            assert real is None, f"{shape} {index}: {error}"
            counts["found"] += 1
        else:
            outcome = "missed" if real is None else verdict(result, real, values)
            assert outcome != "wrong", f"{made} {index}: {result}, really {real}"
            counts[outcome] += 1
    valid, failing = sum(counts[k] for k in ("exact", "partial", "unknown")), counts["found"] + counts["missed"]
    assert counts["exact"] >= exact * valid, counts
    assert counts["found"] >= found * failing, counts


@pytest.mark.parametrize("lib", LIBRARIES)
def test_writing(lib: str) -> None:
    draw, counts = Draw(lib, 2), Counter[str]()
    for _ in range(1500):
        shape = draw.shape()
        index = draw.index(shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                slot = tuple(draw.zeros(shape)[index].shape)
            except IndexError:
                continue
            value = draw.zeros(tuple(draw.rng.choice((n, n, 1, n + 1)) for n in slot[draw.rng.randint(0, len(slot)) :]))
            try:
                target = draw.zeros(shape)
                target[index] = value
                fits = True
            except (RuntimeError, ValueError, IndexError):
                fits = False
        world = ScratchWorld()
        made = Shape.of(*shape)
        try:
            assigned(world.begin(f"{lib}.setitem"), made, lift(world, index), lift(world, value), lib)
        except ShapeError as error:
            assert not fits, f"{shape} {index} = {value.shape}: {error}"
            counts["found"] += 1
        else:
            counts["passed" if fits else "missed"] += 1
    assert counts["found"] >= 0.7 * (counts["found"] + counts["missed"]), counts


@pytest.mark.parametrize(
    ("index", "code"),
    [
        ((5,), "SHP302"),
        ((-4,), "SHP302"),
        ((0, 0, 0), "SHP303"),
        (([0, 3],), "SHP302"),
        ((slice(None, None, -1),), "SHP302"),
    ],
)
def test_codes_of_failing_indices(index: tuple[object, ...], code: str) -> None:
    world = ScratchWorld()
    with pytest.raises(ShapeError) as caught:
        world.call("torch.Tensor.__getitem__", Tensor("torch", Shape.of(3, 4), "float"), lift(world, index))
    assert caught.value.code == code


def test_a_mask_must_match() -> None:
    world = ScratchWorld()
    mask = Tensor("torch", Shape.of(4), "bool")
    with pytest.raises(ShapeError, match="4 in the mask meets 3 on axis 0") as caught:
        world.call("torch.Tensor.__getitem__", Tensor("torch", Shape.of(3, 4), "float"), mask)
    assert caught.value.code == "SHP304"


def test_a_value_must_fit() -> None:
    world = ScratchWorld()
    target, value = Tensor("torch", Shape.of(3, 4), "float"), Tensor("torch", Shape.of(5), "float")
    with pytest.raises(ShapeError) as caught:
        world.call("torch.Tensor.__setitem__", target, Const(0), value)
    assert caught.value.code == "SHP305"


def test_slices_of_symbols_add_up() -> None:
    call = ScratchWorld().begin("x")
    size, cut = call.symbol("t"), call.symbol("n")
    half = size // 2
    for at in (half, cut):
        low = slice_length(call, size, Slice(stop=Num(at)))
        high = slice_length(call, size, Slice(start=Num(at)))
        assert low + high == size
    assert slice_length(call, size, Slice(stop=Num(half))) == half
    assert slice_length(call, size, Slice(start=Const(1))) == size - 1
    assert slice_length(call, size, Slice(stop=Const(-1))) == size - 1
    assert slice_length(call, size, Slice(Const(1), Const(-1))) == size - 2
    assert slice_length(call, size, Slice(NONE, NONE, Const(2))) == (size + 1) // 2
    assert slice_length(call, size, Slice(start=Const(-1))) == 1


def test_indexing_an_unknown_rank_learns_that_the_axes_exist() -> None:
    world = ScratchWorld()
    call = world.begin("x")
    shape = call.facts.unknown_shape()
    result = indexed(call, shape, lift(world, (slice(None), 0, Ellipsis, None)), "torch")
    known = call.facts.shape(shape)
    assert known.least == 2
    assert result is not None
    assert (result.head[0], result.tail[-1], result.least) == (known.head[0], Dim.of(1), 2)


def test_known_integers_are_kept() -> None:
    world = ScratchWorld()
    made = world.call("torch.tensor", lift(world, [2, 3, 4]))
    last = world.call("torch.Tensor.__getitem__", made, Const(-1))
    assert world.call("torch.Tensor.item", last) == Const(4)
    assert world.call("torch.Tensor.item", world.call("torch.prod", made)) == Const(24)
    changed = world.call("torch.Tensor.add_", made, Const(1))
    assert changed.content is None
