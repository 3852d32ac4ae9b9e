"""How a file spells what it needs of a library: by what it imports already, else by an import that is added."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from distml.rewrites.horovod.aspects.anchors import anchor_of
from distml.rewrites.horovod.aspects.setup import behind_start
from distml.rewrites.horovod.aspects.versions import keras_alone, modern
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in
from distml.training.unit import Unit
from distml.training.values import Foreign

_KERAS = {"tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2"}


_FEW = 32
"""Numbers of steps below this may be fewer than there are ranks."""

_MODULES = {"tensorflow", "tensorflow.compat.v1"}


def spell(plan: Plan, node: ast.AST, path: str, at_start: bool = False) -> str:
    """The expression by which the file of `node` reaches `path`, such as `keras.callbacks.Callback` or `numpy.random`.

    An import is added to those of the start-up where the file has none that leads there: to `node`, or to what stands
    behind the start-up itself.
    """
    unit = plan.program.unit(node)
    line = unit.tree.body[-1].lineno if plan.program.function(node) else plan.program.statement(node).lineno
    if at_start:
        torch = any(loop.start == "torch" for loop in plan.loops)
        anchor = anchor_of(unit, "torch" if torch else "tensorflow")
        line = anchor.lineno if anchor is not None else 0
    found = [each for name in _imported(unit, line) if (each := _reached(plan, unit, name, path))]
    if found:
        return min(found, key=lambda each: each.count("."))
    return _added(plan, node, unit, path)


@dataclass(frozen=True)
class Spelled:
    """What the file of a node calls the things of libraries, by their paths, for templates: `{0[os.devnull]}`."""

    plan: Plan
    node: ast.AST

    def __getitem__(self, path: str) -> str:
        return spell(self.plan, self.node, path)


def _imported(unit: Unit, line: int) -> dict[str, None]:
    """The names that the imports at the top of a module bind up to a line, in their order."""
    found: dict[str, None] = {}
    for statement in (each for each in unit.tree.body if each.lineno <= line):
        for each in walk(statement) if isinstance(statement, ast.Try | ast.If) else [statement]:
            if isinstance(each, ast.Import | ast.ImportFrom):
                bound = (alias.asname or alias.name.partition(".")[0] for alias in each.names if alias.name != "*")
                found |= dict.fromkeys(bound)
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
        if value.name in _KERAS and path.startswith("keras.") and not keras_alone(plan.program):
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
        alias = f"{module} as {name}" if name != module else module
        inner = module == "keras" and not keras_alone(plan.program)
        code = f"from tensorflow import {alias}" if inner else f"import {alias}"
        note = Note(f"import of {module}", "the added code uses it", "start-up")
        behind_start(plan, unit, code, note, imports=True)
    return f"{name}.{rest}"


@remembered
def module_of(call: ast.expr, program: Program) -> str:
    """How the file of a call spells the module with the names of TensorFlow 1; `tf` where it imports none."""
    return tensorflow_at(call, program) or "tf"


def horovod_of(plan: Plan, node: ast.AST) -> str:
    """How the file of a node reaches `horovod.tensorflow`, which hands objects on: its module for Keras does not."""
    alone = all(loop.start == "keras" for loop in plan.loops)
    return spell(plan, node, "horovod.tensorflow", at_start=True) if alone else plan.world(node).module


@remembered
def tensorflow_at(call: ast.AST, program: Program) -> str | None:
    """The same; None where the file imports none."""
    for node in walk(call.func) if isinstance(call, ast.Call) else ():
        if isinstance(node, ast.Name | ast.Attribute) and program.names(node) & _MODULES:
            return _spelled(node, program)
    for node in nodes_in(program.unit(call).tree, ast.Name):
        if program.names(node) & _MODULES:
            return _spelled(node, program)
    return None


def _spelled(node: ast.Name | ast.Attribute, program: Program) -> str:
    text = ast.unparse(node)
    return f"{text}.compat.v1" if "tensorflow" in program.names(node) and modern(program) else text


def quotient(steps: ast.expr, size: str) -> str:
    """What a number of steps becomes for a rank; of a few that are written out, and of at least one, one is left however
    many ranks there are.
    """
    given = steps.args if isinstance(steps, ast.Call) and ast.unparse(steps.func) == "max" else [steps]
    numbers = [each.value for each in given if isinstance(each, ast.Constant)]
    few = any(isinstance(each, int) and 0 < each < _FEW for each in numbers)
    return f"max(1, {{}} // {size})" if few else f"{{}} // {size}"
