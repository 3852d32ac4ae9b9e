"""Following one run after another through the branches it meets.

Python cannot be forked: for the other answer to a condition the model is run again, with the
answers so far given as before. A run is therefore named by its answers.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from distml.gradual.tracing.places import parts_of, span_of
from distml.interp.machine import PathEnd
from distml.interp.truth import truth
from distml.interp.watch import Visit, Watcher
from distml.shapes import Dim
from distml.solver.formula import FALSE, TRUE, Compare, Flag, both, either, negate

if TYPE_CHECKING:
    from distml.gradual.tracing.places import Branching, Leaf, Span
    from distml.interp.trace import Demand, Guard, Log
    from distml.solver.formula import Formula
    from distml.values import Value

Answers = tuple[bool, ...]
ASSERTION = "SHP602"
"""The code of assertions that contradict what is known."""


class Refusal(PathEnd):
    """A rule says that the call cannot succeed here."""

    def __init__(self, demand: Demand) -> None:
        super().__init__(demand.text)
        self.demand = demand


@dataclass
class _Activation:
    """One time that a branch was reached: what its parts said, on whichever run."""

    branch: Branching
    path: str
    guard: Guard
    log: Log | None
    ruled_out: int
    parts: dict[Span, Formula] = field(default_factory=dict)
    about_shapes: bool = False
    because: tuple[Demand, ...] = ()


class Tested(NamedTuple):
    """A value whose truth the program asks for: the part of a branch, None elsewhere; whether sizes are in it."""

    value: Value
    leaf: Leaf | None
    path: str
    scope: int
    about_shapes: bool


class _Judged(NamedTuple):
    """What is known of a condition: as a truth, as a formula, and which demands decide it."""

    known: bool | None
    formula: Formula
    because: tuple[Demand, ...]


class PathWatcher(Watcher):
    """Watches the runs of one trial. `answers` are given to the first conditions that nothing decides."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.left: list[Answers] = []
        self._judged: dict[tuple[int, Answers], _Judged] = {}
        self._activations: dict[tuple[int, Answers], _Activation] = {}
        self.begin(())

    def begin(self, answers: Answers) -> None:
        """Another run is about to start; `left` will hold the answers that it could have been given instead."""
        self.answers, self.left = answers, []
        self.given: Answers = ()
        self._tested = 0
        self._current: dict[int, tuple[tuple[int, Answers], int]] = {}

    def _impossible(self, demand: Demand) -> None:
        raise Refusal(demand)

    def decide_path(self, tested: Tested) -> bool:
        """The truth of a value on this run."""
        key = (self._tested, self.given)
        self._tested += 1
        if key not in self._judged:
            self._judged[key] = self._judge(tested.value)
        judged = self._judged[key]
        self._note(tested, judged)
        if judged.known is not None:
            return judged.known
        leaf = tested.leaf
        if leaf is not None and leaf.part is leaf.branch.test and isinstance(leaf.branch, ast.Assert):
            self.demand(judged.formula, ASSERTION, f"the assertion {self.vm.snippet(leaf.part)}")
            self.learn(judged.formula)
            return True
        return self._chosen(judged.formula)

    def _judge(self, value: Value) -> _Judged:
        known = truth(self.vm, value)
        because: tuple[Demand, ...] = ()
        formula: Formula = TRUE if known else FALSE
        if known is None:
            formula = self.condition(value)
            known = {TRUE: True, FALSE: False}.get(formula)
            if known is None and not isinstance(formula, Flag):
                known, because = self._decide(formula)
        return _Judged(known, formula if known is None else TRUE if known else FALSE, because)

    def _chosen(self, formula: Formula) -> bool:
        """The next answer: the one that this run was made for, or yes, and no on another run."""
        index = len(self.given)
        if index < len(self.answers):
            chosen = self.answers[index]
        else:
            chosen = True
            self.left.append((*self.given, False))
        self.given = (*self.given, chosen)
        said = formula if chosen else negate(formula)
        state = self.vm.state
        state.guard = (*state.guard, said)
        self.learn(said)
        return chosen

    def learn(self, formula: Formula) -> None:
        """Put an equation that holds on this run into the facts."""
        if isinstance(formula, Compare) and formula.kind == "==":
            self.vm.facts.equate(formula.difference, Dim.of(0))

    # --- from the parts of conditions to visits of branches --------------------------------

    def _note(self, tested: Tested, judged: _Judged) -> None:
        leaf = tested.leaf
        if leaf is None:
            return
        order = {span_of(part): index for index, part in enumerate(parts_of(leaf.branch.test))}
        span = span_of(leaf.part)
        key, last = self._current.get(tested.scope, ((-1, ()), -1))
        known = self._activations.get(key)
        # Python tests the parts of a condition in order: an earlier one means that the branch is reached anew.
        # `1 < n < 5` is one part that is tested twice.
        chained = isinstance(leaf.part, ast.Compare) and len(leaf.part.ops) > 1
        again = order[span] == last and chained
        if known is None or known.branch is not leaf.branch or (order[span] <= last and not again):
            key, again = (self._tested, self.given), False
            state = self.vm.state
            made = _Activation(leaf.branch, tested.path, state.guard, state.log, len(self.ruled_out))
            known = self._activations.setdefault(key, made)
        self._current[tested.scope] = (key, order[span])
        before = known.parts.setdefault(span, judged.formula)
        known.parts[span] = both(before, judged.formula) if again else before
        known.about_shapes = known.about_shapes or tested.about_shapes
        known.because = tuple(dict.fromkeys((*known.because, *judged.because)))

    def finish(self) -> None:
        """All runs are over: say of every branch when it is taken."""
        for found in self._activations.values():
            formula = said(found.branch.test, found.parts) or Flag("condition", self.vm.serial())
            known = {TRUE: True, FALSE: False}.get(formula)
            because = () if known is None else found.because
            self.visits.append(
                Visit(
                    found.branch,
                    found.path,
                    known,
                    formula,
                    found.guard,
                    found.log,
                    found.about_shapes,
                    because,
                    found.ruled_out,
                )
            )


def said(test: ast.expr, parts: dict[Span, Formula]) -> Formula | None:
    """A condition as a formula, from its parts; None where a part that matters was never seen.

    A part before one that was tested did not end the condition; one behind the last that was
    tested was not reached on any run.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = said(test.operand, parts)
        return None if inner is None else negate(inner)
    if not isinstance(test, ast.BoolOp):
        return parts.get(span_of(test))
    conjunction = isinstance(test.op, ast.And)
    found = [said(value, parts) for value in test.values]
    while found and found[-1] is None and _ends(found[:-1], conjunction):
        found.pop()
    passed = TRUE if conjunction else FALSE
    last = max((i for i, f in enumerate(found) if f is not None), default=-1)
    filled = [passed if f is None and i < last else f for i, f in enumerate(found)]
    known = [f for f in filled if f is not None]
    if len(known) < len(filled):
        return None
    return both(*known) if conjunction else either(*known)


def _ends(before: list[Formula | None], conjunction: bool) -> bool:
    """Whether what comes before is never passed."""
    return (FALSE if conjunction else TRUE) in before
