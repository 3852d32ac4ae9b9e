"""The annotation of a starred parameter is of each argument that it gathers, not of the tuple or dict that it is."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, runs

pytestmark = pytest.mark.requires("torch", "numpy")

HEAD = """\
import math
from typing import Optional, Union

import numpy as np
import torch
from torch import Tensor, nn
"""
SIZES = {
    "torch.tril": "return torch.tril(torch.ones(sizes))",
    "a product": "return torch.ones(sizes) @ torch.ones(sizes).T",
    "an index": "return np.zeros(sizes)[0, 1]",
    "reshape": "return torch.arange(math.prod(sizes)).reshape(sizes)[0, 1]",
    "starred on": "return torch.zeros(*sizes)[0, 1]",
    "names": "rows, columns = sizes\n    return torch.zeros(rows, columns)[0]",
    "an item": "return torch.zeros(sizes[0], sizes[1])",
    "a loop": "return [torch.zeros(size) for size in sizes]",
    "a length": "assert len(sizes) == 2\n    return sizes[-1]",
    "an array": "return np.array(sizes)[0]",
    "a layer": "return nn.Sequential(*[nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])])",
    "more in front": "return torch.zeros((1, *sizes))[0, 0, 0]",
    "added": "return torch.zeros(sizes + (3,))[0, 0, 0]",
    "options": "return torch.zeros(tuple(options.values()))",
    "the length of options": "return torch.zeros(len(options), 2)[:, 1]",
    "options handed on": "return dict(**options)",
}
"""What a function does with `*sizes` or `**options`, of numbers."""
PARTS = {
    "cat": "return torch.cat(parts)[0]",
    "stack": "return torch.stack(parts)[0, 0, 0]",
    "an array": "return np.stack([np.asarray(part) for part in parts])[0, 0, 0]",
    "a sum": "return sum(parts)[0, 0]",
    "a loop": "return [part[0, 0] for part in parts]",
    "an item": "return parts[0].view(-1)[1]",
    "names": "first, second = parts\n    return first @ second.T",
    "block_diag": "return torch.block_diag(*parts)",
    "options": "return torch.stack(list(options.values()))[0, 0, 0]",
    "an option": "return torch.zeros(2, 3) if not options else options['part'][0, 0]",
}
"""What it does with `*parts` or `**options`, of tensors."""
NUMBERS = ("int", "'int'", "Optional[int]", "int | None", "Union[int, None]")
TENSORS = ("Tensor", "torch.Tensor", "'Tensor'", "Optional[Tensor]")


def written(name: str, annotation: str, body: str) -> str:
    """A function that nothing in sight calls."""
    return f"def made(*{name}: {annotation}, **options: {annotation}):\n    {body}\n"


FUNCTIONS = {
    **{f"{key}, {each}": (written("sizes", each, body), "3, 2") for key, body in SIZES.items() for each in NUMBERS},
    **{f"{key}, {each}": (written("parts", each, body), "x, x") for key, body in PARTS.items() for each in TENSORS},
}
BAD = {
    "one size": (written("sizes", "int", "return torch.tril(torch.ones(sizes))"), "3"),
    "a product": (written("sizes", "int", "return torch.ones(sizes) @ torch.ones(sizes)"), "3, 2"),
    "too many indices": (written("sizes", "int", "return np.zeros(sizes)[0, 1, 2]"), "3, 2"),
    "parts of other sizes": (written("parts", "Tensor", "return torch.cat(parts)"), "x, x.T"),
    "what an item is": (written("parts", "Tensor", "return parts[1] @ torch.ones(2, 2)"), "x, x"),
    "an option": (written("parts", "Tensor", "return options['part'] @ torch.ones(2, 2)"), "part=x"),
}


def called(function: str, arguments: str) -> str:
    options = (
        ""
        if "=" in arguments or "options" not in function.partition("\n")[2]
        else ", part=" + arguments.rpartition(" ")[2]
    )
    return f"{HEAD}{function}x = torch.ones(2, 3)\nmade({arguments}{options})\n"


@pytest.mark.parametrize("key", FUNCTIONS)
def test_nothing_is_said_of_what_runs(key: str) -> None:
    function, arguments = FUNCTIONS[key]
    assert runs(called(function, arguments))
    assert not errors_of(HEAD + function)
    assert not errors_of(called(function, arguments))


@pytest.mark.parametrize("key", BAD)
def test_what_fails_is_found(key: str) -> None:
    function, arguments = BAD[key]
    assert not runs(called(function, arguments))
    assert errors_of(called(function, arguments))


def test_what_is_annotated_is_known_of_each() -> None:
    known = "def scored(*parts: Float[Tensor, '2 3']):\n    return parts[0] @ torch.ones(2, 2)\n"
    assert errors_of(f"{HEAD}from jaxtyping import Float\n{known}def use(x):\n    return scored(x)\n")
