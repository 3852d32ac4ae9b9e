"""What torch refuses as its `input`: every function and layer of which distml says so is asked with strings and containers."""

from __future__ import annotations

import warnings
from functools import reduce
from typing import Any

import pytest

from distml.interp.no_tensors import takes_input
from distml.ops import registry

OPS, LAYERS = registry.names()


def found(name: str) -> Any:
    """The function or class of a name, None where this version of torch has none."""
    import torch

    return reduce(lambda owner, part: getattr(owner, part, None), name.split(".")[1:], torch)


def accepted(function: Any, others: list[tuple[Any, ...]]) -> list[str]:
    """The kinds of no tensor with which some call of a function comes back."""
    import torch

    kinds: list[str] = []
    for value in ("a", b"a", [1.0, 2.0], (torch.zeros(2),), {}, set(), torch.nn.ReLU()):
        for more in others:
            try:
                function(value, *more)
            except Exception:
                continue
            kinds.append(type(value).__name__)
    return kinds


@pytest.mark.requires("torch")
def test_functions_of_an_input_take_nothing_but_tensors() -> None:
    import torch

    x = torch.zeros(2)
    others: list[tuple[Any, ...]] = [(), (1,), (1, 1), (x,), (x, x), ((2,),), ((0,), (0,)), (x, x, x)]
    names = [name for name in OPS if takes_input(name) and found(name) is not None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = {name: kinds for name in names if (kinds := accepted(found(name), others))}
    assert len(names) > 400
    assert taken == {}


@pytest.mark.requires("torch")
def test_layers_of_an_input_take_nothing_but_tensors() -> None:
    taken: dict[str, list[str]] = {}
    asked = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in [name for name in LAYERS if takes_input(name) and found(name) is not None]:
            layer = made(found(name))
            asked += layer is not None
            if layer is not None and (kinds := accepted(layer, [()])):
                taken[name] = kinds
    assert asked > 80
    assert taken == {}


def made(cls: Any) -> Any:
    """A layer with small sizes."""
    for sizes in ((), (1,), (2, 2), (2, 2, 1), (2, 1), (0, (2, 1))):
        try:
            return cls(*sizes)
        except Exception:
            continue
    return None
