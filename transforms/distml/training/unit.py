"""One module of a program under analysis."""

from __future__ import annotations

import ast

from distml.source.file import SourceFile
from distml.training.lexical import lexical_of
from distml.training.remembered import Keeper
from distml.training.values import Value


class Unit(Keeper):
    """A file with its scopes; `starred` are the modules of its `from ... import *`."""

    def __init__(self, source: SourceFile) -> None:
        """Raises `UnreadableError` where the file does not parse."""
        super().__init__()
        self.source = source
        self.tree: ast.Module = source.tree
        self.lexical = lexical_of(source)
        self.starred: frozenset[Value] = frozenset()

    def __repr__(self) -> str:
        return f"Unit({self.source.path!r})"
