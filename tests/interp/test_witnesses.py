"""Sizes that answered an earlier question also answer later ones about flags that were made since."""

from __future__ import annotations

from distml.interp.witnesses import Witnesses
from distml.shapes import Dim, Symbol
from distml.solver.decide import Constraint
from distml.solver.formula import Flag, at_least, either

N = Dim.symbol(Symbol("n", 1, 1))


def test_a_flag_that_is_new_to_a_witness() -> None:
    witnesses = Witnesses()
    assert witnesses.decide([], at_least(N, 5), 1.0) == (None, ())
    assert witnesses.decide([], either(at_least(N, 7), Flag("training", 2)), 1.0)[0] is None


def test_what_the_constraints_settle_is_settled_again() -> None:
    witnesses = Witnesses()
    assumed = [Constraint(at_least(N, 9))]
    assert witnesses.decide(assumed, at_least(N, 5), 1.0)[0] is True
    assert witnesses.decide(assumed, at_least(4, N), 1.0)[0] is False
    assert witnesses.decide(assumed, at_least(N, 10), 1.0)[0] is None
