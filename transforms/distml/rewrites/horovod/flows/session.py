"""Training loops that run a session of TensorFlow 1: `sess.run(train_op, feed_dict=...)`.

Sessions that keep hooks and checkpoints are in `monitored`, estimators in `estimator`.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.flows import (
    session_broadcast,
    session_config,
    session_data,
    session_decisions,
    session_intervals,
    session_means,
    session_optimizers,
    session_outputs,
    session_refusals,
    session_schedules,
)
from distml.rewrites.horovod.flows.fit import prepared
from distml.rewrites.horovod.flows.session_feeds import entries
from distml.rewrites.horovod.flows.session_frames import frames
from distml.rewrites.horovod.flows.session_graph import Run, graph_of, monitored
from distml.rewrites.horovod.plan import Loop, Plan
from distml.training.around import loops_around
from distml.training.program import Program
from distml.training.remembered import remembered


class SessionFlow:
    """Loops around `run` of a session that the program makes itself."""

    def find(self, program: Program) -> list[Loop]:
        """One for each outermost loop that trains."""
        graph = graph_of(program)
        made = tuple(session_optimizers.optimizers(graph))
        found = [
            Loop("HVD103", place, "session loop", "session", made, tuple(run.call for run in runs))
            for place, runs in _loops(program).items()
        ]
        others = [] if found else session_refusals.unfollowed(program)
        return found or [Loop("HVD103", each.remark.node, "session loop", "session") for each in others[:1]]

    def plan(self, loop: Loop, plan: Plan) -> None:
        """Raises `Refuse` where gradients or the number of steps cannot be followed."""
        graph = graph_of(plan.program)
        for refusal in session_refusals.unfollowed(plan.program):
            raise refusal
        assert isinstance(loop.node, ast.stmt)
        runs = _loops(plan.program)[loop.node]
        session_refusals.refuse(graph, runs[0].call)
        plan.world(loop.node)
        plan.once(session_config.configure)
        session_decisions.average(plan, graph, runs)
        plan.once(prepared.in_sessions)
        larger = session_data.distribute(plan, graph, runs)
        session_optimizers.distribute(plan, larger)
        if larger:
            plan.once(session_schedules.shorten)
        for run in runs:
            feeds = [each.value for each in entries(run, graph)]
            session_broadcast.send(plan, run, frames(run.call, feeds, plan.program))
        plan.once(session_intervals.shorten)
        if larger:
            session_means.average(plan, graph, runs)
        session_outputs.on_rank_zero(plan, runs)


@remembered
def _loops(program: Program) -> dict[ast.stmt, list[Run]]:
    """The steps of a program by the outermost loop they are made in."""
    found: dict[ast.stmt, list[Run]] = {}
    for run in graph_of(program).runs:
        if not monitored(run.session, program):
            chain = [loop for frame in frames(run.call, [], program) for loop in loops_around(frame.node, program)]
            place = chain[-1] if chain else program.statement(run.call)
            found.setdefault(place, []).append(run)
    return found


FLOW = SessionFlow()
