"""What a rewrite gives, read again as any program: by the rules for ranks, and for what rank 0 tells.

Nothing here knows how the changes came about. The new texts are followed once for each of two ranks. Where the ranks would
block each other the program is refused; where rank 0 tells a number that rank 1 would not, a warning says so: nothing
that was overlooked is left silently. What the functions give that the rewriter itself puts in is the same on all ranks.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Mapping

from distml.diagnostics.model import Diagnostic
from distml.rewrites.horovod.aspects.reports import reports, shown_at
from distml.rewrites.horovod.flows.fit.models import calls
from distml.rewrites.horovod.flows.session_graph import graph_of
from distml.rewrites.horovod.plan import Plan, Remark
from distml.rewrites.model import Rewritten
from distml.source.file import SourceFile
from distml.source.nodes import walk
from distml.spmd.check import certified
from distml.spmd.told import Watch
from distml.training.syntax import nodes_in
from distml.training.unit import Unit

_Telling = ast.Call | ast.Assign | ast.AugAssign
_WORD = re.compile(r"\w+")
SECONDS = 6.0
"""Of processor time, for one program."""
_OWN = frozenset({"on_rank_zero", "samples_of", "StopTogether"})
"""Of the functions that the rewriter puts in, those that do not give the same on all ranks."""


def certify(plan: Plan, made: Mapping[str, Rewritten]) -> None:
    """Add to a plan the refusals and warnings that follow from the texts it leads to; `made` are these, by location."""
    if not made:
        return
    program = plan.program
    texts = {_location(program.units[each]): text.source.encode() for each, text in made.items()}
    units = {_location(unit): unit for unit in program.units.values()}
    project = program.project.replaced(texts)
    watch = _watch(plan)
    warned: set[tuple[str, int, int]] = set()
    origins: dict[str, dict[tuple[int, int], _Telling]] = {}
    scripts = {_location(unit) for unit in program.roots}
    deadline = time.process_time() + SECONDS
    for location in texts:
        source = project.open(location)
        wrong, told = certified(source, project, deadline, watch, script=location in scripts)
        plan.refusals += [_refusal(finding, source, plan) for finding in wrong[:1]]
        for place in told:
            at = place.source.location
            where = at, place.node.lineno, place.node.col_offset
            if isinstance(place.node, _Telling) and where not in warned and at in units:
                warned.add(where)
                if at not in origins:
                    origins[at] = _origins(units[at].tree, place.source.tree, watch)
                _warn(place.node, origins[at].get(where[1:]), plan)


def _watch(plan: Plan) -> Watch:
    """What tells numbers in the program, and the functions of the rewriter's own that give all ranks the same."""
    trees = [unit.tree for unit in plan.program.units.values()]
    reporting = (call for tree in trees for call in nodes_in(tree, ast.Call) if reports(call, plan.program))
    names = {ast.unparse(call.func) for call in reporting}
    texts = {place for tree in trees for node in walk(tree) for place in shown_at(node, plan.program)}
    wrappers = {spelled for (_, name), spelled in plan.spelled.items() if name == "on_rank_zero"}
    wrapped = {f"{wrapper}({name})" for wrapper in wrappers for name in names}
    alike = {spelled for (_, name), spelled in plan.spelled.items() if name not in _OWN}
    trains = {ast.unparse(call.func) for call in calls(plan.program, "train_on_batch")}
    steps = trains | {ast.unparse(run.call) for run in graph_of(plan.program).runs}
    told = frozenset(names | wrapped), frozenset(alike), frozenset(texts)
    return Watch(*told, frozenset(trains), frozenset(steps))


def _location(unit: Unit) -> str:
    """Where the new text of a file stands: that of a notebook beside it, as a program."""
    return f"{unit.source.location}.py" if unit.source.notebook else unit.source.location


def _refusal(finding: Diagnostic, source: SourceFile, plan: Plan) -> Remark:
    """The ranks would block each other."""
    line = source.lines[finding.span.line - 1].strip()
    what = f"the result would not run: in `{line}`, {finding.message} ({finding.code})"
    return Remark("HVD215", plan.loops[0].node, what, finding.hint or "")


def _warn(node: _Telling, origin: _Telling | None, plan: Plan) -> None:
    """Rank 0 tells what it computed from its part of the data; `origin` is what became `node` in the program."""
    text = ast.unparse(origin or node)
    if any(each.code == "HVD312" and _named(each) & set(_WORD.findall(text)) for each in plan.warnings):
        return
    told = text if len(text) <= 60 else f"{text[:57]}..."
    what = f"`{told}` reports what rank 0 computes from its part of the data: it was not combined across ranks"
    instead = "take the mean or the sum over the ranks first, or say that it is rank 0's"
    plan.warn("HVD313", origin or plan.loops[0].node, what, instead)


def _named(remark: Remark) -> set[str]:
    """The container that a warning is about already."""
    return set(_WORD.findall(remark.message)[:1])


def _origins(before: ast.AST, after: ast.AST, watch: Watch) -> dict[tuple[int, int], _Telling]:
    """What became what tells in the new text, by line and column: the rewriter neither adds nor removes any."""
    old, new = ([each for each in _telling(tree) if watch.tells(each)] for tree in (before, after))
    places = [(each.lineno, each.col_offset) for each in new]
    return dict(zip(places, old, strict=True)) if len(old) == len(new) else {}


def _telling(tree: ast.AST) -> list[_Telling]:
    """The calls and assignments of a file, in its order."""
    found = [each for each in walk(tree) if isinstance(each, _Telling)]
    return sorted(found, key=lambda each: (each.lineno, each.col_offset))
