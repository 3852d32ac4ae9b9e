"""How often sessions evaluate and save: as often in an epoch as they did, though a rank takes fewer steps in it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from distml.rewrites.horovod.aspects import intervals
from distml.rewrites.horovod.aspects.outputs import checkpoint
from distml.rewrites.horovod.flows.session_feeds import Feed, entries, written
from distml.rewrites.horovod.flows.session_frames import frames, reached, reads, runs_session, set_in
from distml.rewrites.horovod.flows.session_graph import Graph, Run, graph_of, is_counter
from distml.rewrites.horovod.flows.session_outputs import saves
from distml.rewrites.horovod.flows.session_steps import fetched
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS, Looping, loops_around, own_nodes
from distml.training.callers import Reach
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import method_name, names_in, nodes_in


def shorten(plan: Plan) -> None:
    """Ask for shorter intervals in the loops whose steps were divided, when all of them are known."""
    plan.later.append(partial(_shorten, plan))


def _shorten(plan: Plan) -> None:
    program, graph = plan.program, graph_of(plan.program)
    fed, told = _fed(graph, lambda run: entries(run, graph)), _fed(graph, lambda run: written(run, program))
    training = Reach(program, [run.call for run in graph.runs])
    saving = Reach(program, [each for each in program.calls if saves(each, program) or checkpoint(each, program)])
    judging = Reach(program, [each for each in program.calls if _judges(each, graph)])
    for loop, others in plan.fewer.items():
        if isinstance(loop, LOOPS):
            batch = fed.get(loop, set()) & set_in(loop)

            given = told.get(loop, set())

            def judges(branch: ast.If, batch: set[str] = batch, given: set[str] = given) -> bool:
                if training.holds_any(branch.body) and not training.holds_any(branch.orelse):
                    return False
                calls = (
                    each for node in branch.body for each in (node, *own_nodes(node)) if isinstance(each, ast.Call)
                )
                return (
                    saving.holds_any(branch.body)
                    or any(judging.holds(each) and not reads(each) & batch for each in calls)
                    or _sets(branch, given, graph)
                )

            names = _numbers(loop, program) - others - _own(loop, plan)
            taken = [each for each in nodes_in(loop, ast.If) if _takes(each, training)]
            asked = {name for each in taken for name in reads(each.test)} - names

            def acts(branch: ast.If, judges: Callable[[ast.If], bool] = judges, asked: set[str] = asked) -> bool:
                return judges(branch) or _takes(branch, training) or _sets(branch, asked, graph)

            intervals.as_often(plan, loop, names, judges, acts, intervals.limits(loop, names, program))


def _own(loop: Looping, plan: Plan) -> set[str]:
    """The variables of a loop that hold the number of a rank's own batch, which counts those of all ranks."""
    made = (each for each in own_nodes(loop, ast.Assign) if not plan.dealt.isdisjoint(walk(each.value)))
    return {name for each in made for target in each.targets for name in names_in(target)}


def _takes(branch: ast.If, training: Reach) -> bool:
    """Whether a branch says if steps are taken."""
    return training.holds_any(branch.body) != training.holds_any(branch.orelse)


def _sets(branch: ast.If, fed: set[str], graph: Graph) -> bool:
    """Whether a branch changes what steps are fed, or has a session do something for its effect: it sets a rate."""
    for node in (each for part in (*branch.body, *branch.orelse) for each in (part, *own_nodes(part))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and runs_session(node.value):
            call = node.value
            if argument(call, 1, "feed_dict") is None and not any(run.call is call for run in graph.runs):
                return True
        if isinstance(node, ast.AugAssign) and names_in(node.target) & fed:
            return True
        if isinstance(node, ast.Assign) and {name for each in node.targets for name in names_in(each)} & fed:
            return True
    return False


def _judges(call: ast.Call, graph: Graph) -> bool:
    """Whether a call has a session compute something of what it is fed, and does not train."""
    if not runs_session(call):
        return False
    fed = argument(call, 0 if method_name(call) == "eval" else 1, "feed_dict")
    return fed is not None and not any(run.call is call for run in graph.runs)


def _fed(graph: Graph, feeds: Callable[[Run], list[Feed]]) -> dict[Looping, set[str]]:
    """The variables that what is fed to the steps of each loop is computed from."""
    found: dict[Looping, set[str]] = {}
    for run in graph.runs:
        for frame in frames(run.call, [each.value for each in feeds(run)], graph.program):
            for loop in loops_around(frame.node, graph.program):
                found.setdefault(loop, set()).update(reached(frame.feeds, loop).names)
    return found


def _numbers(loop: Looping, program: Program) -> set[str]:
    """The variables that count the steps of a loop, or are given the number by the session."""
    names = intervals.counted(loop, program)
    for node in own_nodes(loop):
        if isinstance(node, ast.Assign):
            names |= fetched(node, program)
        elif isinstance(node, ast.Name | ast.Attribute) and is_counter(node, program):
            names.add(ast.unparse(node))
    return intervals.numbered(loop, names, program)
