"""Room for the frames of deep calls, in one piece.

CPython keeps the frames of Python calls in chunks of 16 KiB. Up to 3.13 it gives a chunk back as soon as the first frame in it
ends: where a loop stands at the end of a chunk, each call in it maps memory and unmaps it again. A tenth of a check went there.
A frame that asks for much gets a chunk of its size, rounded up to a power of two, and what it calls finds room in the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
WORDS = 2**18
"""What is asked for, 2 MiB, so that as much is left: some thousand frames. Pages that nobody uses take no memory."""


def with_room(function: Callable[P, R]) -> Callable[P, R]:
    """The function, called where the frames of what it calls lie in one chunk."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    called.__code__ = called.__code__.replace(co_stacksize=WORDS)  # type: ignore[attr-defined]
    return called
