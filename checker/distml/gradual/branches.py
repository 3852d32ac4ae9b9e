"""Branches that shapes decide: always, never, or exactly when.

Every branch and assertion that depends on shapes is judged under what is certain when it is
reached: the demands up to there, the user's constraint, and the conditions of the branches
around it (Gradual types, section 5 and Algorithm 2). Each possible rank of the inputs is a
case of its own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import TYPE_CHECKING, Literal, NamedTuple

from distml.gradual.cases import Reading, by_cases
from distml.gradual.conflicts import Conflict, shown
from distml.gradual.ranks import possible_ranks
from distml.gradual.trial import Bench, Plan, Trial
from distml.interp.watch import demands_in
from distml.solver.decide import decide
from distml.solver.formula import flags, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from distml.gradual.targets import Program
    from distml.interp.trace import Demand
    from distml.interp.watch import Visit

Verdict = Literal["always", "never", "depends", "unknown"]
Kind = Literal["if", "elif", "while", "assert", "ternary"]
MAX_CASES = 64
"""How many combinations of ranks are looked at."""
Place = tuple[str, int, int]


@dataclass(frozen=True)
class Decision:
    """What is known of one branch. `condition` says for which inputs it holds, where that depends on them."""

    path: str
    line: int
    column: int
    kind: Kind
    verdict: Verdict
    condition: str
    related: tuple[Conflict, ...] = ()


class _Judged(NamedTuple):
    verdict: Verdict
    text: str = ""
    because: tuple[Demand, ...] = ()


def find_branches(bench: Bench) -> list[Decision]:
    """The branches and assertions about shapes that running the target reaches, in the order of the source."""
    trials = [trial for trial in _cases(bench) if trial.failure is None or trial.visits]
    found: dict[Place, list[tuple[Trial, list[_Judged]]]] = {}
    nodes: dict[Place, ast.AST] = {}
    for trial in trials:
        names = Reading(trial.shapes)
        here: dict[Place, list[_Judged]] = {}
        for visit in trial.visits:
            judged = _judge(bench, trial, visit, names)
            if judged is not None:
                place = (visit.path, visit.node.lineno, visit.node.col_offset)  # type: ignore[attr-defined]
                nodes[place] = visit.node
                here.setdefault(place, []).append(judged)
        for place, answers in here.items():
            found.setdefault(place, []).append((trial, answers))
    about = _about_shapes(trials)
    return [
        _decision(bench.program, place, nodes[place], found[place], trials) for place in sorted(found) if place in about
    ]


def _cases(bench: Bench) -> list[Trial]:
    """One trial for every combination of possible ranks."""
    ranks = possible_ranks(bench)
    choices = [[(name, rank) for rank in found] for name, found in ranks.items()]
    trials = [bench.run(Plan(tuple(chosen))) for chosen in islice(product(*choices), MAX_CASES)]
    passed = [trial for trial in trials if trial.passed]
    return passed or [bench.run(Plan())]


def _about_shapes(trials: Iterable[Trial]) -> set[Place]:
    return {
        (visit.path, visit.node.lineno, visit.node.col_offset)  # type: ignore[attr-defined]
        for trial in trials
        for visit in trial.visits
        if visit.about_shapes
    }


def _judge(bench: Bench, trial: Trial, visit: Visit, names: Reading) -> _Judged | None:
    """What one visit says; None where nothing that goes on can get there."""
    assert trial.watcher is not None
    if visit.known is not None:
        return _Judged("always" if visit.known else "never", "", visit.because)
    constraints = trial.watcher.constraints_of(visit.guard, visit.log)
    decision = decide(constraints, visit.condition, bench.seconds, 0)
    if decision.verdict == "unreachable":
        return None
    if decision.verdict in ("always", "never"):
        return _Judged(decision.verdict, "", demands_in(decision.core))
    if flags(visit.condition) or not names.knows(visit.condition):
        return _Judged("unknown")
    return _Judged("depends" if decision.verdict == "depends" else "unknown", show(visit.condition, names))


def _decision(
    program: Program,
    place: Place,
    node: ast.AST,
    answers: list[tuple[Trial, list[_Judged]]],
    trials: Sequence[Trial],
) -> Decision:
    cases = [(trial, _merged(judged)) for trial, judged in answers]
    verdicts = {judged.verdict for _, judged in cases}
    path, line, column = place
    kind = _kind(program, node, path)
    related = shown(tuple(demand for _, judged in cases for demand in judged.because))
    if len(verdicts) == 1 and verdicts != {"depends"}:
        return Decision(path, line, column + 1, kind, verdicts.pop(), "", related)
    if "unknown" in verdicts:
        return Decision(path, line, column + 1, kind, "unknown", "")
    texts = [(trial, judged.text) for trial, judged in cases if judged.verdict != "never"]
    return Decision(path, line, column + 1, kind, "depends", by_cases(texts, trials))


def _merged(judged: list[_Judged]) -> _Judged:
    """Several visits of one run: in a loop, or a function that is called several times."""
    verdicts = {j.verdict for j in judged}
    texts = list(dict.fromkeys(j.text for j in judged if j.text))
    because = tuple(dict.fromkeys(demand for j in judged for demand in j.because))
    if len(verdicts) == 1:
        return _Judged(judged[0].verdict, " or ".join(texts), because)
    return _Judged("unknown" if "unknown" in verdicts else "depends", "it holds in some of the calls and not in others")


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
            found[place] = decision
        else:
            both = {known.verdict, decision.verdict}
            verdict: Verdict = "unknown" if "unknown" in both else "depends"
            text = " or ".join(dict.fromkeys(d.condition for d in (known, decision) if d.condition))
            found[place] = replace(decision, verdict=verdict, condition=text)
    return [found[place] for place in sorted(found)]
