"""Random arguments of calls: sizes, axes, tensors by description. Right and wrong ones, from a fixed seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

COUNT = 14
"""How many calls of each operation or layer."""
Drawn = tuple[str, list[Any], dict[str, Any]]
R = random.Random(15)


def tensor(*shape: int, kind: str = "float32", identity: bool = False) -> dict[str, Any]:
    """An array of zeros, or of matrices that can be inverted."""
    made = {"tensor": list(shape), "kind": kind}
    return {**made, "identity": True} if identity else made


def pair(*items: Any) -> dict[str, Any]:
    """A tuple."""
    return {"tuple": list(items)}


def shape(low: int = 0, high: int = 4, largest: int = 5) -> list[int]:
    """Sizes of a random number of axes."""
    return [R.randint(1, largest) for _ in range(R.randint(low, high))]


def axis(rank: int, spare: float = 0.1) -> int:
    """An axis, now and then one that does not exist."""
    over = R.random() < spare
    return R.randint(-rank - over, max(rank - 1 + over, -rank - over))


def near(sizes: list[int]) -> list[int]:
    """Sizes that broadcast with these, or almost do."""
    cut = sizes[R.randint(0, len(sizes)) :] if R.random() < 0.4 else list(sizes)
    made = [1 if R.random() < 0.3 else size for size in cut]
    if made and R.random() < 0.2:
        made[R.randrange(len(made))] += 1
    return made


def words(text: str, draw: Callable[[str], Drawn]) -> dict[str, Callable[[], Drawn]]:
    return {name: (lambda name=name: draw(name)) for name in text.split()}  # type: ignore[misc]
