"""Laws that stand beside the rules of functions: a library names the functions of each, and each reads arguments itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from distml.values import Value

TORCH = ("torch", "torch.Tensor", "torch.nn.functional", "torch.special")
NUMPY = ("numpy", "numpy.ndarray")
"""Where functions and methods of one name are."""


def spelled(homes: Sequence[str], names: str) -> list[str]:
    """Qualified names: each of `names`, which stand in a row, in each home."""
    return [f"{home}.{name}" for home in homes for name in names.split()]


def given(args: Sequence[Value], kwargs: Mapping[str, Value], place: int, *names: str) -> Value | None:
    """An argument by its place or one of its names; None where it is not given."""
    if place < len(args):
        return args[place]
    return next((kwargs[name] for name in names if name in kwargs), None)
