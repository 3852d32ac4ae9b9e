"""Schedules of TensorFlow 1 whose counter a session feeds: as long as the loop whose turns it counts."""

from __future__ import annotations

import ast
from functools import partial

from distml.rewrites.horovod.aspects import intervals
from distml.rewrites.horovod.flows.session_feeds import written
from distml.rewrites.horovod.flows.session_frames import frames
from distml.rewrites.horovod.flows.session_graph import graph_of
from distml.rewrites.horovod.flows.session_optimizers import counts_steps, lengths
from distml.rewrites.horovod.notes import FEWER
from distml.rewrites.horovod.plan import Plan
from distml.training.around import loops_around


def shorten(plan: Plan) -> None:
    """Divide the lengths of schedules that are fed the number of a loop's turns, when it is known which take fewer."""
    if plan.options.scale_lr != "none":
        plan.later.append(partial(_shorten, plan))


def _shorten(plan: Plan) -> None:
    for length, counter, code in lengths(plan):
        if not counts_steps(counter, plan.program) and _counts_turns(plan, counter):
            plan.patch(length).wrap(length, code, FEWER)


def _counts_turns(plan: Plan, counter: ast.expr) -> bool:
    """Whether a step is fed, as the counter of a schedule, what counts the turns of a loop of which a rank takes fewer."""
    program = plan.program
    fed = {node for node in program.sources(counter) if isinstance(node, ast.Call)}
    for run in graph_of(program).runs:
        values = [each.value for each in written(run, program) if each.key and fed & {*program.sources(each.key)}]
        loops = [loop for each in frames(run.call, [], program) for loop in loops_around(each.node, program)]
        for loop in (each for each in loops if each in plan.fewer):
            numbers = intervals.numbered(loop, intervals.counted(loop, program), program) - plan.fewer[loop]
            if any(ast.unparse(each) in numbers for each in values):
                return True
    return False
