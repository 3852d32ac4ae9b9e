"""A method's name alone decides nothing: neither what the receiver is, nor what it gives.

A class of the program has methods by the names that tensors have, which give the object itself: two arrays of different
sizes, with operators of their own. The programs run; nothing in them is a finding. Once a layer of torch is given what a
method gives, it is a tensor, and then the sizes in the call count.
"""

from __future__ import annotations

import pytest

from distml.interp.guess import METHODS, SIZES

from interp.programs import errors_of, shown

torch = pytest.importorskip("torch", reason="not run: needs torch")

NAMES = sorted((METHODS | {name for name in dir(torch.Tensor)[::9] if not name.startswith("_")}) - SIZES)
"""But for what asks for sizes: `x.size()` is read as `x.shape` is."""
ARGUMENTS = ("0", "1, 0", "0, 2, 1", "-1, 3, 4", "2, dim=0", "")
USES = (
    "x.NAME(ARGUMENTS)[1]",
    "x.NAME(ARGUMENTS)[1][4, 3]",
    "x.NAME(ARGUMENTS)[:, :3, 5, 5]",
    "x.NAME(ARGUMENTS) + torch.zeros(7, 11)",
    "torch.zeros(7, 11) @ x.NAME(ARGUMENTS)",
    "[a for a, b, c in [x.NAME(ARGUMENTS)]]",
    "(x.NAME(ARGUMENTS), x.two())[1].shape[1]",
    "x.NAME(ARGUMENTS).NAME(ARGUMENTS)[1]",
    "x.NAME(ARGUMENTS).add(torch.zeros(5))[1]",
    "(x.NAME(ARGUMENTS), len(x.shape) == 5 or x.fails)",
    "float(x.NAME(ARGUMENTS)), len(x.NAME(ARGUMENTS)), [a for a in x.NAME(ARGUMENTS)]",
    "1 if x.NAME(ARGUMENTS) else 2, max(x.NAME(ARGUMENTS), 1), not x.NAME(ARGUMENTS)",
    "f'{x.NAME(ARGUMENTS):.3f}', '%.2f' % x.NAME(ARGUMENTS), '{:>9}'.format(x.NAME(ARGUMENTS))",
    "[4, 5, 6][x.NAME(ARGUMENTS)], range(x.NAME(ARGUMENTS)), torch.zeros(5)[x.NAME(ARGUMENTS)]",
    "x.NAME(ARGUMENTS)[0.5], x.NAME(ARGUMENTS)[1:0.5], x.NAME(ARGUMENTS)[[0, 1]], x.NAME(ARGUMENTS)['a', 0]",
    "1 - x.NAME(ARGUMENTS), -x.NAME(ARGUMENTS), ~x.NAME(ARGUMENTS), x.NAME(ARGUMENTS).mean(), x.NAME(ARGUMENTS) & 0.5",
    "torch.tensor([x.NAME(ARGUMENTS), 1.0]), math.sqrt(x.NAME(ARGUMENTS)), sorted([x.NAME(ARGUMENTS), 1])",
)
PROGRAM = """import math
import torch


class Arrays:
    shape = (1, 2, 3, 4, 5)

    def __getattr__(self, name):
        return lambda *args, **options: self

    def __getitem__(self, index):
        return self

    def __iter__(self):
        return iter((1, 2, 3))

    def __add__(self, other):
        return self

    def __rmatmul__(self, other):
        return self

    def __neg__(self):
        return self

    __rsub__ = __and__ = __add__
    __invert__ = __neg__

    def __float__(self):
        return 1.0

    def __index__(self):
        return 1

    def __len__(self):
        return 0

    def __bool__(self):
        return True

    def __lt__(self, other):
        return True

    __gt__ = __lt__

    def __format__(self, spec):
        return spec


"""
FUNCTION = """def look_INDEX(x):
    return USE


"""


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_method_of_a_class_of_the_program(arguments: str) -> None:
    uses = [use.replace("NAME", name).replace("ARGUMENTS", arguments) for name in NAMES for use in USES]
    program = PROGRAM + "".join(
        FUNCTION.replace("INDEX", str(index)).replace("USE", use) for index, use in enumerate(uses)
    )
    names: dict[str, object] = {}
    exec(program, names)
    arrays = names["Arrays"]
    assert callable(arrays)
    for index in range(len(uses)):
        look = names[f"look_{index}"]
        assert callable(look)
        look(arrays())
    assert [shown(finding) for finding in errors_of(program)] == []


@pytest.mark.parametrize(
    "method, told",
    [
        ("view(-1, 3, 4)", True),
        ("expand(2, 3, 4)", True),
        ("new_zeros(2, 4)", True),
        ("contiguous().view(-1, 4)", True),
        ("permute(1, 0)", False),
        ("view(-1, 3)", False),
    ],
)
def test_what_a_layer_is_given_is_a_tensor(method: str, told: bool) -> None:
    program = f"""import torch
from torch import nn

layer = nn.Linear(3, 5)


def forward(x):
    return layer(x.{method})
"""
    assert [finding.code for finding in errors_of(program)] == (["SHP401"] if told else [])
