"""What a rewrite gives, read again as any program: by the rules for ranks, and for what rank 0 tells.

Nothing here knows how the changes came about. The new texts are followed once for each of two ranks. Where the ranks would
block each other the program is refused; where rank 0 tells a number that rank 1 would not, a warning says so: nothing
that was overlooked is left silently. What the functions give that the rewriter itself puts in is the same on all ranks.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from distml.diagnostics.model import Diagnostic
from distml.rewrites.horovod.aspects.anchors import started
from distml.rewrites.horovod.aspects.outputs import on_each_machine
from distml.rewrites.horovod.aspects.reports import reports, shown_at
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.aspects.written import all_come_to, waiting
from distml.rewrites.horovod.flows.fit.models import calls
from distml.rewrites.horovod.flows.session_graph import graph_of
from distml.rewrites.horovod.notes import READ, WAIT
from distml.rewrites.horovod.plan import Note, Plan, Remark
from distml.rewrites.model import Rewritten, excerpt
from distml.source.file import SourceFile
from distml.source.nodes import SCOPES, walk
from distml.spmd.check import Certificate, certified
from distml.spmd.told import Watch
from distml.spmd.touched import Race, touches
from distml.spmd.values import Place
from distml.training.around import LOOPS, block_of
from distml.training.syntax import nodes_in, place_of
from distml.training.unit import Unit

_Telling = ast.Call | ast.Assign | ast.AugAssign
_Wait = tuple[ast.stmt, str, Note]
"""What is put in front of a statement, and why."""
_WORD = re.compile(r"\w+")
SECONDS = 6.0
"""Of processor time, for one program."""
_OWN = frozenset({"on_rank_zero", "samples_of", "StopTogether"})
"""Of the functions that the rewriter puts in, those that do not give the same on all ranks."""
_AVERAGES = frozenset({"distributed-optimizer", "average-gradients", "wrap-tape", "load-model"})
"""The changes by which the ranks average the gradients of a model of TensorFlow, or what it is loaded with does."""


def certify(plan: Plan, made: Callable[[], dict[str, Rewritten]]) -> dict[str, Rewritten]:
    """The texts that a plan leads to, which `made` gives by location; what follows from them is added to the plan: waits for
    files of rank 0, refusals and warnings.
    """
    texts = made()
    if not texts or _apart(plan):
        return texts
    watch = _watch(plan)
    followed = _follow(plan, texts, watch)
    races = [race for _, found in followed for race in found.races]
    done = len(plan.ends)
    waits = _wait_for(races, plan) if races else []
    if waits:
        _complete(plan, waits, done)
        again = made()
        better = _follow(plan, again, watch)
        if any(found.findings for _, found in better):
            for statement, code, note in waits:
                plan.patch(statement).withdraw(statement, code, note)
        else:
            texts, followed = again, better
    _say(followed, watch, plan)
    return texts


def _complete(plan: Plan, waits: Iterable[_Wait], done: int) -> None:
    """Put what waits use into their files, of which some have no start-up yet: `done` ends of the plan are there already."""
    places = {plan.program.unit(statement).source.location for statement, *_ in waits}
    for ask in [*plan.ends[done:], *(complete for place, complete in plan.imported.items() if place in places)]:
        ask()


def _apart(plan: Plan) -> bool:
    """Refuse a program of TensorFlow in which nothing averages the gradients: each rank would train a model of its own."""
    rules = {edit.rule for patch in plan.patches.values() for edit in patch.edits}
    loop = next((each for each in plan.loops if each.start != "torch"), None)
    if loop is None or rules & _AVERAGES:
        return False
    what = f"cannot determine which optimizer this {loop.what} steps: no gradients would be averaged"
    plan.refusals.append(Remark("HVD205", loop.node, what, "give the file that makes it as well"))
    return True


def _follow(plan: Plan, made: Mapping[str, Rewritten], watch: Watch) -> list[tuple[SourceFile, Certificate]]:
    program = plan.program
    texts = {_location(program.units[each]): text.source.encode() for each, text in made.items()}
    project = program.project.replaced(texts)
    scripts = {_location(unit) for unit in program.roots}
    deadline = time.process_time() + SECONDS
    sources = map(project.open, texts)
    return [(each, certified(each, project, deadline, watch, script=each.location in scripts)) for each in sources]


class _Origins:
    """What became a node of the new texts in the program, where as many nodes of its sort stand in a file as before."""

    def __init__(self, plan: Plan, asked: Callable[[ast.AST], bool]) -> None:
        self.units = {_location(unit): unit for unit in plan.program.units.values()}
        self.asked = asked
        self.known: dict[str, dict[tuple[int, int], ast.AST]] = {}

    def of(self, place: Place) -> ast.AST | None:
        """What became the node at a place."""
        at = place.source.location
        if at not in self.known:
            self.known[at] = self._paired(self.units[at].tree, place.source.tree) if at in self.units else {}
        return self.known[at].get(place_of(place.node))

    def call(self, place: Place, plan: Plan) -> ast.expr | ast.stmt:
        """What became the call at a place, or a loop of the program where that is not known."""
        found = self.of(place)
        return found if isinstance(found, ast.Call) else plan.loops[0].node

    def _paired(self, before: ast.AST, after: ast.AST) -> dict[tuple[int, int], ast.AST]:
        old, new = (sorted(filter(self.asked, walk(tree)), key=place_of) for tree in (before, after))
        return dict(zip(map(place_of, new), old, strict=True)) if len(old) == len(new) else {}


def _wait_for(races: Iterable[Race], plan: Plan) -> list[_Wait]:
    """Have all ranks wait in front of what they look for, or behind what they have read, where that can be."""
    uniform, origins = Uniform(plan.program), {"": _Origins(plan, touches)}
    waits: list[_Wait] = []
    for race in races:
        nodes = (_origin(place, plan, origins) for place in (race.looks, *reversed(race.chain)))
        found = [plan.program.statement(each) for each in nodes if each is not None]
        if race.anew:
            found = [behind for each in found for behind in _behind(each, plan)]
        first = sorted(found, key=lambda each: plan.program.unit(each) not in plan.program.roots)
        statement = next((each for each in first if _may_wait(each, plan, uniform)), None)
        code = waiting(statement, plan) if statement is not None else None
        if statement is not None and code is not None and not plan.patch(statement).puts_before(statement, code):
            waits.append((statement, code, READ if race.anew else WAIT))
            plan.patch(statement).before(*waits[-1], first=True)
    return waits


def _behind(statement: ast.stmt, plan: Plan) -> Iterator[ast.stmt]:
    """The statements behind one, and behind those around it in its function, each in its block."""
    for each in (statement, *plan.program.ancestors(statement)):
        if isinstance(each, (*SCOPES, *LOOPS)):
            return
        if isinstance(each, ast.stmt):
            block = block_of(each, plan.program)
            yield from block[block.index(each) + 1 :][:1]


def _origin(place: Place, plan: Plan, origins: dict[str, _Origins]) -> ast.AST | None:
    """What became the call at a place: the one of as many calls of the same, or of what touches files (in `origins` under "")."""
    called = ast.unparse(place.node.func) if isinstance(place.node, ast.Call) else ""
    if called not in origins:
        origins[called] = _Origins(plan, lambda node: isinstance(node, ast.Call) and ast.unparse(node.func) == called)
    return origins[called].of(place) or origins[""].of(place)


def _may_wait(statement: ast.stmt, plan: Plan, uniform: Uniform) -> bool:
    """Whether all ranks come to a statement, and something can stand in front of it."""
    if not plan.may_change(statement) or not started(plan, statement) or _is_elif(statement, plan):
        return False
    return all_come_to(statement, plan, uniform)


def _is_elif(statement: ast.stmt, plan: Plan) -> bool:
    """Whether a statement may be written as `elif`: nothing can stand in front of it."""
    above = plan.program.parent(statement)
    return isinstance(statement, ast.If) and isinstance(above, ast.If) and above.orelse == [statement]


def _say(followed: list[tuple[SourceFile, Certificate]], watch: Watch, plan: Plan) -> None:
    """Add the refusals and warnings that follow from what two ranks do."""
    warned: set[tuple[str, int, int]] = set()
    origins = _Origins(plan, lambda node: isinstance(node, _Telling) and watch.tells(node))
    for source, found in followed:
        plan.refusals += [_refusal(finding, source, plan) for finding in found.findings[:1]]
        for place in found.told:
            where = place.source.location, *place_of(place.node)
            if isinstance(place.node, _Telling) and where not in warned and where[0] in origins.units:
                warned.add(where)
                _warn(place.node, origins.of(place), plan)
    files = _Origins(plan, touches)
    for race in (each for _, found in followed for each in found.races):
        looks, writes = _short(race.looks.node), _short(race.writes.node)
        what = f"`{looks}` may come before rank 0 has done `{writes}`"
        if race.anew:
            what = f"rank 0 may do `{writes}` while another rank does `{looks}`"
        plan.warn("HVD315", files.call(race.looks, plan), what, "have all ranks wait in between, or do both on rank 0")
    named = any(each.code == "HVD306" for each in plan.warnings)
    for place in (each for _, found in followed for each in found.written if not named):
        what = f"every rank writes this file: `{_short(place.node)}`"
        plan.warn(
            "HVD306", files.call(place, plan), what, "write it on rank 0, and have the others wait before they read it"
        )
    for place in (each for _, found in followed for each in found.made):
        call = files.call(place, plan)
        if not on_each_machine(call, plan):
            what = f"every rank may find this file missing, and write it at the same time: `{_short(place.node)}`"
            plan.warn("HVD307", call, what, "run it once before training")


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


def _warn(node: _Telling, origin: ast.AST | None, plan: Plan) -> None:
    """Rank 0 tells what it computed from its part of the data; `origin` is what became `node` in the program."""
    text = ast.unparse(origin or node)
    if any(each.code == "HVD312" and _named(each) & set(_WORD.findall(text)) for each in plan.warnings):
        return
    what = f"`{_short(origin or node)}` reports what rank 0 computes from its part of the data: it was not combined across ranks"
    instead = "take the mean or the sum over the ranks first, or say that it is rank 0's"
    plan.warn("HVD313", origin if isinstance(origin, _Telling) else plan.loops[0].node, what, instead)


def _short(node: ast.AST) -> str:
    return excerpt(ast.unparse(node))


def _named(remark: Remark) -> set[str]:
    """The container that a warning is about already."""
    return set(_WORD.findall(remark.message)[:1])
