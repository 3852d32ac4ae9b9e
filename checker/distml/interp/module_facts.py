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
    (`patches`), attributes of objects (`changes`); whether it is there to fill a registry (`registers`)."""

    mutated: frozenset[str]
    patches: Patches
    changes: FileChanges
    registers: bool


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


REGISTERED = 8
"""So many functions and classes of a module with one decorator of its own package are entries of a registry."""


def _registers(source: SourceFile) -> bool:
    """Whether many functions or classes of a module have one decorator that its package defines."""
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
    return any(used[name] >= REGISTERED for name in own)
