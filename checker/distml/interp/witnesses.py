"""Conditions of one run, decided one after the other.

A run asks about hundreds of conditions under constraints that only grow. Sizes for which an
earlier condition held, or did not, often fulfil what was added since: then they show what a
later condition can be, and the solver need not be asked. In a loop the same is asked in each turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.solver.decide import Constraint, Decision, Proved, Refuted, Satisfied, decide, prove
from distml.solver.formula import Flag, evaluate, negate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.shapes import Symbol
    from distml.solver.answers import Verdict
    from distml.solver.formula import Formula

MAX_KEPT = 12
"""How many witnesses are kept, those that were of use last."""
MAX_ANSWERS = 64
"""How many answers are kept, the last ones: a loop asks the same in turns that follow each other."""


class _Sizes(dict["Symbol", int]):
    """Symbols that were made since are as small as they may be."""

    def __missing__(self, symbol: Symbol) -> int:
        return symbol.low or 0


class _Truths(dict[Flag, bool]):
    """Flags that were made since are false."""

    def __missing__(self, flag: Flag) -> bool:
        return False


class Witnesses:
    """Sizes and truths that fulfilled the constraints of earlier questions, and the answers."""

    def __init__(self) -> None:
        self._kept: list[tuple[_Sizes, _Truths]] = []
        self._answers: dict[tuple[frozenset[Formula], Formula], Decision] = {}
        self._undecided = 0

    def decide(self, constraints: Sequence[Constraint], condition: Formula, seconds: float) -> Decision:
        """What the condition can be under the constraints, and which of them make it so.

        Each question that took all its time leaves less of it for those that follow, which are mostly about more of the same.
        """
        question = frozenset(c.formula for c in constraints), condition
        if question not in self._answers:
            answer = self._answers[question] = self._decided(constraints, condition, seconds / (1 + self._undecided))
            self._undecided += answer.verdict == "unknown"
            if len(self._answers) > MAX_ANSWERS:
                del self._answers[next(iter(self._answers))]
        return self._answers[question]

    def _decided(self, constraints: Sequence[Constraint], condition: Formula, seconds: float) -> Decision:
        shown = self._shown(constraints, condition)
        if len(shown) == 2:
            return Decision("depends")
        if not shown:
            decision = decide(constraints, condition, seconds, 0)
            self._keep(decision.holds, decision.fails)
            return decision
        (known,) = shown
        answer = prove(constraints, condition if known else negate(condition), seconds, 0)
        if isinstance(answer, Proved):
            verdict: Verdict = "always" if known else "never"
            return Decision(verdict, core=answer.core)
        if isinstance(answer, Refuted):
            self._keep(Satisfied(answer.model, answer.flags))
            return Decision("depends")
        return Decision("unknown", reason=answer.reason)

    def _shown(self, constraints: Sequence[Constraint], condition: Formula) -> set[bool]:
        """What the condition is for those witnesses that fulfil the constraints."""
        shown: set[bool] = set()
        for witness in list(reversed(self._kept)):
            sizes, truths = witness
            if not all(evaluate(c.formula, sizes, truths) for c in constraints):
                continue
            holds, fails = (evaluate(f, sizes, truths) for f in (condition, negate(condition)))
            if holds != fails and holds not in shown:
                shown.add(holds)
                self._kept.remove(witness)
                self._kept.append(witness)
            if len(shown) == 2:
                break
        return shown

    def _keep(self, *answers: Satisfied | None) -> None:
        for answer in answers:
            if answer is not None:
                self._kept.append((_Sizes(answer.model), _Truths(answer.flags)))
        del self._kept[:-MAX_KEPT]
