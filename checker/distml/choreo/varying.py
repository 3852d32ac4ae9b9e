"""Which variables of a file, and names that it imports, need not be the same at each party.

They vary where they are set from something of a party's own, where a function changes them, and where code that names no
variable may set any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

from distml.choreo.changes import changed
from distml.choreo.hints import Hints
from distml.choreo.library import CONTEXTS, REFLECTION, in_library
from distml.choreo.sharing import is_iterator
from distml.choreo.surroundings import Surroundings, defines


def varying(around: Surroundings, depends: Callable[[ast.stmt], bool]) -> frozenset[str]:
    """The variables of a file, and names of the standard library, that need not be the same at each party; `depends` says
    whether a statement depends on something of a party's own."""
    given: dict[str, list[ast.stmt]] = {}
    for each in around.local:
        if not isinstance(each, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            for name in defines(each):
                given.setdefault(name, []).append(each)
    found = {
        name for name, each in given.items() if len(each) > 1 or not isinstance(each[0], ast.Assign | ast.AnnAssign)
    }
    for name, statements in given.items():  # each may use those before it
        around.told_to_vary = frozenset(found)
        around.judged.clear()
        if any(map(depends, statements)) or is_iterator(
            Hints(around, {}, lambda node: None).of(ast.Name(name, ast.Load()))
        ):
            found.add(name)
    for node in ast.walk(around.tree):
        if isinstance(node, ast.FunctionDef):
            found |= changed(node, around) & (given.keys() | around.imports().keys())
    mentioned = _mentioned(around)
    if mentioned & REFLECTION:
        found |= given.keys()
    if mentioned & {f"decimal.{each}" for each in CONTEXTS}:
        found |= {"decimal", "Decimal"}
    for name, path in around.imports().items():
        home = path.rpartition(".")[0]
        if home.partition(".")[0] in sys.stdlib_module_names and not in_library(path):
            found.add(name)
    around.judged.clear()
    return frozenset(found)


def _mentioned(around: Surroundings) -> set[str]:
    """The qualified names of what a file imports, and of what it uses of Python's own and of modules."""
    nodes, imports, defined = list(ast.walk(around.tree)), around.imports(), around.defined()
    found = {path for each in imports.values() for path in (each, each.partition(".")[0])}
    of_objects = {id(each.func) for each in nodes if isinstance(each, ast.Call) and each.args}
    for each in nodes:
        if isinstance(each, ast.Name) and each.id not in defined:
            found |= {each.id} - ({"vars"} if id(each) in of_objects else set())
        elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            found.add(f"{imports.get(each.value.id, each.value.id)}.{each.attr}")
    return found
