"""Files that are opened in one statement and written in others: every rank would empty what rank 0 writes.

All ranks open the file, since all of them go on to use it; those but rank 0 get one that forgets what is written to it.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.idle import runs
from distml.rewrites.horovod.aspects.outputs import guarded, kind_of, on_each_machine, opens_to_write, private
from distml.rewrites.horovod.aspects.setup import started
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.callsites import argument
from distml.training.values import Callable, Class

_NOTE = Note(
    "a file for rank 0, nothing for the others",
    "a rank that opens the file for writing empties it, whatever rank 0 has written",
    "rank-zero-output",
)
_LOOKS = ("exists", "isfile", "makedirs", "mkdir", "dirname", "basename", "join")


def apart(plan: Plan) -> None:
    """Let rank 0 alone open what all go on to write, unless the program reads that file too."""
    for unit in plan.units():
        for node in (
            ast.walk(unit.tree) if unit.source.location in plan.worlds or unit not in plan.program.roots else ()
        ):
            found = [node.value] if isinstance(node, ast.Assign) else []
            found = [item.context_expr for item in node.items] if isinstance(node, ast.With) else found
            for call in found:
                if isinstance(call, ast.Call) and opens_to_write(call, plan.program) and started(plan, call):
                    if runs(node, plan.program) and not _under_rank_zero(node, plan):
                        _open(plan, call)


def _under_rank_zero(node: ast.AST, plan: Plan) -> bool:
    if not isinstance(node, ast.stmt):
        return False
    asked = plan.patch(node).requests.statements
    return guarded(node, plan) or (node in asked and asked[node].guard is not None)


def _open(plan: Plan, call: ast.Call) -> None:
    path, mode = argument(call, 0, "file"), argument(call, 1, "mode")
    plain = isinstance(mode, ast.Constant) and isinstance(mode.value, str) and not set(mode.value) & set("+x")
    if path is None or on_each_machine(call, plan) or not plain or private(call, plan.program) or is_read(plan, path):
        return
    world = plan.world(call)
    plan.patch(call).wrap(path, f"{{}} if {world.first} else {spell(plan, call, 'os.devnull')}", _NOTE)


def is_read(plan: Plan, path: ast.expr) -> bool:
    """Whether a call is given the same path to do more than write the file, or tell of it."""
    text = ast.unparse(path)
    for call in plan.program.calls:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        own = any(isinstance(value, Callable | Class) for value in plan.program.of(call.func))
        if not own and any(ast.unparse(each) == text for each in given):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            told = kind_of(call, plan.program) == "output" or name in _LOOKS
            if not told and not opens_to_write(call, plan.program):
                return True
    return False
