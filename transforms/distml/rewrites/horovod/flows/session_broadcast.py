"""Equal weights at the start: those of rank 0, sent to all others once they are initialized or restored.

The operation that sends them is made and run in front of the loop that trains, behind everything that changes weights
before: initializers, restored checkpoints, pretrained embeddings.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.flows.session_frames import Frame
from distml.rewrites.horovod.flows.session_graph import Graph, Run, graph_of
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import leaves, loops_around, owner_of, whole_branch
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import method_name, receiver_of

_SEND = Note(
    "weights of rank 0 sent to all ranks",
    "every rank has initialized its own weights; averaged gradients would be applied to different models",
    "broadcast-variables",
)
_INITIALIZERS = frozenset(
    f"tensorflow.{name}"
    for name in (
        "global_variables_initializer",
        "initialize_all_variables",
        "variables_initializer",
        "initialize_variables",
        "train.Supervisor",
    )
)
_LOCAL = frozenset({"LOCAL_VARIABLES", "METRIC_VARIABLES", "local_variables"})

_BLOCKS = ("body", "orelse", "finalbody")


def send(plan: Plan, run: Run, chain: list[Frame]) -> None:
    """Send the weights of rank 0 before `run` is reached for the first time."""
    program = plan.program
    starts = initializers(program)
    within = _by_owner(program)
    for number, frame in enumerate(chain):
        statement = _outermost(frame, starts, program)
        before = [each for each in within.get(frame.owner, ()) if each.lineno <= statement.lineno]
        if before:
            session = _text(run) if number == 0 else _receiver(before[-1], program)
            last = whole_branch(program.statement(before[-1]), program)
            if _nothing_between(last, statement, program):
                _put(plan, last, _receiver(before[-1], program), after=True)
            else:
                _put(plan, statement, session, after=False)
            return
    if not starts:
        _put(plan, _outermost(chain[-1], [], program), _text(run), after=False)
    elif any(_is_left(start, program) for start in starts):  # behind which nothing is run by all ranks
        _put(plan, _outermost(chain[0], [], program), _text(run), after=False)
    else:
        for start in starts:
            _put(plan, whole_branch(program.statement(start), program), _receiver(start, program), after=True)


def _is_left(start: ast.Call, program: Program) -> bool:
    """Whether a branch around a call leaves the function in each of its arms."""
    return any(isinstance(above, ast.If | ast.Try) and leaves([above]) for above in program.ancestors(start))


@remembered
def initializers(program: Program) -> list[ast.Call]:
    """The calls that run an initializer or restore a checkpoint, in the order of the files."""
    graph = graph_of(program)
    return [call for call in program.calls if _initializes(call, graph) or restores(call, program)]


@remembered
def _by_owner(program: Program) -> dict[ast.AST, list[ast.Call]]:
    """These calls by the function they stand in, or the module."""
    found: dict[ast.AST, list[ast.Call]] = {}
    for call in initializers(program):
        found.setdefault(owner_of(call, program), []).append(call)
    return found


def restores(call: ast.Call, program: Program) -> bool:
    """Whether a call reads weights from a checkpoint."""
    if method_name(call) != "restore":
        return False
    return any(name.endswith("Saver().restore") for name in program.names(call.func)) or len(call.args) == 2


def _initializes(call: ast.Call, graph: Graph) -> bool:
    on = receiver_of(call)
    if on is None or method_name(call) != "run":
        return False
    operation = on if _is_initializer(on, graph) else argument(call, 0, "fetches")
    return operation is not None and _is_initializer(operation, graph)


def _is_initializer(node: ast.AST, graph: Graph) -> bool:
    program = graph.program
    calls = [each for each in graph.sources(node) if isinstance(each, ast.Call)]
    return any(program.names(each.func) & _INITIALIZERS and not _of_metrics(each, program) for each in calls)


def _of_metrics(call: ast.Call, program: Program) -> bool:
    """Whether an initializer is that of the running sums of metrics, which begin anew with each evaluation."""
    names = {name for each in call.args for part in program.sources(each) for name in program.names(part)}
    return any(name.removesuffix("()").rpartition(".")[2] in _LOCAL for name in names)


def _outermost(frame: Frame, starts: list[ast.Call], program: Program) -> ast.stmt:
    """The outermost loop around a frame's node that neither initializes nor makes the session, else its statement."""
    found = program.statement(frame.node)
    inner = set(starts)
    for loop in loops_around(frame.node, program):
        if any(each in inner or _makes_session(each, program) for each in walk(loop)):
            break
        found = loop
    return found


def _makes_session(node: ast.AST, program: Program) -> bool:
    return isinstance(node, ast.Call) and bool(
        program.names(node.func) & {"tensorflow.Session", "tensorflow.InteractiveSession"}
    )


def _nothing_between(first: ast.stmt, last: ast.stmt, program: Program) -> bool:
    """Whether two statements of one block have nothing between them that may change weights."""
    block = next((b for n in _BLOCKS if first in (b := getattr(program.parent(first), n, None) or [])), [])
    if last not in block:
        return False
    between = block[block.index(first) + 1 : block.index(last)]
    return not any(isinstance(node, ast.Call) for statement in between for node in walk(statement))


def _receiver(start: ast.Call, program: Program) -> str:
    """How the session is spelled where `start` runs; nothing where it is the default one."""
    assert isinstance(start.func, ast.Attribute)
    if restores(start, program):
        return ast.unparse(start.args[0]) if start.args else ""
    if _is_initializer(start.func.value, graph_of(program)):
        session = argument(start, 1, "session")
        return ast.unparse(session) if session is not None else ""
    return ast.unparse(start.func.value)


def _text(run: Run) -> str:
    return ast.unparse(run.session) if run.session is not None else ""


def _put(plan: Plan, statement: ast.stmt, session: str, after: bool) -> None:
    operation = f"{plan.world(statement).module}.broadcast_global_variables(0)"
    code = f"{session}.run({operation})" if session else f"{operation}.run()"
    patch = plan.patch(statement)
    (patch.after if after else patch.before)(statement, code, _SEND)
