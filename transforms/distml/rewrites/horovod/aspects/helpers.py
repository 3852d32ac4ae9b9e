"""Functions of files that must not change: calls of those that only print, draw and write are left to rank 0.

Where a file is among the paths, its own statements are put under rank 0. Where it is not, what calls it is all that can
change; what no such call covers is said, once for each file.
"""

from __future__ import annotations

import ast
import os
import re

from distml.rewrites.horovod.aspects import outputs
from distml.rewrites.horovod.aspects.destinations import opens_to_write, recorded
from distml.rewrites.horovod.aspects.during import since_training
from distml.rewrites.horovod.aspects.purity import filling, reads_only
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.around import owner_of
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in

_READS = re.compile(r"(builtins|io|codecs)\.open(\(\)\.(read|readline|readlines|close))?")
_HARMLESS = re.compile(rf"{_READS.pattern}|(matplotlib|seaborn|mpl_toolkits|PIL)\.[\w.()\[\]]+|scipy\.misc\.\w+")
"""What draws in the memory of its process, or reads a file: nothing outside depends on it."""
_DEEPEST = 3
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def by_rank_zero(plan: Plan) -> None:
    """Put the calls under rank 0, and warn of the files that go on to print or write on every rank."""
    for location in list(plan.worlds):
        for node in walk(plan.program.units[location].tree):
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(node, ast.Expr) and isinstance(call, ast.Call) and not outputs.guarded(node, plan):
                kind = _kind_of(call, plan) if node not in plan.program.idle else None
                if kind is not None:
                    outputs.by_first(node, call, kind, plan)
    _warn(plan)


def read_again(plan: Plan) -> None:
    """Put calls of functions under rank 0 that write files, by commands too, and read them for nothing but what they write.

    On another rank such a function would read what rank 0 has not written yet, or has removed.
    """
    program = plan.program
    functions = {
        each for call in program.calls if _runs_command(call, program) for each in [program.function(call)] if each
    }
    for function in sorted(functions, key=lambda each: each.lineno):
        calls = program.calling(function)
        alone = all(isinstance(program.parent(each), ast.Expr) and since_training(each, plan) for each in calls)
        if calls and alone and all(map(plan.may_change, (function, *calls))) and _made_by(function, program, _DEEPEST):
            if any(program.matches(each.func, _READS) for each in nodes_in(function, ast.Call)):
                plan.alone.add(function)
                for call in calls:
                    statement = program.statement(call)
                    if isinstance(statement, ast.Expr) and not outputs.guarded(statement, plan):
                        outputs.by_first(statement, call, "file", plan)


def _runs_command(call: ast.Call, program: Program) -> bool:
    return bool(program.callee(call) & outputs.COMMANDS)


def _kind_of(call: ast.Call, plan: Plan) -> str | None:
    """What sort of output a call of such a function makes; None where it may do something else, or is none of them.

    Files that are written before the training begins are left: they may be data, which all ranks go on to read.
    """
    program = plan.program
    functions = program.functions(call.func)
    if not functions or any(plan.may_change(each) for each in functions):
        return None
    made = [_made_by(each, program, _DEEPEST) for each in functions]
    kinds = {kind for each in made for kind in each or ()}
    if not all(made) or ("file" in kinds and not since_training(call, plan)):
        return None
    return next(kind for kind in ("file", "log", "output", "summary") if kind in kinds)


def _warn(plan: Plan) -> None:
    """Name the files beside the script that print or write on every rank, because they must not change."""
    program = plan.program
    folders = {os.path.join(os.path.dirname(unit.source.location), "") for unit in program.roots}
    for location, unit in program.units.items():
        if location in plan.editable or not any(location.startswith(each) for each in folders):
            continue
        calls = (each for each in nodes_in(unit.tree, ast.Call) if each not in program.idle)
        left = next((each for each in calls if _puts_out(each, program) and not _covered(each, plan)), None)
        if left is not None and not any(plan.program.unit(each.node) is unit for each in plan.warnings):
            what = "this file is not among the paths: every rank prints or writes here"
            plan.warn("HVD306", left, what, f"give {unit.source.path} as well")


def _puts_out(call: ast.Call, program: Program) -> bool:
    events = recorded(call, program)
    private = outputs.private(call, program)
    return (outputs.kind_of(call, program) is not None and not private) or (events is not None and events.to_write)


def _covered(call: ast.Call, plan: Plan, depth: int = _DEEPEST) -> bool:
    """Whether a call only runs under rank 0, in all that leads to the function around it."""
    function = plan.program.function(call)
    if function is None or not depth:
        return False
    calls = plan.program.calling(function)
    return bool(calls) and all(_first_only(each, plan) or _covered(each, plan, depth - 1) for each in calls)


def _first_only(call: ast.Call, plan: Plan) -> bool:
    program = plan.program
    if program.unit(call).source.location not in plan.editable:
        return False
    return outputs.guarded(program.statement(call), plan) or call.func in plan.patch(call).requests.expressions


@remembered
def _made_by(function: _Function, program: Program, depth: int) -> frozenset[str] | None:
    """The sorts of output that a function makes; None where it may do something that other ranks rely on."""
    own = [each for statement in _body(function) for each in walk(statement)]
    changed = (each for each in own if isinstance(each, ast.Name | ast.Attribute | ast.Subscript))
    if any(isinstance(each, ast.Nonlocal | ast.Delete | ast.Yield | ast.YieldFrom) for each in own):
        return None
    if not all(_kept(each, function, program) for each in changed if isinstance(each.ctx, ast.Store)):
        return None
    kinds: set[str] = set()
    harmless: set[ast.AST] = {*filling(function, program)}
    for call in (each for each in own if isinstance(each, ast.Call)):
        inner = _inner(call, program, depth)
        if outputs.checkpoint(call, program):
            return None
        command = _runs_command(call, program)
        if inner is not None or command or opens_to_write(call, program) or program.matches(call.func, _HARMLESS):
            harmless.add(call)
            kinds |= (inner or set()) | ({"file"} if command else set())
    return frozenset(kinds) if all(reads_only(each, program, depth, harmless) for each in _body(function)) else None


def _inner(call: ast.Call, program: Program, depth: int) -> frozenset[str] | None:
    """The sorts of output that a call inside such a function makes."""
    known = outputs.kind_of(call, program)
    if known is not None:
        return frozenset({known})
    called = program.functions(call.func)
    made = [_made_by(each, program, depth - 1) for each in called] if depth else []
    return frozenset(kind for each in made for kind in each or ()) if made and None not in made else None


def _body(function: _Function) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else [*function.body]


def _kept(target: ast.Name | ast.Attribute | ast.Subscript, function: _Function, program: Program) -> bool:
    """Whether what is stored stays in a function: its variables, what it has made, a global that nothing else reads."""
    if isinstance(target, ast.Attribute):
        return False
    base = target if isinstance(target, ast.Name) else target.value
    if not isinstance(base, ast.Name):
        return False
    uses = [each for each in nodes_in(program.unit(function).tree, ast.Name) if each.id == base.id]
    shared = any(isinstance(each, ast.Global) and base.id in each.names for each in walk(function))
    if shared:
        here = (function, program.unit(function).tree)
        return all(isinstance(each.ctx, ast.Store) or owner_of(each, program) in here for each in uses)
    if isinstance(target, ast.Name):
        return True
    given = [each.value for each in nodes_in(function, ast.Assign) if base.id in map(ast.unparse, each.targets)]
    return bool(given) and all(isinstance(each, ast.Call | ast.BinOp | ast.List | ast.Dict) for each in given)
