"""What `x.tolist()` gives, of NumPy and of PyTorch: lists as deep and as long as the real ones."""

from __future__ import annotations

from typing import Any

import pytest

from distml.values import ListRecord, Prim, Ref, Value

from ops.replay import Abstraction
from ops.world import ScratchWorld

SHAPES = [(), (3,), (0,), (70,), (2, 3), (1, 1), (70, 2), (2, 1, 2)]


def agrees(world: ScratchWorld, made: Value, real: Any) -> bool:
    """Whether a value is as a real list says: length and depth, and numbers at the bottom."""
    if not isinstance(real, list):
        return made == Prim(type(real).__name__)
    record = world.record(made) if isinstance(made, Ref) else None
    if not isinstance(record, ListRecord):
        return False
    if record.items is not None:
        return len(record.items) == len(real) and all(map(lambda m, r: agrees(world, m, r), record.items, real))
    right = record.length is not None and record.length == len(real)
    return right and record.item is not None and all(agrees(world, record.item, each) for each in real)


@pytest.mark.requires("torch", "numpy")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_lists_are_as_deep_as_the_shape_has_axes(library: str, shape: tuple[int, ...]) -> None:
    import numpy as np
    import torch

    name = "torch.Tensor.tolist" if library == "torch" else "numpy.ndarray.tolist"
    real = torch.ones(shape) if library == "torch" else np.ones(shape)
    world = ScratchWorld()
    assert agrees(world, world.call(name, Abstraction(world, "exact")(real)), real.tolist())
