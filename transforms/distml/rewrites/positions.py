"""The text of a LibCST module, and where its nodes stand, found while it is written once.

LibCST itself makes a generator for each node that it writes; its provider visits the module once more without need, and makes
three objects for each node.
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from types import TracebackType

import libcst as cst
from libcst._nodes.internal import CodegenState

Place = tuple[int, int]
"""A line from 1, and a column from 0 in characters."""
_BREAK = re.compile(r"\r\n?|\n")


def written(module: cst.Module) -> tuple[str, dict[cst.CSTNode, tuple[Place, Place]]]:
    """The text of a module, and where each node begins and ends, as LibCST's `PositionProvider` counts it."""
    state = _State(module.default_indent, module.default_newline)
    module._codegen(state)
    return "".join(state.tokens), state.found


def code_of(module: cst.Module) -> str:
    """The text of a module."""
    state = _Text(module.default_indent, module.default_newline)
    module._codegen(state)
    return "".join(state.tokens)


class _Text(CodegenState):
    """What LibCST writes a module to, if nobody asks for places."""

    def record_syntactic_position(self, *_: object, **__: object) -> nullcontext[None]:  # type: ignore[override]
        """Nothing to note."""
        return _NOTHING


_NOTHING = nullcontext()


class _State(CodegenState):
    """What LibCST writes a module to."""

    def __init__(self, indent: str, newline: str) -> None:
        super().__init__(indent, newline)
        self.found: dict[cst.CSTNode, tuple[Place, Place]] = {}
        self.line, self.column = 1, 0
        self._begun: list[Place] = []

    def add_indent_tokens(self) -> None:
        """Write the indentation of a line."""
        for token in self.indent_tokens:
            self.add_token(token)

    def add_token(self, value: str) -> None:
        """Write a part of the text."""
        self.tokens.append(value)
        if "\n" not in value and "\r" not in value:
            self.column += len(value)
            return
        lines = _BREAK.split(value)
        self.line += len(lines) - 1
        self.column = len(lines[-1])

    def before_codegen(self, node: cst.CSTNode) -> None:
        """A node begins, with all spaces that are its own."""
        self._begun.append((self.line, self.column))

    def after_codegen(self, node: cst.CSTNode) -> None:
        """It ends, and stands there unless it said where without the spaces."""
        began = self._begun.pop()
        self.found.setdefault(node, (began, (self.line, self.column)))

    def record_syntactic_position(  # type: ignore[override]
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Proper:
        """What a node writes meanwhile is it without the spaces around it."""
        return _Proper(self, node, start_node, end_node)


class _Proper:
    """Notes where a node begins and ends without spaces: where others do, if they are given."""

    __slots__ = ("_began", "_first", "_last", "_node", "_state")

    def __init__(self, state: _State, node: cst.CSTNode, first: cst.CSTNode | None, last: cst.CSTNode | None) -> None:
        self._state, self._node, self._first, self._last = state, node, first, last

    def __enter__(self) -> None:
        self._began = (self._state.line, self._state.column)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state, found = self._state, self._state.found
        began = found[self._first][0] if self._first is not None else self._began
        ended = found[self._last][1] if self._last is not None else (state.line, state.column)
        found[self._node] = began, ended
