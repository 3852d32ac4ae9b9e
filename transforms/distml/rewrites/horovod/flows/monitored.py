"""Training loops in sessions that keep hooks and checkpoints: `MonitoredTrainingSession` and its kin, `Supervisor`.

https://github.com/horovod/horovod/blob/v0.28.1/docs/tensorflow.rst
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.spelling import tensorflow_at
from distml.rewrites.horovod.flows import (
    session_config,
    session_data,
    session_decisions,
    session_hooks,
    session_intervals,
    session_optimizers,
    session_outputs,
    session_refusals,
    session_schedules,
)
from distml.rewrites.horovod.flows.fit import prepared
from distml.rewrites.horovod.flows.session_broadcast import restores
from distml.rewrites.horovod.flows.session_graph import MONITORED, SUPERVISED, Run, graph_of
from distml.rewrites.horovod.plan import Loop, Note, Plan
from distml.training.around import LOOPS, block_of, owner_of
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in
from distml.training.values import Foreign

_HOOKS = {"MonitoredTrainingSession": 4, "MonitoredSession": 1, "SingularMonitoredSession": 0}
_FOLDERS = {
    "MonitoredTrainingSession": ((2, "checkpoint_dir"), (99, "summary_dir")),
    "SingularMonitoredSession": ((3, "checkpoint_dir"),),
    "ChiefSessionCreator": ((3, "checkpoint_dir"),),
    "Supervisor": ((99, "logdir"),),
}
_SEND = Note(
    "weights of rank 0 sent to all ranks",
    "every rank has initialized or restored its own weights; the graph is finalized by then, so the operation is created before",
    "broadcast-variables",
)


class MonitoredFlow:
    """Loops around `run` of a session that initializes, restores and saves by itself."""

    def find(self, program: Program) -> list[Loop]:
        """One for each session that trains."""
        graph = graph_of(program)
        made = tuple(session_optimizers.optimizers(graph))
        return [
            Loop("HVD104", call, "monitored session loop", "session", made, tuple(run.call for run in runs))
            for call, runs in _sessions(program).items()
        ]

    def plan(self, loop: Loop, plan: Plan) -> None:
        """Raises `Refuse` where gradients or the number of steps cannot be followed."""
        graph = graph_of(plan.program)
        assert isinstance(loop.node, ast.Call)
        runs = _sessions(plan.program)[loop.node]
        session_refusals.refuse(graph, runs[0].call)
        plan.world(loop.node)
        plan.once(session_config.configure)
        session_decisions.average(plan, graph, runs, closed=True)
        plan.once(prepared.in_sessions)
        larger = session_data.distribute(plan, graph, runs)
        session_optimizers.distribute(plan, larger)
        if larger:
            plan.once(session_schedules.shorten)
        plan.once(session_intervals.shorten, session_hooks.stops, *session_hooks.KEPT)
        _session(plan, loop.node)
        session_outputs.on_rank_zero(plan, runs)


@remembered
def _sessions(program: Program) -> dict[ast.Call, list[Run]]:
    """The calls that make such sessions, with the steps taken in them."""
    found: dict[ast.Call, list[Run]] = {}
    for run in graph_of(program).runs:
        for value in program.of(run.session) if run.session is not None else ():
            if isinstance(value, Foreign) and isinstance(value.node, ast.Call):
                if MONITORED.fullmatch(value.name) or SUPERVISED.fullmatch(value.name):
                    found.setdefault(value.node, []).append(run)
    return found


def _session(plan: Plan, call: ast.Call) -> None:
    names = {name.rpartition(".")[2] for name in plan.program.names(call.func)}
    kind = next((name for name in _HOOKS if name in names), None)
    if kind is None:
        _supervised(plan, call)
        return
    session_hooks.broadcast(plan, call, argument(call, _HOOKS[kind], "hooks"))
    _folders(plan, call)
    creator = argument(call, 0, "session_creator") if kind == "MonitoredSession" else None
    for made in plan.program.made(creator):
        _folders(plan, made)


def _folders(plan: Plan, call: ast.Call) -> None:
    for path in plan.program.names(call.func):
        for number, name in _FOLDERS.get(path.rpartition(".")[2], ()):
            session_hooks.folder(plan, call, number, name)


def _supervised(plan: Plan, call: ast.Call) -> None:
    """A session of a supervisor: the graph is closed before it starts, and only rank 0 writes."""
    assert isinstance(call.func, ast.Attribute)
    program = plan.program
    made = program.made(call.func.value)
    for supervisor in made:
        _folders(plan, supervisor)
        entered = program.statement(call)
        session = _entered_as(entered, call)
        if session is not None:
            run = f"{ast.unparse(session)}.run({_broadcast(plan, supervisor, entered, session)})"
            if isinstance(entered, ast.With):
                plan.patch(entered).begin(entered, run, _SEND)
            else:
                last = _restored(entered, program)
                plan.patch(last).after(last, run, _SEND)


def _entered_as(entered: ast.stmt, call: ast.Call) -> ast.expr | None:
    """What the session that a call makes is called."""
    if isinstance(entered, ast.With):
        return next((each.optional_vars for each in entered.items if each.context_expr is call), None)
    return entered.targets[0] if isinstance(entered, ast.Assign) else None


def _broadcast(plan: Plan, supervisor: ast.Call, entered: ast.stmt, session: ast.expr) -> str:
    """Make the operation that sends the weights, in the graph of a supervisor, and say what its session is to run."""
    program, statement = plan.program, plan.program.statement(supervisor)
    patch, graph, tf = plan.patch(statement), argument(supervisor, 0, "graph"), tensorflow_at(supervisor, program)
    name, made = patch.free("broadcast"), f"{plan.world(statement).module}.broadcast_global_variables(0)"
    near = owner_of(entered, program) is owner_of(statement, program)
    known = near or tf is None  # elsewhere the graph is asked for it
    code = f"{name} = {made}" if known else f'{tf}.add_to_collection("{name}", {made})'
    patch.before(statement, f"with {ast.unparse(graph)}.as_default():\n    {code}" if graph else code, _SEND)
    return name if known else f'{ast.unparse(session)}.graph.get_collection("{name}")'


def _restored(entered: ast.stmt, program: Program) -> ast.stmt:
    """The last statement behind the one that makes a session, in its block, that reads a checkpoint for it; else that one."""
    block = block_of(entered, program)
    session = ast.unparse(entered.targets[0]) if isinstance(entered, ast.Assign) else ""
    found: ast.stmt = entered
    for statement in block[block.index(entered) + 1 :]:
        if isinstance(statement, LOOPS):
            break
        calls = [each for each in nodes_in(statement, ast.Call) if restores(each, program)]
        if any(each.args and ast.unparse(each.args[0]) == session for each in calls):
            found = statement
    return found


FLOW = MonitoredFlow()
