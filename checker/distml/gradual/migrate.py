"""Migration: the static types an un-annotated or partly annotated function can be given.

The questions come in the order of Gradual types, section 7: is there any migration at all; which
ranks are possible; is there a static one; and if not, which dimensions can only be Dyn, and
which two places force it. An answer is general where it can be: free sizes keep a name, and the
constraints between them are said.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from distml.gradual.conflicts import Conflict, conflicts_of
from distml.gradual.naming import Names, said
from distml.gradual.ranks import possible_ranks
from distml.gradual.trial import MAX_RANK, Axis, Bench, Plan, Ranks, Trial
from distml.shapes import Dim
from distml.solver.decide import Constraint, Contradiction, satisfy, simplify
from distml.solver.formula import Compare, different, substitute, symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.shapes import Shape, Symbol
    from distml.solver.formula import Formula

Verdict = Literal["empty", "dynamic", "static", "unknown"]
MAX_SECONDS = 0.5
"""How long the solver may look for a second value of one size."""
MAX_TRIES = 200
"""How many ranks of inputs are tried, one after the other, for a migration in which all have one."""


class Annotation(NamedTuple):
    """The type of one input. None stands for Dyn: as a dimension, or for all of them where the rank is unknown."""

    dims: tuple[str | int | None, ...] | None
    dtype: Literal["float", "int"] | None = None

    @property
    def text(self) -> str:
        """The dimensions as jaxtyping writes them: `b 3 h w`."""
        if self.dims is None:
            return "..."
        return " ".join("_" if d is None else str(d) for d in self.dims)


class DynOnly(NamedTuple):
    """A dimension that no migration can make static (`axis` None: not even the rank), and what forces that."""

    input: str
    axis: int | None
    related: tuple[Conflict, ...]


@dataclass(frozen=True)
class Migration:
    """What `migrate` found out about one function; `ranks` is "any" where every rank is possible.

    `function` is what was asked about, `qualified` the function whose parameters these are.
    """

    path: str
    function: str
    qualified: str
    line: int
    verdict: Verdict
    ranks: dict[str, list[int] | Literal["any"]]
    annotations: dict[str, Annotation]
    model: dict[str, list[int | None]]
    dyn_only: tuple[DynOnly, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    constraints: tuple[str, ...] = ()
    seconds: float = 0.0
    reason: str = ""


def migrate(bench: Bench) -> Migration:
    """Find the migrations of the bench's target."""
    begun = time.perf_counter()
    found = _Search(bench).answer()
    return replace(found, seconds=time.perf_counter() - begun)


class _Search:
    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.tensors = [given for given in bench.inputs if given.is_tensor]
        self.ranks: dict[str, list[int] | Literal["any"]] = {}
        self.tries = 0

    def answer(self) -> Migration:
        if not self.tensors:
            return self._result("unknown", reason="no parameter is known to be a tensor")
        candidates = possible_ranks(self.bench)
        self.ranks = {name: _any_or(found) for name, found in candidates.items()}
        trial = self._descend(candidates, dynamic=False)
        return self._gradual() if trial is None else self._static(trial)

    def _descend(self, candidates: dict[str, list[int]], dynamic: bool, fixed: Ranks = ()) -> Trial | None:
        """A trial that passes with a rank for every input, the most useful ranks first; None where none is found.

        Ranks are fixed one input after the other: what a rank of one makes impossible for another shows at once.
        """
        if len(fixed) == len(candidates):
            return self.bench.run(self._plan(fixed, dynamic))
        name = list(candidates)[len(fixed)]
        for rank in _preferred(candidates[name]):
            self.tries += 1
            if self.tries > MAX_TRIES:
                return None
            chosen = (*fixed, (name, rank))
            if self.bench.run(self._plan(chosen, dynamic)).passed:
                found = self._descend(candidates, dynamic, chosen)
                if found is not None:
                    return found
        return None

    def _plan(self, fixed: Ranks, dynamic: bool) -> Plan:
        if not dynamic:
            return Plan(fixed)
        open_ = {given.name for given in self.tensors} - {name for name, _ in fixed}
        return Plan(fixed, frozenset((name, axis) for name, rank in fixed for axis in range(rank)), frozenset(open_))

    # --- answers ------------------------------------------------------------------------

    def _static(self, trial: Trial) -> Migration:
        if not trial.complete:
            return self._result("unknown", trial=trial, reason=trial.reason)
        return self._result("static", trial=trial)

    def _gradual(self) -> Migration:
        """There is no static migration: what must be left Dyn, or why there is no migration at all."""
        if self.tries > MAX_TRIES:
            return self._result("unknown", reason=f"no combination of ranks was found in {MAX_TRIES} tries")
        dynamic = possible_ranks(self.bench, dynamic=True)
        loose = self._descend(dynamic, dynamic=True)
        if loose is not None:
            self.ranks = {name: _any_or(found) for name, found in dynamic.items()}
            return self._tightened(loose.plan)
        everything = Plan(dynamic_ranks=frozenset(given.name for given in self.tensors))
        trial = self.bench.run(everything)
        if not trial.passed:
            return self._result("empty", conflicts=conflicts_of(self.bench, trial))
        return self._ranks_tightened(everything)

    def _tightened(self, loose: Plan) -> Migration:
        """Make every dimension static that can be; what is left can only be Dyn."""
        forced: list[DynOnly] = []
        plan = loose
        for axis in sorted(loose.dynamic, key=self._order):
            tighter = plan._replace(dynamic=plan.dynamic - {axis})
            trial = self.bench.run(tighter)
            if trial.passed:
                plan = tighter
            else:
                forced.append(DynOnly(*axis, conflicts_of(self.bench, trial)))
        return self._result("dynamic", trial=self.bench.run(plan), dyn_only=tuple(forced))

    def _ranks_tightened(self, loose: Plan) -> Migration:
        """Some input is used at several ranks: which, and where."""
        forced: list[DynOnly] = []
        plan = loose
        for given in self.tensors:
            open_ = plan._replace(dynamic_ranks=plan.dynamic_ranks - {given.name})
            trial = self.bench.run(open_)
            if trial.passed:
                plan = open_
            else:
                forced.append(DynOnly(given.name, None, conflicts_of(self.bench, trial)))
        self.ranks = {given.name: [] if given.name in plan.dynamic_ranks else "any" for given in self.tensors}
        return self._result("dynamic", trial=self.bench.run(plan), dyn_only=tuple(forced))

    def _order(self, axis: Axis) -> tuple[int, int]:
        names = [given.name for given in self.tensors]
        return names.index(axis[0]), axis[1]

    def _result(
        self,
        verdict: Verdict,
        trial: Trial | None = None,
        dyn_only: tuple[DynOnly, ...] = (),
        conflicts: tuple[Conflict, ...] = (),
        reason: str = "",
    ) -> Migration:
        target = self.bench.target
        annotations, model, constraints = ({}, {}, ()) if trial is None else _described(trial, self.bench.least)
        return Migration(
            self.bench.program.source.path,
            target.name,
            target.qualified,
            target.function.node.lineno,
            verdict,
            self.ranks,
            annotations,
            model,
            dyn_only,
            conflicts,
            constraints,
            reason=reason,
        )


def _any_or(ranks: list[int]) -> list[int] | Literal["any"]:
    return "any" if len(ranks) > MAX_RANK else ranks


def _preferred(ranks: Sequence[int]) -> list[int]:
    """Possible ranks, the one to annotate first: a batched input where only few are possible, else the simplest."""
    if len(ranks) > 3:
        return sorted(ranks, key=lambda rank: (rank < 2, rank))
    return sorted(ranks, reverse=True)


def _described(trial: Trial, least: int) -> tuple[dict[str, Annotation], dict[str, list[int | None]], tuple[str, ...]]:
    """The general annotation of every input, an instance of it, and the constraints between its names."""
    inputs = {s for shape in trial.shapes.values() for d in (*shape.head, *shape.tail) for s in d.symbols()}
    formulas = _about(trial, inputs)
    fixed = _fixed(formulas, trial.model)
    names = Names()
    annotations: dict[str, Annotation] = {}
    model: dict[str, list[int | None]] = {}
    for name, shape in trial.shapes.items():
        shape = _settled(shape, fixed)
        names.add(shape)
        dtype = trial.dtypes.get(name)
        if shape.dims is None:
            annotations[name] = Annotation(None, dtype)
            continue
        annotations[name] = Annotation(tuple(None if d.is_dynamic else names.dim(d) for d in shape.dims), dtype)
        model[name] = [None if d.is_dynamic else _value(d, trial, least) for d in shape.dims]
    texts = said([substitute(f, fixed) for f in formulas], names)
    texts += [f"{names(s)} >= {s.low}" for s in names if s.low is not None and s.low > least]
    return annotations, model, tuple(dict.fromkeys(texts))


def _about(trial: Trial, inputs: set[Symbol]) -> list[Formula]:
    """The constraints of a trial, said shortly and over the sizes of the inputs as far as that can be.

    What is over other sizes too is not said, so it must not stand for what is over the inputs' alone.
    """
    formulas = simplify(trial.constraints, floor=0, keep=inputs)
    over_inputs = [f for f in formulas if symbols(f) <= inputs]
    if len(over_inputs) == len(formulas):
        return formulas
    own = [c for c in trial.constraints if symbols(c.formula) <= inputs]
    return simplify([*(Constraint(f) for f in over_inputs), *own], floor=0, keep=inputs)


def _settled(shape: Shape, fixed: dict[Symbol, Dim]) -> Shape:
    """A shape with the sizes that are said in terms of others."""
    if shape.dims is None:
        return shape
    return shape.map(d.substitute(fixed) for d in shape.dims)


def _fixed(formulas: Sequence[Formula], model: dict[Symbol, int]) -> dict[Symbol, Dim]:
    """The sizes that are said in terms of others, and those for which only one number is left."""
    found = {s: Dim.of(model[s]) for s in _candidates(formulas) if s in model and _only(formulas, s, model[s])}
    for formula in formulas:
        solved = formula.difference.solve() if isinstance(formula, Compare) and formula.kind == "==" else None
        if solved is not None and solved[0] not in found:
            found[solved[0]] = solved[1].substitute(found)
    return found


def _candidates(formulas: Sequence[Formula]) -> list[Symbol]:
    """The symbols of equations that are not solved for them: `(h - 2)*(h - 2) == 676`."""
    equations = [f for f in formulas if isinstance(f, Compare) and f.kind == "==" and f.difference.solve() is None]
    return sorted({s for f in equations for s in symbols(f)}, key=lambda s: s.serial)


def _only(formulas: Sequence[Formula], symbol: Symbol, number: int) -> bool:
    other = different(Dim.symbol(symbol), Dim.of(number))
    return isinstance(satisfy([Constraint(f) for f in (*formulas, other)], MAX_SECONDS, 0), Contradiction)


def _value(dim: Dim, trial: Trial, least: int) -> int:
    values = {s: Dim.of(trial.model.get(s, max(least, s.low or 0))) for s in dim.symbols()}
    found = dim.substitute(values).constant
    assert found is not None, "every symbol has a value"
    return found
