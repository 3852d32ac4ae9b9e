"""Sizes that answered an earlier question also answer later ones about flags that were made since."""

from __future__ import annotations

from distml.interp.witnesses import Witnesses
from distml.shapes import Dim, Symbol
from distml.solver.decide import Constraint
from distml.solver.formula import Flag, at_least, either

N = Dim.symbol(Symbol("n", 1, 1))


def test_a_flag_that_is_new_to_a_witness() -> None:
    witnesses = Witnesses()
    assert witnesses.decide([], at_least(N, 5), 1.0).verdict == "depends"
    assert witnesses.decide([], either(at_least(N, 7), Flag("training", 2)), 1.0).verdict == "depends"


def test_what_the_constraints_settle_is_settled_again() -> None:
    witnesses = Witnesses()
    assumed = [Constraint(at_least(N, 9))]
    assert witnesses.decide(assumed, at_least(N, 5), 1.0).verdict == "always"
    assert witnesses.decide(assumed, at_least(4, N), 1.0).verdict == "never"
    assert witnesses.decide(assumed, at_least(N, 10), 1.0).verdict == "depends"


def test_the_same_question_is_not_decided_twice() -> None:
    witnesses = Witnesses()
    first = witnesses.decide([Constraint(at_least(N, 9), "here")], at_least(N, 5), 1.0)
    assert witnesses.decide([Constraint(at_least(N, 9), "there")], at_least(N, 5), 1.0) is first
    assert [constraint.label for constraint in first.core] == ["here"]
