"""The kinds of elements that are told of results, by PyTorch's own samples with integers and bools, and of einops."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from distml.ops import ShapeError, find_op
from distml.values import Const, Tensor

from ops.test_torch_samples import _named, _names
from ops.torch_oracle import op_db
from ops.world import ScratchWorld, leaves, lift

pytestmark = pytest.mark.requires("torch")


def _differing(world: ScratchWorld, found: Any, real: Any) -> Iterator[str]:
    """What is told wrongly: of bytes nothing is."""
    for told, part in leaves(world, found, real):
        made = lift(world, part)
        if isinstance(made, Tensor) and told.dtype not in (None, made.dtype) and "uint8" not in str(part.dtype):
            yield f"{told.dtype} told, {made.dtype}"


def _told(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[str]:
    rule = find_op(name)
    assert rule is not None
    world = ScratchWorld()
    try:
        real = _named(name)(*args, **kwargs)  # type: ignore[operator]
        made = rule(
            world.begin(name), *(lift(world, a) for a in args), **{k: lift(world, v) for k, v in kwargs.items()}
        )
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, ShapeError):
        return  # a sample for another signature
    yield from (f"{name}: {each}" for each in _differing(world, made, real))


def test_functions_of_torch() -> None:
    import torch

    torch.manual_seed(0)
    wrong = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in op_db():
            names = _names(info)
            for dtype in (torch.int64, torch.bool):
                known = bool(names) and dtype in info.supported_dtypes("cpu")
                for sample in islice(info.sample_inputs("cpu", dtype), 4) if known else ():
                    for name in names:
                        wrong.update(_told(name, (sample.input, *sample.args), sample.kwargs))
    assert not wrong, "\n".join(sorted(wrong))


@pytest.mark.requires("einops")
@pytest.mark.parametrize("reduction", ["min", "max", "sum", "mean", "prod", "any", "all"])
def test_reductions_of_einops(reduction: str) -> None:
    import einops
    import torch

    for x in (torch.ones(2, 3), torch.ones(2, 3, dtype=torch.int64), torch.ones(2, 3, dtype=torch.bool)):
        world = ScratchWorld()
        try:
            real = einops.reduce(x, "a b -> a", reduction)
        except (RuntimeError, NotImplementedError):
            continue  # a mean of integers
        made = world.call("einops.reduce", lift(world, x), Const("a b -> a"), Const(reduction))
        assert list(_differing(world, made, real)) == []
