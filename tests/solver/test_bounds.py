"""The parts under `satisfy`, each alone: intervals, thresholds, remainders, what is asked of z3."""

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from distml.shapes import Dim
from distml.solver import residue
from distml.solver.bounds import NONE, Interval, at, divides_plainly, span, threshold
from distml.solver.formula import both, different, divisors, symbols, value
from distml.solver.remainder import split

from solver.worlds import SYMBOLS, atoms_of, dims, formulas, holds, quick, worlds

X = Dim.symbol(SYMBOLS[0])
intervals = st.tuples(st.integers(-3, 6), st.integers(-3, 6)).map(lambda ends: Interval(min(ends), max(ends)))
one_symbol = dims.map(lambda dim: dim.substitute(dict.fromkeys(SYMBOLS, X)))


@quick
@given(dims, st.tuples(intervals, intervals, intervals))
def test_span_holds_every_value(dim, given_intervals):
    known = dict(zip(SYMBOLS, given_intervals))
    low, high = span(dim, known)
    for x in range(known[SYMBOLS[0]].low, known[SYMBOLS[0]].high + 1):
        for y in (known[SYMBOLS[1]].low, known[SYMBOLS[1]].high):
            for z in (known[SYMBOLS[2]].low, known[SYMBOLS[2]].high):
                try:
                    number = value(dim, dict(zip(SYMBOLS, (x, y, z))))
                except ZeroDivisionError:
                    continue
                assert low <= number <= high


@quick
@given(dims, st.integers(-3, 6), st.sampled_from(SYMBOLS))
def test_span_without_an_upper_bound(dim, low, open_symbol):
    known = {s: Interval(low, inf) if s is open_symbol else Interval(2, 2) for s in SYMBOLS}
    least, most = span(dim, known)
    for number in [*range(low, 12), 1000]:
        try:
            found = value(dim, {**dict.fromkeys(SYMBOLS, 2), open_symbol: number})
        except ZeroDivisionError:
            continue
        assert least <= found <= most


def test_span_of_a_small_number_divided_by_a_large_one():
    known = {SYMBOLS[0]: Interval(1, inf)}
    assert span(-3 // X, known) == (-3, -1)
    assert span(3 // X, known) == (0, 3)


@quick
@given(one_symbol, st.sampled_from([0, 1, None]))
def test_threshold_is_where_the_sign_changes(dim, low):
    if not symbols(different(dim, 0)) or not divides_plainly(dim):
        return
    found = threshold(dim, low)
    if found is not None:
        for number in range(-30 if low is None else low, 60):
            assert (found[0] <= number <= found[1]) == (at(dim, number) >= 0)


def test_thresholds_of_windows():
    assert threshold((X - 11) // 4 - 9, 0) == (47, inf)
    assert threshold(X - X // 2 - 5, 0) == (9, inf)
    assert threshold(20 - X // 3, 0) == (-inf, 62)
    assert threshold(X % 4 - 1, 0) is None
    assert threshold(X * X - 49, 0) == (7, inf)
    assert threshold(X * X - 49, None) is None
    assert threshold(-X - 1, 0) == (-inf, -inf)


@quick
@given(dims)
def test_remainders_and_rest_are_the_dimension_again(dim):
    remainders, rest = split(dim)
    for values, _ in worlds([different(dim, sum((Dim.symbol(s) for s in SYMBOLS), Dim.of(-99)))], floor=1):
        values = {**dict.fromkeys(SYMBOLS, 1), **values}
        try:
            total = value(rest, values) + sum(
                r.factor * (value(r.numerator, values) % value(r.denominator, values)) for r in remainders
            )
        except ZeroDivisionError:
            continue
        assert total == value(dim, values)


@quick
@given(formulas)
def test_z3_agrees_with_trying_everything(formula):
    """In a box that both search to the end, with nothing decided beforehand."""
    defined = both(formula, *(different(d, 0) for a in atoms_of(formula) for d in divisors(a.difference)))
    box = {s: Interval(max(1, s.low), 6, NONE, NONE) for s in SYMBOLS}
    found = residue.solve([(defined, frozenset((1,)))], box, 2.0, 2.0)
    if not found.reason:
        assert (found.core is None) == any(holds([defined], world) for world in worlds([defined]))
