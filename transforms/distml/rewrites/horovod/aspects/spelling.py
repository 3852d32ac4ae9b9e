"""How a file spells what it needs of a library: by what it imports already, else by an import that is added."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.setup import anchor_of, behind_start
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.unit import Unit
from distml.training.values import Foreign

_KERAS = {"tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2"}


def spell(plan: Plan, node: ast.AST, path: str, at_start: bool = False) -> str:
    """The expression by which the file of `node` reaches `path`, such as `keras.callbacks.Callback` or `numpy.random`.

    An import is added behind the start-up where the file has none that leads there: to `node`, or to what stands behind
    the start-up itself.
    """
    unit = plan.program.unit(node)
    line = unit.tree.body[-1].lineno if plan.program.function(node) else plan.program.statement(node).lineno
    if at_start:
        torch = any(loop.start == "torch" for loop in plan.loops)
        anchor = anchor_of(unit, "torch" if torch else "tensorflow")
        line = anchor.lineno if anchor is not None else 0
    found = [each for name in sorted(_imported(unit, line)) if (each := _reached(plan, unit, name, path))]
    if found:
        return min(found, key=lambda each: (len(each), each))
    return _added(plan, node, unit, path)


def _imported(unit: Unit, line: int) -> set[str]:
    """The names that the imports at the top of a module bind up to a line."""
    found: set[str] = set()
    for statement in (each for each in unit.tree.body if each.lineno <= line):
        for each in ast.walk(statement) if isinstance(statement, ast.Try | ast.If) else [statement]:
            if isinstance(each, ast.Import | ast.ImportFrom):
                found |= {alias.asname or alias.name.partition(".")[0] for alias in each.names if alias.name != "*"}
    return found


def _reached(plan: Plan, unit: Unit, name: str, path: str) -> str | None:
    """How `path` is reached from an imported name, if it is."""
    for value in plan.program.store.read("name", unit.tree, name):
        if not isinstance(value, Foreign) or value.node is not None:
            continue
        if value.name == path:
            return name
        if path.startswith(value.name + "."):
            return name + path[len(value.name) :]
        if value.name in _KERAS and path.startswith("keras."):
            return f"{name}.{path}"
    return None


def _added(plan: Plan, node: ast.AST, unit: Unit, path: str) -> str:
    plan.world(node)
    patch = plan.patch(node)
    module, _, rest = path.partition(".")
    usual = {"numpy": "np", "tensorflow": "tf"}.get(module, module)
    key = (unit.source.location, module)
    name = plan.spelled.get(key)
    if name is None:
        meant = {
            (value.name, value.node)
            for value in plan.program.store.read("name", unit.tree, usual)
            if isinstance(value, Foreign)
        }
        name = plan.spelled[key] = usual if meant == {(module, None)} else patch.free(usual)
        code = f"from tensorflow import keras as {name}" if module == "keras" else f"import {module} as {name}"
        code = code.replace(f" {module} as {module}", f" {module}")
        behind_start(plan, unit, code, Note(f"import of {module}", "what is added here needs it", "start-up"))
    return f"{name}.{rest}"
