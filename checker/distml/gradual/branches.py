"""Branches that shapes decide: always, never, or exactly when.

Every branch and assertion that depends on shapes is judged under what is certain when it is
reached: the demands up to there, the user's constraint, and the conditions of the branches
around it (Gradual types, section 5 and Algorithm 2). A verdict holds for every input that
reaches the test: what fails, raises or returns behind it is an outcome of the test and says
nothing about it. Each rank of the inputs with which a test is reached is a case of its own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Literal, NamedTuple

from distml.gradual.cases import Reading, by_cases
from distml.gradual.conflicts import Conflict, shown
from distml.gradual.ranks import reaching_ranks
from distml.gradual.trial import Bench, Plan, Trial
from distml.interp.watch import demands_in
from distml.solver.decide import Constraint, Proved, prove
from distml.solver.formula import FALSE, TRUE, Formula, both, flags, negate, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from distml.gradual.targets import Program
    from distml.interp.trace import Demand
    from distml.interp.watch import Visit

Verdict = Literal["always", "never", "depends", "unknown"]
Kind = Literal["if", "elif", "while", "assert", "ternary"]
MAX_CASES = 64
"""How many combinations of ranks are looked at."""
MAX_PROOFS = 256
"""How many pairs of visits of one test are compared."""
MIXED = "it holds in some of the calls and not in others"
DECIDED = ("always", "never")
Place = tuple[str, int, int]


@dataclass(frozen=True)
class Decision:
    """What is known of one branch. `condition` says for which inputs it holds, where that depends on them.

    `own` tells whether it stands in the function that was asked about, so that the verdict is of all calls of it, `fails`
    whether the condition itself may fail for an input that gets there.
    """

    path: str
    line: int
    column: int
    kind: Kind
    verdict: Verdict
    condition: str
    related: tuple[Conflict, ...] = ()
    own: bool = field(default=True, compare=False)
    fails: bool = field(default=False, compare=False)


class _Judged(NamedTuple):
    """What one visit says. `path` is what holds of the inputs that reach it, `condition` when it is true."""

    verdict: Verdict
    text: str = ""
    because: tuple[Demand, ...] = ()
    path: tuple[Constraint, ...] = ()
    condition: Formula = FALSE


def find_branches(bench: Bench) -> list[Decision]:
    """The branches and assertions about shapes that running the target reaches, in the order of the source.

    What is decided is so whatever is given for parameters that have a default, those of the constructor too, and in
    whatever state the object is by then.
    """
    found = [replace(each, own=_is_in(each, bench)) for each in _found(bench)]
    if not any(each.verdict in DECIDED for each in found):
        return found
    general = bench.in_general()
    found_too = _found(general) if general is not None else []
    whatever = {(each.path, each.line, each.column): each.verdict for each in found_too}
    failing = {(each.path, each.line, each.column) for each in found_too if each.fails}
    return [
        replace(each, fails=each.fails or (each.path, each.line, each.column) in failing)
        if each.verdict not in DECIDED or whatever.get((each.path, each.line, each.column)) == each.verdict
        else replace(each, verdict="unknown", condition="", related=())
        for each in found
    ]


def _is_in(decision: Decision, bench: Bench) -> bool:
    """Whether a branch stands in the target itself."""
    node = bench.target.function.node
    return decision.path == bench.program.source.path and node.lineno <= decision.line <= (node.end_lineno or 0)


def _found(bench: Bench) -> list[Decision]:
    trials = _cases(bench)
    about = _about_shapes(trials)
    complete = all(trial.complete for trial in trials)
    nodes: dict[Place, ast.AST] = {}
    found: dict[Place, list[tuple[Trial, list[_Judged]]]] = {}
    open_: set[Place] = set()
    for trial in trials:
        names = Reading(trial.shapes, trial.counts)
        here: dict[Place, list[_Judged]] = {}
        for visit in trial.visits:
            place = _place(visit)
            if place not in about or place in open_:
                continue
            # A run that was not followed to its end may come to any test in a way that nobody has seen.
            judged = _judge(bench, trial, visit, names) if complete and not bench.late else _Judged("unknown")
            if judged is None:
                continue
            nodes[place] = visit.node
            here.setdefault(place, []).append(judged)
            if judged.verdict == "unknown" and not judged.text:
                open_.add(place)  # whatever the other visits say
        for place, answers in here.items():
            found.setdefault(place, []).append((trial, answers))
    failing = _failing(bench) if complete else set()
    decisions = (_decision(bench, place, nodes[place], found[place], trials) for place in sorted(found))
    return [replace(each, fails=(each.path, each.line, each.column - 1) in failing) for each in decisions]


def _cases(bench: Bench) -> list[Trial]:
    """Trials that together stand for every input that reaches a branch.

    The ranks of as many inputs are fixed as there is room for, those with the fewest first; the others stay open.
    """
    choices: list[list[tuple[str, int]]] = []
    room = MAX_CASES
    for name, ranks in sorted(reaching_ranks(bench).items(), key=lambda item: len(item[1])):
        if 0 < len(ranks) <= room:
            choices.append([(name, rank) for rank in ranks])
            room //= len(ranks)
    order = [given.name for given in bench.inputs]
    trials = [
        bench.follow(Plan(tuple(sorted(chosen, key=lambda one: order.index(one[0]))))) for chosen in product(*choices)
    ]
    return [trial for trial in trials if trial.reaches]


def _place(visit: Visit) -> Place:
    return visit.path, visit.node.lineno, visit.node.col_offset  # type: ignore[attr-defined]


def _about_shapes(trials: Iterable[Trial]) -> set[Place]:
    return {_place(visit) for trial in trials for visit in trial.visits if visit.about_shapes}


def _failing(bench: Bench) -> set[Place]:
    """The tests whose condition fails for some input that is possible, or asks something of it that others need not have."""
    watchers = (trial.watcher for trial in bench.tried if trial.watcher is not None)
    return {
        (path, node.lineno, node.col_offset)  # type: ignore[attr-defined]
        for watcher in watchers
        if watcher.assumed != FALSE
        for path, node in watcher.entered
    }


def _judge(bench: Bench, trial: Trial, visit: Visit, names: Reading) -> _Judged | None:
    """What one visit says; None where nothing that goes on can get there."""
    assert trial.watcher is not None
    constraints = trial.watcher.constraints_of(visit.guard, visit.log, visit.ruled_out)
    path = tuple(constraints)
    if visit.known is not None:
        return _Judged("always" if visit.known else "never", "", visit.because, path, TRUE if visit.known else FALSE)
    decision = trial.watcher.witnesses.decide(constraints, visit.condition, bench.seconds)
    if decision.verdict == "unreachable":
        return None
    if decision.verdict in ("always", "never"):
        truth = TRUE if decision.verdict == "always" else FALSE
        return _Judged(decision.verdict, "", demands_in(decision.core), path, truth)
    if flags(visit.condition) or not names.knows(visit.condition):
        return _Judged("unknown")
    verdict: Verdict = "depends" if decision.verdict == "depends" else "unknown"
    return _Judged(verdict, show(visit.condition, names), (), path, visit.condition)


def _decision(
    bench: Bench,
    place: Place,
    node: ast.AST,
    answers: list[tuple[Trial, list[_Judged]]],
    trials: Sequence[Trial],
) -> Decision:
    cases = [(trial, _merged(judged, bench.seconds)) for trial, judged in answers]
    verdicts = {judged.verdict for _, judged in cases}
    path, line, column = place
    kind = _kind(bench.program, node, path)
    related = shown(tuple(demand for _, judged in cases for demand in judged.because))
    if len(verdicts) == 1 and verdicts != {"depends"}:
        return Decision(path, line, column + 1, kind, verdicts.pop(), "", related)
    if "unknown" in verdicts:
        return Decision(path, line, column + 1, kind, "unknown", "")
    if any(judged.text == MIXED for _, judged in cases):
        return Decision(path, line, column + 1, kind, "depends", MIXED)
    texts = [(trial, judged.text) for trial, judged in cases if judged.verdict != "never"]
    return Decision(path, line, column + 1, kind, "depends", by_cases(texts, trials))


def _merged(judged: list[_Judged], seconds: float) -> _Judged:
    """Several visits of one run: in a loop, or a function that is called several times."""
    verdicts = {j.verdict for j in judged}
    because = tuple(dict.fromkeys(demand for j in judged for demand in j.because))
    if verdicts == {"always"} or verdicts == {"never"}:
        return _Judged(judged[0].verdict, "", because)
    if "unknown" in verdicts:
        return _Judged("unknown", MIXED)
    if "always" in verdicts or not _one_condition(judged, seconds):
        return _Judged("depends", MIXED)
    return _Judged("depends", " or ".join(dict.fromkeys(j.text for j in judged if j.text)), because)


def _one_condition(judged: Sequence[_Judged], seconds: float) -> bool:
    """Whether the test is true for exactly those inputs for which the condition of one of the visits holds.

    An input may end between two visits, or come to only one of two calls. The condition of a visit then speaks for it
    only if who reaches another visit, where the test is false, reaches this one too.
    """
    ways = {(j.path, j.condition): j for j in judged}.values()
    conditions = dict.fromkeys(j.condition for j in ways if j.verdict == "depends")
    if len(ways) * len(conditions) > MAX_PROOFS:
        return len(conditions) == 1 and all(j.verdict == "depends" for j in ways)
    return all(
        one.condition == condition
        or any(_reached(one, other, seconds) for other in ways if other.condition == condition)
        for one in ways
        for condition in conditions
    )


def _reached(one: _Judged, other: _Judged, seconds: float) -> bool:
    """Whether inputs that reach one visit, where the test is false, and have the condition of another reach that too."""
    false_here = [*one.path, Constraint(negate(one.condition)), Constraint(other.condition)]
    return isinstance(prove(false_here, both(*(each.formula for each in other.path)), seconds, 0), Proved)


def _kind(program: Program, node: ast.AST, path: str) -> Kind:
    if isinstance(node, ast.While):
        return "while"
    if isinstance(node, ast.Assert):
        return "assert"
    if isinstance(node, ast.IfExp):
        return "ternary"
    source = program.source if program.source.path == path else program.project.shown_as(path)
    line = source.lines[node.lineno - 1] if source is not None else ""  # type: ignore[attr-defined]
    return "elif" if line.lstrip().startswith("elif") else "if"


def merged(answers: Iterable[list[Decision]]) -> list[Decision]:
    """What several targets say of the branches they share: only what all of them say is decided."""
    found: dict[Place, Decision] = {}
    for decision in (d for decisions in answers for d in decisions):
        place = (decision.path, decision.line, decision.column)
        known = found.get(place)
        if known is None or known == decision:
            own = decision.own or (known is not None and known.own)
            found[place] = replace(decision, own=own, fails=decision.fails or (known is not None and known.fails))
        else:
            both = {known.verdict, decision.verdict}
            verdict: Verdict = "unknown" if "unknown" in both else "depends"
            text = " or ".join(dict.fromkeys(d.condition for d in (known, decision) if d.condition))
            found[place] = replace(decision, verdict=verdict, condition=text)
    return [found[place] for place in sorted(found)]
