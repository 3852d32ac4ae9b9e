"""The end of a script that torch.distributed runs: what holds the wrapped model lets go of it, then the process group ends.

A wrapped model keeps the group, whose threads can abort the interpreter when it ends. Variables of functions are gone by
then; what the script's own variables hold, directly or by attributes and items of objects, is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.plan import Holder, Note, Plan
from distml.source.nodes import walk
from distml.training.syntax import nodes_in, runs_as_script, targets_of
from distml.training.unit import Unit
from distml.training.values import Values

_ENDED = Note("end of the process group", "processes that end while others still communicate disturb them", "start-up")
_FREED = Note(
    "the model without its wrapper",
    "the wrapper keeps the process group, whose threads can abort the interpreter when it ends",
    "start-up",
)
_DEEPEST = 3
"""Attributes and items between a variable of the script and the object that has the model."""


def end(plan: Plan, unit: Unit, code: str, entry: bool) -> None:
    """Ask for the last thing that a script does."""
    patch, last = plan.patch(unit.tree), unit.tree.body[-1]
    guard = last if runs_as_script(last) and not last.orelse else None
    if guard is None and (not entry or isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)):
        return
    block = [*unit.tree.body, *(guard.body if guard is not None else ())]
    freed = dict.fromkeys(line for holder in plan.holders for line in _freeing(plan, unit, block, holder))
    for line, note in [*((line, _FREED) for line in freed), (code, _ENDED)]:
        if guard is not None:
            patch.end(guard, line, note)
        else:
            patch.after(last, line, note)


def _freeing(plan: Plan, unit: Unit, block: list[ast.stmt], holder: Holder) -> Iterator[str]:
    """The statements by which the variables that a script sets let go of one wrapped model."""
    if holder.begins in block:
        if not _set_after(holder.begins, holder.name, unit):
            yield f"{holder.name} = {holder.name}.module"
        return
    names = {name.id: name for each in block for name in _set_by(each)}
    places = [f"{path}.{holder.name.rpartition('.')[2]}" for path in _paths(plan, names, holder.owners)]
    if plan.program.function(holder.begins) is None and holder.name in names:
        places.append(holder.name)
    yield from (f'{each} = getattr({each}, "module", {each})' for each in places)


def _set_by(statement: ast.stmt) -> list[ast.Name]:
    """The variables that a statement of the script sets whenever it runs."""
    nodes = (node for each in targets_of(statement) for node in nodes_in(each, ast.Name))
    stored = [node for node in nodes if isinstance(node.ctx, ast.Store)]
    return stored if isinstance(statement, ast.Assign | ast.AnnAssign) else []


def _paths(plan: Plan, names: dict[str, ast.Name], owners: Values) -> list[str]:
    """How one of these variables leads to objects: `trainer`, `app.trainer`, `trainers["first"]`."""
    trees = [unit.tree for unit in plan.program.units.values()]
    steps = [node for tree in trees for node in walk(tree) if isinstance(node, ast.Attribute | ast.Subscript)]
    wanted = {(owners, "")}
    found: set[str] = set()
    for _ in range(_DEEPEST):
        for name, node in names.items():
            found |= {name + tail for held, tail in wanted if held & plan.program.of(node)}
        wanted = {
            (plan.program.of(step.value), text + tail)
            for held, tail in wanted
            for step in steps
            if held & plan.program.of(step) and (text := _step(step))
        }
    return sorted(found)


def _step(node: ast.Attribute | ast.Subscript) -> str:
    """An attribute, or an item by a constant; nothing for others."""
    if isinstance(node, ast.Attribute):
        return f".{node.attr}"
    return f"[{ast.unparse(node.slice)}]" if isinstance(node.slice, ast.Constant) else ""


def _set_after(statement: ast.stmt, name: str, unit: Unit) -> bool:
    """Whether a name is given something else, or is taken away, behind a statement."""
    targets = (each for each in walk(unit.tree) if isinstance(each, ast.Name | ast.Attribute))
    return any(
        each.lineno >= statement.lineno and not isinstance(each.ctx, ast.Load) and ast.unparse(each) == name
        for each in targets
    )
