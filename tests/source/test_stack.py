"""Calls at the end of a chunk of frames map no memory each time."""

from __future__ import annotations

import resource
import sys

import pytest

from distml.source.stack import with_room

CALLS = 200


def leaf() -> None:
    """A call with a frame of its own."""


def descend(depth: int) -> None:
    """Call `leaf` at every depth down to this one, many times."""
    for _ in range(CALLS):
        leaf()
    if depth:
        descend(depth - 1)


def faults(run: object) -> int:
    assert callable(run)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    run(300)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted otherwise")
def test_calls_find_room_at_any_depth() -> None:
    descend(300)
    if sys.version_info < (3, 14):
        assert faults(descend) > CALLS, "one depth of 300 is at the end of a chunk"
    assert faults(with_room(descend)) < CALLS


def test_it_is_called_with_what_it_is_given() -> None:
    @with_room
    def both(a: int, *, b: int) -> tuple[int, int]:
        """Two numbers."""
        return a, b

    assert both(1, b=2) == (1, 2)
    assert (both.__name__, both.__doc__) == ("both", "Two numbers.")
