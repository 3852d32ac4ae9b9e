"""A layer that is one of several, by what is not known: a container keeps it as that, and a result that is the same with
each of them is known. The programs are run with each."""

from __future__ import annotations

import pytest

from interp.programs import errors_and_revealed

HEAD = """
import os
import torch
from collections import OrderedDict
from torch import nn

flag = os.environ.get("FLAG") == "1"
x = torch.zeros(2, 8, 9, 9)
conv = nn.Conv2d(8, 4, 3)
one = nn.Identity() if flag else nn.ReLU()
two = nn.Tanh() if flag else nn.BatchNorm2d(4)

class Block(nn.Sequential):
    def __init__(self, *layers):
        super().__init__(conv, *layers)

"""
NETS = (
    "nn.Sequential(conv, one)",
    "nn.Sequential(one, conv, two)",
    "nn.Sequential(nn.Sequential(conv, one), two)",
    "nn.Sequential(*[conv, one, two])",
    'nn.Sequential(OrderedDict([("conv", conv), ("one", one)]))',
    "nn.Sequential(conv, *(nn.Identity() if flag else nn.ReLU() for _ in range(12)))",
    "nn.Sequential(conv, one)[:2]",
    "nn.Sequential(conv, one).append(two)",
    "Block(one, two)",
    "nn.Sequential(conv, nn.Conv2d(4, 4, 1) if flag else nn.MaxPool2d(1))",
)


@pytest.mark.requires("torch")
@pytest.mark.parametrize("net", NETS)
def test_a_container_keeps_a_layer_that_is_one_of_several(net: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = f"{HEAD}reveal_shape({net}(x))\n"
    shapes: set[tuple[int, ...]] = set()
    for flag in "01":
        monkeypatch.setenv("FLAG", flag)
        exec(program, {"reveal_shape": lambda x: shapes.add(tuple(x.shape)), "__name__": "program"})
    assert errors_and_revealed(program) == ([], [f"Tensor{list(shape)}" for shape in shapes])
