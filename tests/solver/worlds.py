"""Formulas drawn at random, and their truth by trying every value of a small box."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import settings
from hypothesis import strategies as st

from distml.shapes import Dim, Symbol
from distml.solver.formula import (
    Compare,
    Flag,
    Formula,
    at_least,
    atoms,
    both,
    different,
    divisible,
    either,
    equal,
    evaluate,
    flags,
    less,
    negate,
    symbols,
)

LOWS = {"x": 0, "y": 1, "z": 1}
SYMBOLS = [Symbol(name, number, low) for number, (name, low) in enumerate(LOWS.items())]
FLAGS = [Flag("p", 1), Flag("q", 2)]
BOX = range(7)

quick = settings(max_examples=120)

leaves = st.sampled_from(SYMBOLS).map(Dim.symbol) | st.integers(-4, 6).map(Dim.of)


def _compound(inner: st.SearchStrategy[Dim]) -> st.SearchStrategy[Dim]:
    divisor = st.sampled_from([Dim.of(2), Dim.of(3), Dim.symbol(SYMBOLS[0]), Dim.symbol(SYMBOLS[1])])
    return (
        st.builds(lambda a, b: a + b, inner, inner)
        | st.builds(lambda a, b: a - b, inner, inner)
        | st.builds(lambda a, b: a * b, inner, inner)
        | st.builds(lambda a, b: a // b, inner, divisor)
        | st.builds(lambda a, b: a % b, inner, divisor)
    )


dims = st.recursive(leaves, _compound, max_leaves=4)
comparisons = st.builds(
    lambda make, a, b: make(a, b), st.sampled_from([equal, equal, different, at_least, less]), dims, dims
) | st.builds(divisible, dims, st.sampled_from([Dim.of(2), Dim.of(4), Dim.symbol(SYMBOLS[1])]))
literals = comparisons | comparisons | st.sampled_from(FLAGS)
formulas = st.recursive(
    literals,
    lambda inner: st.builds(both, inner, inner) | st.builds(either, inner, inner) | st.builds(negate, inner),
    max_leaves=3,
)

simple = st.builds(
    lambda make, a, b, offset: make(a, b + offset),
    st.sampled_from([equal, different, at_least, at_least, less]),
    st.sampled_from(SYMBOLS).map(Dim.symbol),
    leaves,
    st.integers(-2, 3),
)
crowds = st.lists(simple | simple | st.builds(either, simple, simple), min_size=3, max_size=7)
"""Sets of constraints between plain sizes, of which many contradict each other."""


def worlds(
    some: Sequence[Formula], floor: int = 1, box: range = BOX
) -> Iterator[tuple[dict[Symbol, int], dict[Flag, bool]]]:
    """Every value in the box of what is in the formulas, sizes being at least `floor`."""
    numbers = sorted({s for f in some for s in symbols(f)}, key=lambda s: s.serial)
    truths = sorted({f for formula in some for f in flags(formula)}, key=lambda f: f.serial)
    for values in product(*([v for v in box if v >= max(s.low or 0, floor)] for s in numbers)):
        for booleans in product((False, True), repeat=len(truths)):
            yield dict(zip(numbers, values)), dict(zip(truths, booleans))


def holds(some: Sequence[Formula], world: tuple[dict[Symbol, int], dict[Flag, bool]]) -> bool:
    return all(evaluate(f, *world) for f in some)


def atoms_of(formula: Formula) -> list[Compare]:
    return [a for a in atoms(formula) if isinstance(a, Compare)]
