"""What the text of a module says, whatever its code does: read off its tree in one walk, and kept with the tree."""

from __future__ import annotations

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
    (`patches`), attributes of objects (`changes`)."""

    mutated: frozenset[str]
    patches: Patches
    changes: FileChanges


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
        )
        setattr(tree, _REMEMBERED, known)
    return known
