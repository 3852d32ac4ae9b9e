"""Watching one run: what it demands of its inputs, and what its branches depend on.

A check asks whether a line must fail. A watched run asks for which inputs it does not: every
requirement is kept as a formula over the inputs' sizes, under the conditions of the branches
that lead to it, and what fails under a condition only rules that condition out. (Gradual
types, section 5: constraints up to a branch, with the condition and with its negation.)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from distml.interp.machine import PathEnd
from distml.interp.shapewise import reads_shapes
from distml.interp.trace import Demand, Guard, Log, RunOver, demands
from distml.interp.truth import truth
from distml.interp.witnesses import Witnesses
from distml.shapes import Dim, Symbol
from distml.solver.decide import Constraint, Contradiction, satisfy
from distml.solver.formula import (
    FALSE,
    TRUE,
    Both,
    Compare,
    Flag,
    Formula,
    at_least,
    both,
    different,
    either,
    equal,
    substitute,
    symbols,
)
from distml.source.project import is_model
from distml.values import Condition, Num, Opaque, Tensor

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from distml.interp.frames import Frame
    from distml.interp.machine import Machine
    from distml.ops import ShapeError
    from distml.shapes import Origin, Shape
    from distml.values import Value


MAX_USES = 256
"""How many uses of tensors are kept, to tell what their elements are."""


MAX_CASES = 3
"""How many maxima in one formula are written out."""


class Visit(NamedTuple):
    """One time that a branch or an assertion was reached, and what is known of its condition.

    `known` is what the interpreter was certain of, under `guard` and after the demands of
    `log`; otherwise `condition` is the formula it depends on. `about_shapes` tells whether
    shapes are in the condition at all, `because` which demands decide it where the solver did.
    `ruled_out` counts the failures that were met before: what fails later still reaches this test.
    """

    node: ast.AST
    path: str
    known: bool | None
    condition: Formula
    guard: Guard
    log: Log | None
    about_shapes: bool
    because: tuple[Demand, ...] = ()
    ruled_out: int = 0


class Watcher:
    """What a machine tells while it runs.

    `assumed` holds on every path; `excused` are demands, by place and code, that are left out.
    A `lenient` one goes on behind what fails, with an unknown result. A `trusting` one takes annotations for what is given.
    """

    def __init__(
        self,
        vm: Machine,
        assumed: Formula = TRUE,
        excused: frozenset[tuple[str, int, int, str]] = frozenset(),
        seconds: float = 1.0,
        lenient: bool = False,
        trusting: bool = True,
    ) -> None:
        self.vm = vm
        self.assumed = assumed
        self.excused = excused
        self.seconds = seconds
        self.lenient = lenient
        self.trusting = trusting
        self.visits: list[Visit] = []
        self.entered: list[tuple[str, ast.AST]] = []
        """The branches whose condition was begun and has not come to its end for each input that got there."""
        self.ruled_out: list[Demand] = []
        self.arrays: set[Opaque] = set()
        self.maxima: dict[Symbol, Dim] = {}
        self.uses: list[tuple[str, Shape]] = []
        self.witnesses = Witnesses()
        self._logs: dict[tuple[Formula, str], Log] = {}

    # --- demands ------------------------------------------------------------------------

    def demand(self, formula: Formula, code: str, text: str) -> None:
        """Keep what must hold from here on."""
        if formula in (TRUE, FALSE) or self._contained() or any(s.dynamic for s in symbols(formula)):
            return
        self._keep(Demand(self._by_cases(formula), self.vm.state.guard, self._place(), code, text))

    def called(self, name: str, arguments: Sequence[Value]) -> None:
        """An op is called: kept for each tensor given to it whose type of elements is not known."""
        for value in arguments[:2]:
            if isinstance(value, Tensor) and value.dtype is None and len(self.uses) < MAX_USES:
                self.uses.append((name, self.vm.facts.shape(value.shape)))

    def noted(self, key: Hashable, value: Any) -> None:
        """The interpreter has put something into its facts: an equation of sizes, or that a value is an array."""
        if isinstance(key, Symbol):
            self._learned(key, value)
        elif type(key) is tuple and key[0] == "shape":
            self.arrays.add(key[1])
        elif type(key) is tuple and key[0] == "max with 0":
            self.maxima.update(dict.fromkeys(value.symbols(), key[1]))

    def _learned(self, symbol: Symbol, value: Dim) -> None:
        if symbol.dynamic or self._contained() or value.is_dynamic:
            return
        formula = self._by_cases(equal(Dim.symbol(symbol), value))
        self._keep(Demand(formula, self.vm.state.guard, self._place(), "", f"{symbol} = {value}", learned=True))

    def failed(self, error: ShapeError, node: ast.AST, frame: Frame) -> None:
        """What is reached here cannot succeed: the path ends, and the run if nothing else may be taken."""
        vm = self.vm
        if self.lenient:
            return
        if vm.import_depth:
            raise PathEnd
        where = vm.span(node, frame)
        place = vm.origin(node)._replace(path=where.path, line=where.line, column=where.column)
        notes = tuple((note.text, note.origin) for note in error.notes)
        self._impossible(Demand(FALSE, vm.state.guard, place, error.code, error.message, notes=notes))

    def refused(self, node: ast.AST, text: str) -> None:
        """The program itself raises here, and nothing catches it."""
        vm = self.vm
        if not vm.handlers and not vm.import_depth and not self.lenient:
            self._impossible(Demand(FALSE, vm.state.guard, vm.origin(node), "", text))

    def _impossible(self, demand: Demand) -> None:
        if not demand.guard:
            raise RunOver(demand)
        self.ruled_out.append(demand)
        raise PathEnd

    def is_excused(self, code: str) -> bool:
        """Whether the requirement that is being stated is left out."""
        if not self.excused:
            return False
        place = self._place()
        return (place.path, place.line, place.column, code) in self.excused

    def _keep(self, demand: Demand) -> None:
        """Add a demand to the log of the path, unless it is there: a loop asks for the same in each of its turns."""
        state, said = self.vm.state, (demand.formula, demand.code)
        made = self._logs.get(said)
        if made is None or demand.guard[: len(made.demand.guard)] != made.demand.guard or not made.is_in(state.log):
            state.log = self._logs[said] = Log(demand, state.log)

    def _by_cases(self, formula: Formula) -> Formula:
        """A formula in which no symbol stands for `max(n - 512, 0)`: it is the one or the other."""
        for symbol in sorted(symbols(formula).intersection(self.maxima), key=lambda s: -s.serial)[:MAX_CASES]:
            rest = self.maxima[symbol]
            above = both(at_least(rest, 1), substitute(formula, {symbol: rest}))
            below = both(at_least(-rest, 0), substitute(formula, {symbol: Dim.of(0)}))
            formula = either(*(case for case in (above, below) if self._possible(case)))
        return formula

    def _possible(self, formula: Formula) -> bool:
        return not isinstance(satisfy([Constraint(formula)], self.seconds, 0), Contradiction)

    def _place(self) -> Origin:
        return self.vm.origin(self.vm.node)

    def _contained(self) -> bool:
        """Whether the program catches what fails here, or the code of a module is being run."""
        return bool(self.vm.import_depth) or any(h.catches_shapes and not h.speculative for h in self.vm.handlers)

    def assume(self) -> None:
        """Put the equations of what is assumed into the facts."""
        for part in self.assumed.parts if isinstance(self.assumed, Both) else (self.assumed,):
            if isinstance(part, Compare) and part.kind == "==":
                self.vm.facts.equate(part.difference, Dim.of(0))

    # --- branches -----------------------------------------------------------------------

    def enter(self, node: ast.AST) -> Log | None:
        """The condition of a branch is about to be evaluated: what was demanded before."""
        self.entered.append((self.vm.frame.module.source.path, node))
        return self.vm.state.log

    def visit(
        self, node: ast.AST, test: ast.expr, value: Value, known: bool | None, before: Log | None
    ) -> tuple[bool | None, Formula]:
        """A branch is reached: whether its condition holds, and as a formula what it says."""
        vm = self.vm
        if vm.state.log is before:
            self.entered.pop()  # else it failed for some input, or asked something of all of them
        condition = TRUE if known else FALSE if known is False else self.condition(value, vm.snippet(test))
        about = bool(symbols(condition)) or reads_shapes(vm, test)
        if vm.import_depth or is_model(vm.frame.module.source):
            return known, condition
        if known is None and condition in (TRUE, FALSE):
            known = condition == TRUE
        because: tuple[Demand, ...] = ()
        if known is None and not isinstance(condition, Flag) and not self.lenient:
            known, because = self._decide(condition)
        path = vm.frame.module.source.path
        state = vm.state
        self.visits.append(
            Visit(node, path, known, condition, state.guard, state.log, about, because, len(self.ruled_out))
        )
        return known, condition

    def condition(self, value: Value, text: str = "condition") -> Formula:
        """What a value of unknown truth says, as a formula; where that is not known, a flag called `text`."""
        vm = self.vm
        if isinstance(value, Condition):
            found: Formula = value.formula
            values = {s: d for s in symbols(found) if (d := vm.facts.dim(Dim.symbol(s))) != Dim.symbol(s)}
            return self._by_cases(substitute(found, values) if values else found)
        if isinstance(value, Num):
            return self._by_cases(different(vm.facts.dim(value.dim), Dim.of(0)))
        if isinstance(value, Opaque):
            return Flag(value.name, value.serial)
        return Flag(text, vm.serial())

    def joined(self, values: Sequence[Value], conjunction: bool) -> Value:
        """`and` or `or` of several bools."""
        known = {True: TRUE, False: FALSE, None: None}
        parts = [known[truth(self.vm, value)] or self.condition(value) for value in values]
        formula = both(*parts) if conjunction else either(*parts)
        return Condition("bool", formula)

    def _decide(self, condition: Formula) -> tuple[bool | None, tuple[Demand, ...]]:
        """What the demands so far make of a condition, and which of them do."""
        if any(s.dynamic for s in symbols(condition)):
            return None, ()
        decision = self.witnesses.decide(self.constraints(), condition, self.seconds)
        known = {"always": True, "never": False}.get(decision.verdict)
        return known, () if known is None else demands_in(decision.core)

    def constraints(self) -> list[Constraint]:
        """What is certain where the path stands: what is assumed, its guard, and the demands."""
        return self.constraints_of(self.vm.state.guard, self.vm.state.log)

    def constraints_of(self, guard: Guard, log: Log | None, ruled_out: int | None = None) -> list[Constraint]:
        """The constraints of a path, each labelled with its demand (None for what is assumed).

        Of the failures only the first `ruled_out` count, where that is given.
        """
        held = frozenset(guard)
        found = {(formula, ""): Constraint(formula) for formula in (self.assumed, *guard)}
        for demand in (*demands(log), *self.ruled_out[:ruled_out]):  # paths that met may have asked for the same
            constraint = demand.constraint(held)
            found.setdefault((constraint.formula, demand.code), constraint)
        return list(found.values())


def demands_in(core: Sequence[Constraint]) -> tuple[Demand, ...]:
    """The demands among the constraints of a core."""
    return tuple(c.label for c in core if isinstance(c.label, Demand))
