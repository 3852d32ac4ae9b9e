"""Sizes made of sizes: what is asked of them again and again is computed once, however large they are as text."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from unittest import mock

import pytest

from distml.shapes import Dim, Quotient, Symbol

from ops.world import ScratchWorld


def nested(depth: int, name: str = "h") -> Dim:
    """A height padded to windows and halved, again and again: each step names the size before several times."""
    size = Dim.symbol(Symbol(name, 1))
    for step in range(depth):
        window = (7, 14, 5, 3)[step % 4]
        size = (size + (window - size % window) % window + 1) // 2
    return size


@pytest.fixture
def keys() -> Iterator[mock.Mock]:
    key = Dim.key.fget
    with mock.patch.object(Dim, "key", property(mock.Mock(wraps=key))) as counted:
        yield counted.fget


@pytest.mark.requires("interpreted engine")
def test_keys_grow_with_the_sizes_not_with_their_text(keys: mock.Mock) -> None:
    counts = []
    for depth in (4, 8, 16):
        keys.reset_mock()
        kept = nested(depth)
        counts.append(keys.call_count)
        assert kept.weight > 2**depth
    assert counts[1] <= 3 * counts[0]
    assert counts[2] <= 3 * counts[1]


def test_sizes_that_are_equal_share_what_they_are_made_of() -> None:
    h = Dim.symbol(Symbol("h", 1))
    one, other = (h + 3) // 4, (3 + h) // 4
    assert isinstance(one.terms[0][0][0][0], Quotient)
    assert one.terms[0][0][0][0] is other.terms[0][0][0][0]


def test_memory_grows_with_the_sizes() -> None:
    peaks = []
    nested(16, "first")  # tables grow in steps
    for depth in (8, 16):
        tracemalloc.start()
        nested(depth, f"of {depth}")  # of a name that is not known yet: nothing of it was computed before
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 4 * peaks[0]


def test_a_size_that_is_too_large_is_replaced() -> None:
    call = ScratchWorld().begin("test")
    assert call.small(nested(1)).lone is None
    assert call.small(nested(12)).lone is not None
