"""What stands in the modules of a program and does not run in it: output there is left as it is.

Modules often hold more than one script needs: the preparation of data, examples under `if __name__ == "__main__":`.
"""

from __future__ import annotations

import ast

from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in, only_in_script, runs_as_script
from distml.training.unit import Unit


def runs(node: ast.AST, program: Program) -> bool:
    """Whether a node may run: not in a function of a module that nothing names, nor only when a module is the script."""
    if program.unit(node) in program.roots:
        return True
    idle = _unnamed(program)
    return not only_as_script(node, program) and not any(above in idle for above in (node, *program.ancestors(node)))


def only_as_script(node: ast.AST, program: Program) -> bool:
    """Whether a node stands where only the script comes to: in the body of `if __name__ == "__main__":`."""
    inner = node
    for above in program.ancestors(node):
        if runs_as_script(above) and inner in above.body:
            return True
        inner = above
    return False


@remembered
def _unnamed(program: Program) -> frozenset[ast.AST]:
    """The functions of modules whose names stand nowhere but in each other, and where a module is the script."""
    modules = [unit.tree for unit in program.units.values() if unit not in program.roots]
    left = {each for tree in modules for each in tree.body if isinstance(each, ast.FunctionDef)}
    apart = {each for tree in modules for each in only_in_script(tree)}
    trees: list[ast.AST] = [unit.tree for unit in program.units.values()]
    found: set[ast.AST] = set()
    while True:
        named = {name for tree in trees for name in _named(tree, left | found | apart, program)}
        used = {each for each in left if {(None, each.name), (program.unit(each), each.name)} & named}
        if not used:
            return frozenset(left)
        trees, left, found = [*used], left - used, found | used


@remembered
def _imported(program: Program, unit: Unit) -> dict[str, str]:
    """The names that a module imports from others, with what they are called there."""
    statements = nodes_in(unit.tree, ast.ImportFrom)
    return {each.asname or each.name: each.name for statement in statements for each in statement.names}


def _named(tree: ast.AST, apart: set[ast.AST], program: Program) -> list[tuple[Unit | None, str]]:
    """The names that a part of a program reads, those in functions `apart` left out, with the module whose they are.

    A name that stands alone is of its own module, unless that imports it, or all there is in another.
    """
    names: list[tuple[Unit | None, str]] = []
    unit = program.unit(tree)
    own = None if unit.starred else unit
    imported = _imported(program, unit)
    waiting = [*ast.iter_child_nodes(tree)]
    while waiting:
        node = waiting.pop()
        if node in apart:
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name):
            names.append((None, imported[node.id]) if node.id in imported else (own, node.id))
        elif isinstance(node, ast.Attribute):
            names.append((None, node.attr))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.append((None, node.value))
    return names
