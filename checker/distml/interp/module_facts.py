"""What the text of a module says, whatever its code does: read off its tree in one walk, and kept with the tree."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.changes import FileChanges, changes_at
from distml.interp.patches import Patches, patches_at
from distml.interp.private import mangle
from distml.interp.scope import modules_bound, mutated_at
from distml.interp.sites import sites_in

if TYPE_CHECKING:
    from distml.source.file import SourceFile


class ModuleFacts(NamedTuple):
    """What the code of a module changes: its own variables from functions (`mutated`), libraries and classes
    (`patches`), attributes of objects (`changes`); the decorators by which it fills a registry, if it is there for that
    (`registers`)."""

    mutated: frozenset[str]
    patches: Patches
    changes: FileChanges
    registers: frozenset[str]


_REMEMBERED = "distml_module_facts"


def facts_of(source: SourceFile) -> ModuleFacts:
    """The facts of a file. Private names in its tree are from now on as Python understands them.

    Raises `UnreadableError` where the file cannot be parsed.
    """
    tree = source.tree
    known: ModuleFacts | None = getattr(tree, _REMEMBERED, None)
    if known is None:
        mangle(tree, source.text)
        sites = sites_in(tree)
        known = ModuleFacts(
            mutated_at(sites, frozenset(modules_bound(tree.body))),
            patches_at(sites, dispatching="__torch_function__" in source.text),
            changes_at(sites),
            _registers(source),
        )
        setattr(tree, _REMEMBERED, known)
    return known


REGISTERED = 4
"""So many functions and classes of a module with one decorator of its own package are entries of a registry."""


def _registers(source: SourceFile) -> frozenset[str]:
    """The decorators that many functions or classes of a module have and its package defines."""
    package = source.module.partition(".")[0]
    own: set[str] = set()
    used: Counter[str] = Counter()
    for statement in source.tree.body:
        if isinstance(statement, ast.ImportFrom):
            inside = statement.level > 0 or (statement.module or "").partition(".")[0] == package
            own |= {each.asname or each.name for each in statement.names} if inside else set()
        elif isinstance(statement, ast.FunctionDef | ast.ClassDef):
            own.add(statement.name)
            called = (each.func if isinstance(each, ast.Call) else each for each in statement.decorator_list)
            used.update({each.id for each in called if isinstance(each, ast.Name)})
    return frozenset(name for name in own if used[name] >= REGISTERED)


_OWN_NAMES = ("globals(", "locals(", "vars(")


def entries_of(source: SourceFile) -> dict[str, ast.stmt]:
    """The functions of a module that are there to be found in a registry, and tables about them: nothing else in the module
    speaks of them. Nobody needs one before it is asked for by its name."""
    registers = facts_of(source).registers
    if not registers or any(each in source.text for each in _OWN_NAMES):
        return {}
    names = [each for each in ast.walk(source.tree) if isinstance(each, ast.Name)]
    taken = {each.id for each in names if not isinstance(each.ctx, ast.Store)}
    bound = Counter(each.id for each in names if isinstance(each.ctx, ast.Store))
    bound.update(each.name for each in source.tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef))
    lonely = frozenset(name for name, count in bound.items() if count == 1) - taken
    functions = [each for each in source.tree.body if isinstance(each, ast.FunctionDef) and _decorated(each, registers)]
    found: dict[str, ast.stmt] = {
        each.name: each for each in functions if each.name in lonely and _decorated(each, registers, bare=True)
    }
    if len(found) == len(functions):
        found |= {name: each for each in source.tree.body for name in [_table_in(each)] if name in lonely}
    return found


def _decorated(node: ast.FunctionDef, registers: frozenset[str], bare: bool = False) -> bool:
    """Whether a function is registered; `bare`: by its name alone."""
    called = {each.func: each for each in node.decorator_list if isinstance(each, ast.Call)}
    names = [each for each in (*node.decorator_list, *called) if isinstance(each, ast.Name) and each.id in registers]
    return any(not bare or each not in called or not called[each].args + called[each].keywords for each in names)


def _table_in(node: ast.stmt) -> str | None:
    """The name that a table of many entries is given."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return None
    given = node.value.args if isinstance(node.value, ast.Call) else [node.value]
    many = any(isinstance(each, ast.Dict) and len(each.keys) >= REGISTERED for each in given)
    return node.targets[0].id if many else None
