"""Files that are opened in one statement and written in others: every rank would empty what rank 0 writes.

All ranks open the file, since all of them go on to use it; those but rank 0 get one that forgets what is written to it, or
where that cannot be, one of their own that nobody reads.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from distml.rewrites.horovod.aspects.anchors import started
from distml.rewrites.horovod.aspects.destinations import (
    FILE,
    FOLDER,
    Opened,
    locked,
    logged,
    opened,
    opens_to_write,
    recorded,
)
from distml.rewrites.horovod.aspects.origins import wholes
from distml.rewrites.horovod.aspects.outputs import guarded, kind_of, on_each_machine, private
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import loops_around, owner_of
from distml.training.callsites import argument_for, called, positional
from distml.training.program import Program
from distml.training.syntax import nodes_in, values_given
from distml.training.values import Callable, Class, Constant

_NOTE = Note(
    "opened on rank 0 only",
    "opening a file for writing truncates it, including what rank 0 has written",
    "rank-zero-output",
)
_EVENTS = Note(
    "events recorded by rank 0",
    "every rank would create an event file in the same folder; ranks other than 0 write to a temporary folder",
    "rank-zero-output",
)
_LOOKS = tuple(
    "exists isfile is_file is_dir makedirs mkdir dirname basename join remove unlink write_text write_bytes"
    " splitext abspath realpath normpath expanduser endswith startswith".split()
)
_WRITING = ("write", "writelines", "flush", "close")


def apart(plan: Plan) -> None:
    """Let rank 0 alone open what all go on to write, unless the program reads that file too."""
    for unit in plan.units():
        if unit.source.location not in plan.worlds and unit in plan.program.roots:
            continue
        for call in nodes_in(unit.tree, ast.Call):
            ways = (way(call, plan.program) for way in (opened, locked, logged, recorded))
            found = next(filter(None, ways), None)
            if found is not None and found.to_write and started(plan, call) and call not in plan.program.idle:
                if not guarded(plan.program.statement(call), plan):
                    _open(plan, call, found)


def _open(plan: Plan, call: ast.Call, found: Opened) -> None:
    plain = found.mode is not None and "x" not in found.mode and ("+" not in found.mode or _only_written(call, plan))
    if on_each_machine(call, plan) or not plain or private(call, plan.program):
        return
    if found.instead == FOLDER:
        first = plan.world(call).first
        own = f"{spell(plan, call, 'tempfile.mkdtemp')}()"
        if found.path is None:
            plan.patch(call).keyword(call, "log_dir", f"None if {first} else {own}", _EVENTS)
        else:
            plan.patch(call).wrap(found.path, f"{{}} if {first} else {own}", _EVENTS)
    elif found.path is not None and not is_read(plan, found.path, opening=[call]):
        plan.patch(call).wrap(found.path, _or_nowhere(plan, call, found.path, found.instead), _NOTE)


def _only_written(call: ast.Call, plan: Plan) -> bool:
    """Whether nothing but writing is done with a file that might be read too."""
    above = plan.program.parent(call)
    target = above.targets[0] if isinstance(above, ast.Assign) else getattr(above, "optional_vars", None)
    if not isinstance(target, ast.Name | ast.Attribute):
        return isinstance(above, ast.Attribute) and above.attr in _WRITING
    scope: ast.AST | None = plan.program.unit(call).tree
    if isinstance(target, ast.Name):
        scope = plan.program.parent(above) if isinstance(above, ast.withitem) else owner_of(call, plan.program)
    same = (each for each in walk(scope or call) if isinstance(each, type(target)) and isinstance(each.ctx, ast.Load))
    uses = [each for each in same if ast.unparse(each) == ast.unparse(target) and _may_be(each, call, plan.program)]
    return all(isinstance(each, ast.Attribute) and each.attr in _WRITING for each in map(plan.program.parent, uses))


def _may_be(use: ast.expr, call: ast.Call, program: Program) -> bool:
    """Whether a variable may hold the file of this call where it is read: the block around it, or an assignment, says which."""
    for above in program.ancestors(use):
        for item in above.items if isinstance(above, ast.With) else ():
            if item.optional_vars is not None and ast.unparse(item.optional_vars) == ast.unparse(use):
                return item.context_expr is call
    held = wholes(use, program)
    return not held or call in held


def _or_nowhere(plan: Plan, call: ast.Call, path: ast.expr, instead: str) -> str:
    """What the expression of a path becomes: that on rank 0, else what is given `instead`."""
    first = plan.world(call).first
    if instead == FILE:
        join, folder = spell(plan, call, "os.path.join"), spell(plan, call, "tempfile.mkdtemp")
        name = f"{spell(plan, call, 'os.path.basename')}({ast.unparse(path)})"
        return f"{{}} if {first} else {join}({folder}(), {name})"
    nowhere = spell(plan, call, "os.devnull")
    if isinstance(call.func, ast.Attribute) and path is call.func.value:
        return f"({{}} if {first} else {spell(plan, call, 'pathlib.Path')}({nowhere}))"
    return f"{{}} if {first} else {nowhere}"


def is_read(plan: Plan, path: ast.expr, depth: int = 3, opening: Collection[ast.Call] = ()) -> bool:
    """Whether the program does more with a path than write the file, or tell of it; functions that get it are followed.

    What a function has read before it opens the file to write, all ranks read; `opening` are the calls of such a function.
    """
    program, text = plan.program, ast.unparse(path)
    owner = _owner(path, program) if isinstance(path, ast.Name) else None
    others = [each for each in program.calls if each not in opening]
    if owner is None:
        return _among(plan, others, text, depth)
    again = any(loops_around(path, program))
    behind = (each for each in others if again or (each.end_lineno or 0) >= path.lineno)
    if _among(plan, [call for call in behind if program.function(call) is owner], text, depth):
        return True
    calls = program.calling(owner) if text in positional(owner) else []
    given = [argument_for(call, owner, text, program) for call in calls]
    return depth > 0 and any(is_read(plan, each, depth - 1, calls) for each in given if each is not None)


def _owner(name: ast.Name, program: Program) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function to which a variable belongs; None for those of modules, or of functions around."""
    function = program.function(name)
    return function if program.owner(name) is function else None


def _among(plan: Plan, calls: list[ast.Call], text: str, depth: int) -> bool:
    return any(_reads(plan, call, text, depth) for call in calls)


def _reads(plan: Plan, call: ast.Call, text: str, depth: int) -> bool:
    """Whether a call that is given what is written as `text`, or made on it, reads the file of this name."""
    program = plan.program
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    given = values_given(call)
    if not any(ast.unparse(each) == text for each in (*receiver, *given)) or any(
        _is_text(each, plan) for each in receiver
    ):
        return False
    if call in program.idle:
        return False
    own = [value for value in program.of(call.func) if isinstance(value, Callable | Class)]
    for function in _bodies(own) if depth > 0 else ():
        inside = [each for each in program.calls if program.function(each) is function]
        for name in positional(function):
            passed = argument_for(call, function, name, program)
            if passed is not None and ast.unparse(passed) == text:
                if _among(plan, inside, name, depth - 1) or _kept(plan, function, name, depth - 1):
                    return True
    told = kind_of(call, program) == "output" or called(call, program) in _LOOKS
    writes = opens_to_write(call, program) or logged(call, program) is not None
    return not (own or told or writes)


def _is_text(node: ast.expr, plan: Plan) -> bool:
    """Whether something is a text, whose methods make texts and touch no file."""
    found = plan.program.of(node)
    known = bool(found) and all(isinstance(each, Constant) and isinstance(each.value, str) for each in found)
    return known or isinstance(node, ast.JoinedStr)


def _bodies(own: list[Callable | Class]) -> list[ast.FunctionDef]:
    """What is run where functions are called and objects of classes made."""
    functions = [each.node for each in own if isinstance(each, Callable) and isinstance(each.node, ast.FunctionDef)]
    members = [node for each in own if isinstance(each, Class) for node in each.node.body]
    inits = [each for each in members if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    return [*dict.fromkeys(functions), *inits]


def _kept(plan: Plan, function: ast.FunctionDef, name: str, depth: int) -> bool:
    """Whether a method keeps a path in an attribute of its object, from where methods read the file."""
    program = plan.program
    owner = program.parent(function)
    if not isinstance(owner, ast.ClassDef):
        return False
    stored = {
        ast.unparse(target)
        for node in nodes_in(function, ast.Assign)
        if isinstance(node.value, ast.Name) and node.value.id == name
        for target in node.targets
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
    }
    calls = [each for each in program.calls if owner in program.ancestors(each)] if stored else []
    return any(_among(plan, calls, text, depth) for text in stored)
