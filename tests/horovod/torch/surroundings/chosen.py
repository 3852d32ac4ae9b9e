"""What a way to write one part of a program is, and what a program has chosen so far.

A part is a list of lines. `$name` is something of the program (what it is called, and whether it is a variable or an
attribute, is chosen later), `@option` a setting, `!word` what the composer fills in. Nothing here knows what the rewriter does.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Way:
    """Lines in front of a pass or of all epochs, in each iteration or epoch, behind it, and as the last of each."""

    before: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    results: Mapping[str, str] = field(default_factory=dict)
    mean: str = ""
    """The mean so far, as an expression."""
    loop: str = ""
    """The head of the loop, where it is another than usual."""
    resumes: str = ""
    """The checkpoint that a run may go on from."""
    resume: tuple[str, ...] = ()
    """The lines that do so, once it is read as `ckpt`."""


def way(before: str = "", each: str = "", after: str = "", last: str = "", resume: str = "", **rest: Any) -> Way:
    """A way whose lines are given as texts."""
    lines = {"before": before, "each": each, "after": after, "last": last, "resume": resume}
    return Way(**{key: tuple(text.strip("\n").split("\n")) if text else () for key, text in lines.items()}, **rest)


OPTIONS: dict[str, tuple[str, object]] = {
    "epochs": ("int", 3),
    "batch_size": ("int", 8),
    "lr": ("float", 0.0002),
    "seed": ("int", 1),
    "out": ("str", "results"),
    "log_interval": ("int", 2),
    "accum": ("int", 2),
    "clip": ("float", 5.0),
    "eval_every": ("int", 4),
    "save_every": ("int", 4),
    "max_batches": ("int", 4),
    "patience": ("int", 1),
    "step_size": ("int", 2),
    "no_cuda": ("flag", False),
    "evaluate": ("flag", False),
    "resume": ("str", ""),
}
"""The settings that programs have, with type and default: weights hardly change, so that other orders give equal numbers."""


@dataclass
class Chosen:
    """Draws the ways of one program, and notes them."""

    rng: random.Random
    notes: list[str] = field(default_factory=list)

    def name(self, axis: str, *ways: str) -> str:
        """One of several ways on an axis."""
        chosen = self.rng.choice(ways)
        self.notes += [f"{axis}={chosen}"] if chosen != "plain" else []
        return chosen

    def way(self, axis: str, table: Mapping[str, Way], plain: float = 0.2) -> Way:
        """One way of a table, or none."""
        return Way() if self.chance(plain) else table[self.name(axis, *table)]

    def chance(self, share: float) -> bool:
        """True as often as `share` says."""
        return self.rng.random() < share
