"""Programs grown line by line: a line that fails when the program is run is left out, so what is left runs."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Sequence
from random import Random

Move = Callable[[Random, Sequence[str], str], str]
"""Makes a line from the names there are and a new name that it may bind."""


def grow(
    random: Random, prelude: str, names: Sequence[str], moves: Sequence[Move], length: int
) -> tuple[str, list[str]]:
    """A program that runs, and the names of its values; it begins with `prelude`, which binds `names`."""
    lines, known = [prelude], list(names)
    for number in range(length):
        new = f"v{number}"
        line = random.choice(moves)(random, known, new)
        if _runs("\n".join([*lines, line])):
            lines.append(line)
            known += [new] if line.startswith(f"{new} = ") else []
    return "\n".join([*lines, ""]), known


def _runs(program: str) -> bool:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec(compile(program, "grown.py", "exec", dont_inherit=True), {"__name__": "__main__"})
        except Exception:
            return False
    return True


def arrays(program: str, names: Sequence[str]) -> list[str]:
    """The names that hold plain arrays of NumPy and torch when a program ends."""
    import numpy as np
    import torch

    found: dict[str, object] = {}
    exec(compile(program, "grown.py", "exec", dont_inherit=True), found)
    return [name for name in names if type(found[name]) in (np.ndarray, torch.Tensor)]
