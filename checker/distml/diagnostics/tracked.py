"""How much of a function's values is known, and where the rest was lost: what `--verbose` and `--statistics` tell."""

from __future__ import annotations

from typing import NamedTuple

from distml.diagnostics.model import Span


class Cause(NamedTuple):
    """Where tracking was lost first, and why."""

    span: Span
    reason: str


class Tracked(NamedTuple):
    """One function: how many of its parameters, variables and results there are of each level, and the causes of the
    unknown ones, each with the number of expressions that it hides; those that hide most come first.

    The levels are: tensors of plain sizes, tensors of which some sizes or the rank are known, tensors of unknown rank, and
    values of which nothing is known.
    """

    name: str
    span: Span
    levels: tuple[int, int, int, int]
    causes: tuple[tuple[Cause, int], ...]
