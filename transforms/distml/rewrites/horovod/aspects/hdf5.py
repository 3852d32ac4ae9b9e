"""Files of HDF5, which two processes cannot open to write at once: rank 0 opens and writes them, if writing is all."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.anchors import started
from distml.rewrites.horovod.aspects.outputs import guard, guarded, on_each_machine
from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.around import owner_of
from distml.training.callsites import argument
from distml.training.syntax import nodes_in


def first_only(plan: Plan) -> None:
    """Let rank 0 alone open and write them, with the statements that do no more than that."""
    for unit in plan.units():
        for node in walk(unit.tree):
            found = [node.value] if isinstance(node, ast.Assign) else []
            found = [item.context_expr for item in node.items] if isinstance(node, ast.With) else found
            for call in found:
                if isinstance(call, ast.Call) and "h5py.File" in plan.program.callee(call):
                    _whole(plan, node, call)


def _whole(plan: Plan, node: ast.AST, call: ast.Call) -> None:
    """A file of HDF5, which two processes cannot open at once: rank 0 opens and writes it, if writing is all that is done."""
    mode, path = argument(call, 1, "mode"), argument(call, 0, "name")
    if (
        not isinstance(node, ast.Assign | ast.With)
        or not isinstance(mode, ast.Constant)
        or mode.value not in ("w", "a")
    ):
        return
    name = node.targets[0] if isinstance(node, ast.Assign) else node.items[0].optional_vars
    if not isinstance(name, ast.Name) or path is None or not reads_only(path, plan.program):
        return
    uses = [each for each in nodes_in(owner_of(node, plan.program), ast.Name) if each.id == name.id]
    found = dict.fromkeys(plan.program.statement(each) for each in uses if each is not name)
    if isinstance(node, ast.With):
        found |= dict.fromkeys(each for each in nodes_in(node, ast.stmt) if each is not node)
    if not on_each_machine(node, plan) and started(plan, node) and all(_fills(each, name.id, plan) for each in found):
        for each in [node] if isinstance(node, ast.With) else [node, *found]:
            if not guarded(each, plan):
                guard(plan, each, "file")


def _fills(statement: ast.stmt, name: str, plan: Plan) -> bool:
    """Whether a statement only puts something into the file of this name, or closes it; those in loops are asked too."""
    if isinstance(statement, ast.For | ast.If):
        return reads_only(statement.iter if isinstance(statement, ast.For) else statement.test, plan.program)
    if isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
        put = isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name
        return put and reads_only(value, plan.program)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    own = isinstance(call.func.value, ast.Name) and call.func.value.id == name
    known = call.func.attr in ("create_dataset", "close", "flush")
    return own and known and all(reads_only(each, plan.program) for each in (*call.args, *call.keywords))
