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
from distml.training.callsites import argument, argument_for, called, positional
from distml.training.program import Program
from distml.training.values import Callable, Class

_NOTE = Note(
    "opened on rank 0 only",
    "opening a file for writing truncates it, including what rank 0 has written",
    "rank-zero-output",
)
_LOOKS = ("exists", "isfile", "makedirs", "mkdir", "dirname", "basename", "join", "remove", "unlink")


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


def is_read(plan: Plan, path: ast.expr, depth: int = 3) -> bool:
    """Whether the program does more with a path than write the file, or tell of it; functions that get it are followed."""
    program, text = plan.program, ast.unparse(path)
    owner = _owner(path, program) if isinstance(path, ast.Name) else None
    if owner is None:
        return _among(plan, program.calls, text, depth)
    if _among(plan, [call for call in program.calls if program.function(call) is owner], text, depth):
        return True
    given = (
        [argument_for(call, owner, text, program) for call in program.calling(owner)]
        if text in positional(owner)
        else []
    )
    return depth > 0 and any(is_read(plan, each, depth - 1) for each in given if each is not None)


def _owner(name: ast.Name, program: Program) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function to which a variable belongs; None for those of modules, or of functions around."""
    lexical = program.unit(name).lexical
    owner, function = lexical.owner(name.id, lexical.scope(name)), program.function(name)
    return function if owner is function else None


def _among(plan: Plan, calls: list[ast.Call], text: str, depth: int) -> bool:
    return any(_reads(plan, call, text, depth) for call in calls)


def _reads(plan: Plan, call: ast.Call, text: str, depth: int) -> bool:
    """Whether a call that is given what is written as `text` reads the file of this name."""
    program = plan.program
    if not any(ast.unparse(each) == text for each in (*call.args, *(keyword.value for keyword in call.keywords))):
        return False
    own = [value for value in program.of(call.func) if isinstance(value, Callable | Class)]
    functions = {each for each in own if isinstance(each, Callable) and isinstance(each.node, ast.FunctionDef)}
    inits = (node for each in own if isinstance(each, Class) for node in each.node.body)
    bodies = [each.node for each in functions] + [n for n in inits if getattr(n, "name", "") == "__init__"]
    for function in (each for each in bodies if isinstance(each, ast.FunctionDef) and depth > 0):
        inside = [each for each in program.calls if program.function(each) is function]
        for name in positional(function):
            given = argument_for(call, function, name, program)
            if given is not None and ast.unparse(given) == text and _among(plan, inside, name, depth - 1):
                return True
    told = kind_of(call, program) == "output" or called(call, program) in _LOOKS
    return not (own or told or opens_to_write(call, program))
