"""Remainders: what a size with a known remainder is, and what divided sums are, by trying numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distml.shapes import Dim, Symbol
from distml.solver.decide import Constraint, Proved, Satisfied, prove, satisfy
from distml.solver.formula import equal, value
from distml.solver.remainder import progression

from solver.worlds import quick

X, Y = Symbol("x", 1, 0), Symbol("y", 2, None)
H, P = Dim.symbol(X), Dim.symbol(Y)
small = st.integers(-9, 9)


@quick
@given(st.sampled_from([1, -1]), small, small, st.integers(2, 8), small, st.sampled_from([1, -1]))
def test_a_size_with_a_known_remainder_runs_through_all_that_have_it(
    own: int, other: int, more: int, step: int, rest: int, sign: int
) -> None:
    difference = ((H * own + P * other + more) % step - rest) * sign
    found = progression(difference)
    if found is None:
        return
    symbol, width, offset = found
    assert width == step
    (left,) = {X, Y} - {symbol}
    for number in range(-6, 7):
        start = value(offset, {left: number})
        for candidate in range(-20, 21):
            holds = value(difference, {symbol: candidate, left: number}) == 0
            assert holds == ((candidate - start) % width == 0)


@quick
@given(small, small, small, st.integers(2, 24))
def test_a_sum_that_is_divided_stays_what_it_is(first: int, second: int, more: int, divisor: int) -> None:
    total = H * first + P * second + more
    for x, y in ((0, 0), (1, -3), (5, 8), (17, -11), (-4, 2)):
        assert value(total // divisor, {X: x, Y: y}) == (first * x + second * y + more) // divisor


@pytest.mark.parametrize(
    ("known", "follows"),
    [
        (equal(H % 8, 0), equal((H + 7) // 8, H // 8)),
        (equal(H % 8, 0), equal((H + 7) // 16, H // 16)),
        (equal(H % 8, 3), equal((H + 4) // 8, H // 8)),
        (equal((H + P) % 8, 0), equal((H + P + 7) // 8, (H + P) // 8)),
        (equal((H * 2 + P) % 6, 1), equal((H * 2 + P + 4) % 6, 5)),
    ],
)
def test_what_follows_from_a_remainder(known: object, follows: object) -> None:
    assert isinstance(prove([Constraint(known)], follows), Proved)  # type: ignore[arg-type]


def test_values_are_small_and_have_the_remainder() -> None:
    answer = satisfy([Constraint(equal(H % 8, 3)), Constraint(equal((H + P) % 5, 2))])
    assert isinstance(answer, Satisfied)
    assert answer.model[X] == 3
    assert (answer.model[X] + answer.model[Y]) % 5 == 2
