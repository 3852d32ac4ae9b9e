"""One module of a program under analysis."""

from __future__ import annotations

import ast

from distml.source.file import SourceFile
from distml.training.lexical import Lexical
from distml.training.remembered import Keeper
from distml.training.values import Value


class Unit(Keeper):
    """A file with its scopes; `starred` are the modules of its `from ... import *`, `unquoted` annotations that are strings."""

    def __init__(self, source: SourceFile) -> None:
        """Raises `UnreadableError` where the file does not parse."""
        super().__init__()
        self.source = source
        self.tree: ast.Module = source.tree
        self.lexical = Lexical(self.tree)
        self.starred: frozenset[Value] = frozenset()
        self.unquoted: dict[ast.expr, ast.expr] = {}

    def __repr__(self) -> str:
        return f"Unit({self.source.path!r})"
