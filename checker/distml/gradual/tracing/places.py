"""From the running Python code to the place in its source: which call, which branch, which part of its condition."""

from __future__ import annotations

import ast
import os
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.imports import make_module
from distml.source.reading import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

    from distml.interp.frames import ModuleInfo
    from distml.interp.machine import Machine
    from distml.source.project import Project

Span = tuple[int, int, int, int]
"""First and last line, first and last column, as `co_positions` gives them."""
Branching = ast.If | ast.While | ast.Assert | ast.IfExp


class Place(NamedTuple):
    """Where user code stands. `span` is that of the instruction being run."""

    module: ModuleInfo
    node: ast.AST
    span: Span


class Leaf(NamedTuple):
    """A part of a branch's condition that is tested by itself: the branch, and where the part stands in it."""

    branch: Branching
    part: ast.expr


class _File:
    """The nodes of one source file by where they stand."""

    def __init__(self, info: ModuleInfo, tree: ast.Module) -> None:
        self.info = info
        self.nodes: dict[Span, ast.AST] = {}
        self.lines: dict[int, ast.AST] = {}
        self.leaves: dict[Span, Leaf] = {}
        self.branches: dict[Span, Branching] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.stmt | ast.expr):
                self._add(node)

    def _add(self, node: ast.stmt | ast.expr) -> None:
        span = span_of(node)
        # A statement that is nothing but an expression stands where the expression does.
        if isinstance(node, ast.expr) or span not in self.nodes:
            self.nodes[span] = node
        if isinstance(node, ast.stmt):
            self.lines.setdefault(node.lineno, node)
        if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp):
            self.branches[span] = node
            for part in parts_of(node.test):
                self.leaves[span_of(part)] = Leaf(node, part)


def span_of(node: ast.stmt | ast.expr) -> Span:
    """Where a node stands."""
    return (node.lineno, node.end_lineno or node.lineno, node.col_offset, node.end_col_offset or node.col_offset)


def parts_of(test: ast.expr) -> Iterator[ast.expr]:
    """The parts of a condition that Python tests one by one, in their order."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from parts_of(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from parts_of(test.operand)
    else:
        yield test


class Places:
    """Finds places in the files that a run goes through; those of torch, of Python and our own are passed over."""

    def __init__(self, vm: Machine, project: Project) -> None:
        self.vm = vm
        self.project = project
        self._files: dict[str, _File | None] = {}
        self._spans: dict[CodeType, list[Span | None]] = {}
        self._passed_over = _foreign_folders()

    def frame_of(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of user code at or above `frame`."""
        while frame is not None and self._file(frame.f_code.co_filename) is None:
            frame = frame.f_back
        return frame

    def place_of(self, frame: FrameType) -> Place:
        """Where a frame of user code stands."""
        file = self._file(frame.f_code.co_filename)
        assert file is not None, "frame_of finds only frames with a file"
        span = self._span(frame) or (frame.f_lineno, frame.f_lineno, 0, 0)
        node = file.nodes.get(span) or file.lines.get(frame.f_lineno) or ast.Pass(lineno=frame.f_lineno, col_offset=0)
        return Place(file.info, node, span)

    def leaf_at(self, frame: FrameType) -> Leaf | None:
        """The part of a branch's condition that is being tested, None where no branch tests it.

        Some versions of Python say of a mere name only which statement tests it.
        """
        file = self._file(frame.f_code.co_filename)
        span = self._span(frame)
        if file is None or span is None:
            return None
        found = file.leaves.get(span)
        if found is None and (branch := file.branches.get(span)) is not None:
            names = [part for part in parts_of(branch.test) if isinstance(part, ast.Name)]
            found = Leaf(branch, names[0]) if len(names) == 1 else None
        return found

    def module_at(self, path: str) -> ModuleInfo | None:
        """The source of a Python file, None where it is no user code or cannot be read."""
        file = self._file(path)
        return None if file is None else file.info

    def statement_at(self, path: str, line: int) -> ast.AST | None:
        """The statement that begins on a line, or else the one around it."""
        file = self._file(path)
        if file is None:
            return None
        around = [n for n in file.lines.values() if n.lineno <= line <= (n.end_lineno or 0)]  # type: ignore[attr-defined]
        return file.lines.get(line) or max(around, key=lambda n: n.lineno, default=None)  # type: ignore[attr-defined]

    def function_at(self, code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The definition that a function's code was compiled from."""
        file = self._file(code.co_filename)
        for node in () if file is None else file.nodes.values():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
                lines = (node.lineno, *(d.lineno for d in node.decorator_list))
                if code.co_firstlineno in lines:
                    return node
        return None

    def _span(self, frame: FrameType) -> Span | None:
        code = frame.f_code
        if code not in self._spans:
            self._spans[code] = [None if None in found else found for found in code.co_positions()]  # type: ignore[misc]
        return next(islice(self._spans[code], frame.f_lasti // 2, None), None)

    def _file(self, name: str) -> _File | None:
        if name not in self._files:
            self._files[name] = self._opened(name)
        return self._files[name]

    def _opened(self, name: str) -> _File | None:
        if name.startswith("<") or any(os.path.realpath(name).startswith(folder) for folder in self._passed_over):
            return None
        shown = os.path.relpath(name)
        try:
            source = self.project.open(name if shown.startswith("..") else shown)
            tree = source.tree
        except UnreadableError:
            return None
        return _File(make_module(self.vm, source, tree), tree)


def _foreign_folders() -> list[str]:
    """Where the code lies that belongs to torch, to Python itself or to us."""
    import torch

    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    library = os.path.dirname(os.path.realpath(os.__file__))
    entries = [e for e in os.scandir(library) if e.name not in ("site-packages", "dist-packages")]
    inside = sorted(os.path.join(e.path, "") if e.is_dir() else e.path for e in entries)
    return [os.path.join(os.path.dirname(os.path.realpath(torch.__file__)), ""), os.path.join(ours, ""), *inside]
