"""What stands in the modules of a program and does not run in it: it is no part of the program, and left as it is.

Modules often hold more than one script needs: the preparation of data, examples under `if __name__ == "__main__":`, an older
way of training. Of a script that itself trains nothing, all functions count: others import it.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from distml.source.nodes import walk
from distml.training.remembered import remembered
from distml.training.syntax import method_name, nodes_in, only_in_script, runs_as_script
from distml.training.unit import Unit
from distml.training.values import Callable, Class, Foreign, Module

if TYPE_CHECKING:
    from distml.training.program import Program

_TRAINS = frozenset("step backward fit fit_generator train_on_batch run train".split())
_LOOKS_UP = re.compile(
    r"builtins\.(globals|eval|exec)|fire\.Fire|sys\.modules|(tensorflow|absl)\.(\w+\.)*app\.run"
    r"|importlib\.import_module|builtins\.__import__|hydra\.utils\.\w+|pydoc\.locate"
)


def only_as_script(node: ast.AST, program: Program) -> bool:
    """Whether a node stands where only the script comes to: in the body of `if __name__ == "__main__":`."""
    return any(runs_as_script(above) and inner in above.body for inner, above in program.around(node))


@remembered
def unnamed(program: Program) -> frozenset[ast.AST]:
    """The functions and classes whose names stand nowhere but in each other, and where a module is the script."""
    scripts = [unit.tree for unit in program.roots]
    modules = [unit.tree for unit in program.units.values() if unit.tree not in scripts]
    found = _left([*modules, *scripts], program)
    whole = [tree for tree in scripts if _by_name(tree, program) or not _trains(tree, found, program)]
    return _left([tree for tree in (*modules, *scripts) if tree not in whole], program) if whole else found


def _trains(tree: ast.Module, apart: frozenset[ast.AST], program: Program) -> bool:
    """Whether a module trains in what is not apart, or runs functions of the program that may."""
    calls = (call for each in tree.body if each not in apart for call in nodes_in(each, ast.Call))
    own = (
        any(isinstance(each, Callable) for each in program.of(call.func)) or method_name(call) in _TRAINS
        for call in calls
    )
    return any(own)


def _by_name(tree: ast.Module, program: Program) -> bool:
    """Whether a script may run any of its functions by a name that is not written: `fire.Fire()`, `globals()[name]`."""
    nodes = [node for node in walk(tree) if isinstance(node, ast.Attribute | ast.Name)]
    held = (node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr == "__dict__")
    whole = any(isinstance(value, Module) for each in held for value in program.of(each))
    return whole or any(program.matches(node, _LOOKS_UP) for node in nodes)


def _left(modules: list[ast.Module], program: Program) -> frozenset[ast.AST]:
    """The functions and classes of modules that nothing comes to by their names; a decorator may call what it is given."""
    kinds = (
        ast.FunctionDef,
        *(() if any(_by_name(each.tree, program) for each in program.units.values()) else (ast.ClassDef,)),
    )
    left = {each for tree in modules for each in tree.body if isinstance(each, kinds) and not each.decorator_list}
    roots = {unit.tree for unit in program.roots}
    apart = {each for tree in modules if tree not in roots for each in only_in_script(tree)}
    trees: list[ast.AST] = [unit.tree for unit in program.units.values()]
    found: set[ast.AST] = set()
    while True:
        named = {name for tree in trees for name in _named(tree, left | found | apart, program)}
        used = {each for each in left if {each, (None, each.name), (program.unit(each), each.name)} & named}
        if not used:
            return frozenset(left)
        trees, left, found = [*used], left - used, found | used


@remembered
def _imported(program: Program, unit: Unit) -> dict[str, str]:
    """The names that a module imports from others, with what they are called there."""
    statements = nodes_in(unit.tree, ast.ImportFrom)
    return {each.asname or each.name: each.name for statement in statements for each in statement.names}


def _named(tree: ast.AST, apart: set[ast.AST], program: Program) -> list[tuple[Unit | None, str] | ast.AST]:
    """The names that a part of a program reads, those in functions `apart` left out, with the module whose they are, and what it
    calls by whatever name: `getattr(models, name)()`.

    A name that stands alone is what its module binds; one that no scope binds is of any module of which it imports all there is.
    """
    names: list[tuple[Unit | None, str] | ast.AST] = []
    unit = program.unit(tree)
    imported = _imported(program, unit)
    waiting = [*ast.iter_child_nodes(tree)]
    while waiting:
        node = waiting.pop()
        if node in apart:
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name):
            owner = unit.lexical.owner_at(node.id, node)
            if node.id in imported or owner is None:
                names.append((None, imported.get(node.id, node.id)))
            elif owner is unit.tree:
                names.append((unit, node.id))
        elif isinstance(node, ast.Attribute):
            names += [(None, node.attr)] if not _of_library(node, program) else []
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.append((None, node.value.rpartition(".")[2]))
        elif isinstance(node, ast.Call):
            names += [value.node for value in program.of(node.func) if isinstance(value, Callable | Class)]
    return names


def _of_library(node: ast.Attribute, program: Program) -> bool:
    """Whether an attribute is surely one of a library: `tf.train` is no function of the program that is called `train`."""
    values = program.of(node)
    return bool(values) and all(isinstance(each, Foreign) and not each.name.startswith("?") for each in values)
