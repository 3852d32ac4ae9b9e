"""Files that one part of a program writes and another reads: written by rank 0 only, read when they are there."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects import outputs
from distml.rewrites.horovod.notes import WAIT, WRITTEN
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.callsites import called
from distml.training.program import Program
from distml.training.syntax import nodes_in
from distml.training.unit import Unit

_WRITES = frozenset({"save", "save_weights", "save_model", "write"})
_READS = frozenset({"load", "load_weights", "load_model", "restore", "read", "from_file"})
_CHECKPOINTS = frozenset(
    f"tensorflow.train.{name}" for name in ("Checkpoint().save", "Checkpoint().write", "CheckpointManager().save")
)
_PAIRS = {
    "numpy.save": "numpy.load",
    "numpy.savez": "numpy.load",
    "numpy.savez_compressed": "numpy.load",
    "pickle.dump": "pickle.load",
    "json.dump": "json.load",
    "joblib.dump": "joblib.load",
    "cv2.imwrite": "cv2.imread",
    "tensorflow.io.write_file": "tensorflow.io.read_file",
}
"""What writes files of a kind, and what reads them."""

_PATHS = (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.JoinedStr)


def saved(plan: Plan) -> None:
    """Put checkpoints under rank 0 whose path is only printed, also by what calls a function; others get HVD306."""
    for unit in plan.units():
        for node in walk(unit.tree):
            value = node.value if isinstance(node, ast.Assign | ast.Return) else None
            if isinstance(node, ast.Assign | ast.Return) and value is not None and _checkpoints(value, plan.program):
                if isinstance(node, ast.Assign) and all(_only_shown(target, plan) for target in node.targets):
                    outputs.guard(plan, node, "file")
                elif isinstance(node, ast.Return) and all(_shown(call, plan) for call in _calls(node, plan.program)):
                    plan.patch(value).wrap(value, f"{{}} if {plan.world(value).first} else None", WRITTEN)
                else:
                    plan.warn(
                        "HVD306",
                        node,
                        "every rank writes this checkpoint, because the program uses the call's result",
                        "write it on rank 0 only, and do not use the path on the others",
                    )


def _calls(node: ast.Return, program: Program) -> list[ast.Call]:
    """The calls that get what a statement gives back."""
    function = program.function(node)
    return program.calling(function) if function is not None else []


def _shown(call: ast.Call, plan: Plan) -> bool:
    """Whether what a call gives is thrown away, or only shown."""
    above = plan.program.parent(call)
    if isinstance(above, ast.Assign):
        return all(_only_shown(target, plan) for target in above.targets)
    shows = isinstance(above, ast.Call) and outputs.kind_of(above, plan.program) is not None
    return shows or isinstance(above, ast.Expr)


def _checkpoints(node: ast.expr, program: Program) -> bool:
    return isinstance(node, ast.Call) and bool(program.names(node.func) & _CHECKPOINTS)


def _only_shown(target: ast.expr, plan: Plan) -> bool:
    """Whether a variable is read by nothing but output."""
    if not isinstance(target, ast.Name):
        return False
    lexical = plan.program.unit(target).lexical
    owner = lexical.owner_at(target.id, target, writing=True)
    for node in nodes_in(owner or lexical.tree, ast.Name):
        if node.id == target.id and isinstance(node.ctx, ast.Load):
            statement = plan.program.statement(node)
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(call, ast.Call) or outputs.kind_of(call, plan.program) is None:
                return False
    return True


def wait(plan: Plan) -> None:
    """Have all ranks wait in front of statements that read what rank 0 has written further up.

    Where files of one kind are written in front of training, and files of that kind read anywhere, all wait behind.
    """
    for unit in plan.units():
        _prepared(plan, unit)
        calls = list(nodes_in(unit.tree, ast.Call))
        written = {path: call for call in calls if called(call, plan.program) in _WRITES for path in _paths(call)}
        for call in calls:
            for path in _paths(call) if called(call, plan.program) in _READS else ():
                if (
                    path in written
                    and written[path].lineno < call.lineno
                    and _by_all(call, written[path], plan.program)
                ):
                    statement = plan.program.statement(call)
                    code = f"{plan.world(call).module}.broadcast_object(None)"
                    plan.patch(call).before(statement, code, WAIT)


def _prepared(plan: Plan, unit: Unit) -> None:
    read = {name for call in plan.program.calls for name in plan.program.names(call.func)}
    training = {each for loop in plan.loops for each in (loop.node, *plan.program.ancestors(loop.node))}
    for node in unit.tree.body:
        written = {name for call in nodes_in(node, ast.Call) for name in plan.program.names(call.func)}
        reads = {reader for name, reader in _PAIRS.items() if name in written}
        if reads & read and node not in training and not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.If):
            plan.patch(node).after(node, f"{plan.world(node).module}.broadcast_object(None)", WAIT)


def _by_all(call: ast.Call, written: ast.Call, program: Program) -> bool:
    """Whether reading is a statement of its own in the same scope, which all ranks come by equally often."""
    statement = program.statement(call)
    simple = isinstance(statement, ast.Assign | ast.Expr | ast.AnnAssign | ast.Return)
    return simple and program.function(call) is program.function(written)


def _paths(call: ast.Call) -> list[str]:
    """The arguments of a call that may be a path, as written."""
    named = [k.value for k in call.keywords if k.arg and re.search("path|dir|prefix", k.arg)]
    return [ast.unparse(each) for each in (*call.args[:2], *named) if isinstance(each, _PATHS) and not _empty(each)]


def _empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, str)
