"""The end of a run that has no room."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast


class TooDeepError(RecursionError):
    """A statement of the checked file is nested too deeply to be run."""

    def __init__(self, statement: ast.stmt) -> None:
        super().__init__()
        self.statement = statement
