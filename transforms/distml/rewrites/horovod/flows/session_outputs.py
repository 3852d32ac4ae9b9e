"""What TensorFlow 1 programs write beside their steps: checkpoints, summaries, and what they print of a session."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.outputs import guard, kind_of
from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.aspects.reloads import only_shown
from distml.rewrites.horovod.flows.session_broadcast import restores
from distml.rewrites.horovod.flows.session_frames import frames, runs_session
from distml.rewrites.horovod.flows.session_graph import SESSION, Graph, Run, graph_of
from distml.rewrites.horovod.notes import WRITTEN
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS, owner_of, whole_branch
from distml.training.callers import run_by
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import method_name

_WAIT = Note(
    "all ranks wait until rank 0 has written",
    "the others would look for a checkpoint that is not complete yet",
    "wait-for-checkpoint",
)
_READ = Note(
    "read by rank 0, and sent to all ranks",
    "only rank 0 has written it, to a folder named after rank 0's start time",
    "wait-for-checkpoint",
)
_TIME = re.compile(r"time\.(time|strftime|ctime)|datetime\.(datetime\.)?(now|today|utcnow)")
_CHANGES = ("assign", "get_next", "dequeue", "batch", "shuffle_batch", "scatter_update", "iterator")


def on_rank_zero(plan: Plan, runs: list[Run]) -> None:
    """Put what only reports under rank 0, and let all wait where a written checkpoint is read again."""
    plan.once(_reports)
    _waits(plan, runs)


def _reports(plan: Plan) -> None:
    program, graph = plan.program, graph_of(plan.program)
    for call in program.calls:
        if program.unit(call).source.location not in plan.editable:
            continue
        statement = program.statement(call)
        if isinstance(statement, ast.Expr) and statement.value is call:
            _reported(plan, graph, statement, call)
            if saves(call, program):
                guard(plan, statement, "file")
        elif isinstance(statement, ast.Assign) and statement.value is call and saves(call, program):
            _assigned(plan, statement, call)


def saves(call: ast.Call, program: Program) -> bool:
    """Whether a call writes a checkpoint: of a saver, or of what nobody knows and saves what it is given a session of."""
    if method_name(call) == "save" and call.args and not run_by(call, program):
        if program.matches(call.args[0], SESSION):
            return True
    return any(name.endswith(("Saver().save", "Supervisor().saver.save")) for name in program.names(call.func))


def _reported(plan: Plan, graph: Graph, statement: ast.Expr, call: ast.Call) -> None:
    """A statement that prints or logs what it has a session compute, without training."""
    kind = kind_of(call, plan.program)
    reads = [node for part in (*call.args, *call.keywords) for node in walk(part) if runs_session(node)]
    if kind in ("output", "log") and reads and all(_harmless(each, graph) for each in reads):
        rest = [part for part in (*call.args, *call.keywords) if not any(n in reads for n in walk(part))]
        if all(reads_only(each, plan.program) for each in rest):
            guard(plan, statement, kind)


def _harmless(read: ast.AST, graph: Graph) -> bool:
    """Whether a session only reads here: nothing trains, changes variables, takes data, or averages over ranks."""
    assert isinstance(read, ast.Call) and isinstance(read.func, ast.Attribute)
    program = graph.program
    evaluated = read.func.value if read.func.attr == "eval" else argument(read, 0, "fetches")
    feeds = argument(read, 0, "feed_dict") if read.func.attr == "eval" else argument(read, 1, "feed_dict")
    if evaluated is None or (feeds is not None and not reads_only(feeds, program)):
        return False
    found = program.sources(evaluated)
    called = {ast.unparse(each.func).rpartition(".")[2] for each in found if isinstance(each, ast.Call)}
    if any(name.startswith(_CHANGES) or name in ("compute_gradients", "gradients") for name in called):
        return False
    return not graph.trains(evaluated) and not ("merge_all" in called and averages(graph))


@remembered
def averages(graph: Graph) -> bool:
    """Whether a summary shows gradients, which all ranks have to compute together."""
    program = graph.program
    for call in program.calls:
        if any(name.startswith("tensorflow.summary.") for name in program.names(call.func)):
            inner = [each.func for part in call.args for each in program.sources(part) if isinstance(each, ast.Call)]
            if any(ast.unparse(each).rpartition(".")[2] in ("compute_gradients", "gradients") for each in inner):
                return True
    return False


def _assigned(plan: Plan, statement: ast.Assign, call: ast.Call) -> None:
    """`path = saver.save(...)`: under rank 0 with what prints the path, else nothing on other ranks."""
    if all(only_shown(each, plan.program) for each in statement.targets):
        guard(plan, statement, "file")
    else:
        plan.patch(call).wrap(call, f"{{}} if {plan.world(call).first} else None", WRITTEN)


def _waits(plan: Plan, runs: list[Run]) -> None:
    """Before a checkpoint is restored behind a loop that trains, rank 0 must have written it."""
    program = plan.program
    for call in _read_again(program):
        if not any(_before(call, run, program) for run in runs):
            statement = program.statement(call)
            if isinstance(statement, ast.Expr) and len(call.args) > 1 and _timed(call.args[1], program):
                _sent(plan, statement, call)
                continue
            statement = whole_branch(statement, program)
            code = f"{plan.world(call).module}.broadcast_object(None, session={ast.unparse(call.args[0])})"
            plan.patch(call).before(statement, code, _WAIT)


def _timed(path: ast.expr, program: Program) -> bool:
    """Whether a name says when a rank has begun, so that each may have another."""
    calls = [each for each in program.sources(path) if isinstance(each, ast.Call)]
    return any(_TIME.fullmatch(name) for each in calls for name in program.names(each.func))


def _sent(plan: Plan, statement: ast.Expr, call: ast.Call) -> None:
    """Let rank 0 read its checkpoint, and send what it has read."""
    guard(plan, statement, "file")
    code = f"{ast.unparse(call.args[0])}.run({plan.world(call).module}.broadcast_global_variables(0))"
    plan.patch(statement).after(statement, code, _READ)


@remembered
def _read_again(program: Program) -> list[ast.Call]:
    """The calls that restore a checkpoint, where the program saves any."""
    saved = any(saves(call, program) for call in program.calls)
    return [call for call in program.calls if saved and restores(call, program) and call.args]


def _before(call: ast.Call, run: Run, program: Program) -> bool:
    """Whether a call stands in front of a step, or in a function that may."""
    same = owner_of(call, program) is owner_of(run.call, program)
    inside = any(isinstance(above, LOOPS) for above in program.ancestors(call))
    outer = [each.node for each in frames(run.call, [], program) if each.owner is owner_of(call, program)]
    if not same and outer:
        return inside or call.lineno < outer[0].lineno
    return inside or (call.lineno < run.call.lineno if same else bool(program.function(call)))
