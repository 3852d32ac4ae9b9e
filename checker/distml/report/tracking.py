"""How much is known of functions, and where the rest was lost, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from distml.diagnostics.printable import safe
from distml.diagnostics.tracked import Cause, Tracked
from distml.report.context import Context
from distml.report.summary import count

_MOST = 10
"""Causes that a project is told."""


def functions(tracked: Iterable[Tracked], context: Context) -> Iterator[str]:
    """A line for each function, and one for each cause below it."""
    for each in tracked:
        yield f"{context.place(each.span)}: {safe(each.name)}: {_known(each.levels)}"
        yield from (f"  {line}" for line in _causes(each.causes, context))


def project(tracked: Iterable[Tracked], context: Context) -> Iterator[str]:
    """The sum over all functions, and what hides most."""
    hidden = Counter[Cause]()
    levels, functions = (0, 0, 0, 0), 0
    for each in tracked:
        functions += 1
        exact, partial, unranked, unknown = (a + b for a, b in zip(levels, each.levels, strict=True))
        levels = (exact, partial, unranked, unknown)
        hidden.update(dict(each.causes))
    if functions:
        yield f"{count(functions, 'function')}: {_known(levels)}"
        yield from (f"  {line}" for line in _causes(hidden.most_common(_MOST), context))


def _causes(causes: Iterable[tuple[Cause, int]], context: Context) -> Iterator[str]:
    for cause, hidden in causes:
        yield f"{context.place(cause.span)}: hides {count(hidden, 'expression')}: {safe(cause.reason)}"


def _known(levels: tuple[int, int, int, int]) -> str:
    """`8 tensors: 5 exact (62 %), 2 partial, 1 unknown; 3 values of which nothing is known`."""
    *tensors, unknown = levels
    total = sum(tensors)
    words = ("exact", "partial", "unknown")
    parts = [
        f"{number} {word} ({100 * number // total} %)" for number, word in zip(tensors, words, strict=True) if number
    ]
    told = f"{count(total, 'tensor')}: {', '.join(parts)}" if total else "no tensors"
    return f"{told}; nothing is known of {count(unknown, 'value')}" if unknown else told
