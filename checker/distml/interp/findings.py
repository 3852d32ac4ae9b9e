"""From a failed requirement to a diagnostic: places, the call path, and who catches it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.diagnostics.model import Diagnostic, Related, Span
from distml.interp.installed import seen_from, told_from
from distml.interp.lessons import retold
from distml.interp.machine import PathEnd
from distml.interp.mending import whole_division
from distml.interp.recording import note_failed
from distml.ops import ShapeError
from distml.source.project import is_model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distml.interp.frames import Frame
    from distml.interp.machine import Machine
    from distml.ops import Note

MAX_CALLERS = 3
FindingKey = tuple[str, str, int, int]
"""Code, path, line and column of a finding."""


def fail(vm: Machine, error: ShapeError, node: ast.AST) -> None:
    """A library call at `node` cannot succeed.

    Inside a handler the path goes to it; on a path that a caller may never take, or
    behind an exit of the program, it just ends. Otherwise the finding is reported and the caller goes on with an
    unknown result, to find independent mistakes.
    """
    certain = not (vm.exits or any(active.doubtful for active in vm.stack))
    if vm.caught or not certain:
        catching = [index for index, each in enumerate(vm.handlers) if each.catches_shapes]
        handler = vm.handlers[catching[-1]] if catching else None
        note_failed(vm, catching[-1] if catching else 0)
        if handler is not None:
            handler.states.append(vm.state.fork())
        if handler is not None and certain:
            handler.errors.append((error, node, vm.frame))
        raise PathEnd
    note_failed(vm, len(vm.handlers))
    if vm.watcher is not None:
        vm.watcher.failed(error, node, vm.frame)
    report(vm, retold(error, vm.stack[1] if len(vm.stack) > 1 else vm.frame), node, vm.frame)


def report(vm: Machine, error: ShapeError, node: ast.AST, frame: Frame) -> None:
    """Record a finding, once for each place and code."""
    if any(handler.speculative for handler in vm.handlers) and _is_warning(error.code):
        return
    if vm.watcher is not None:
        return
    seen = seen_from(vm, node, frame)
    if seen is None or (seen[1] is not frame and _is_warning(error.code)):
        return
    if seen[1] is not frame:
        inside = () if is_model(frame.module.source) else (told_from(vm, node, frame),)
        error = ShapeError(error.code, error.message, (*inside, *error.notes))
        node, frame = seen
    span = place(vm, node, frame)
    key = (error.code, span.path, span.line, span.column)
    if key in vm.findings or (error.code == _ASSERTION and key[1:] in _checks(vm.findings.values())):
        return
    related = [_related(note) for note in error.notes[:4]]
    related += _callers(vm, frame)
    fix = whole_division(vm, node) if error.code == "SHP603" and frame is vm.frame else None
    vm.findings[key] = Diagnostic(error.code, error.message, span, tuple(related), error.hint, fix)
    for check in _checks([vm.findings[key]]):
        vm.findings.pop((_ASSERTION, *check), None)


_ASSERTION, _AT_CALLS = "SHP602", frozenset({"SHP701", "SHP702"})


def _checks(findings: Iterable[Diagnostic]) -> set[tuple[str, int, int]]:
    """The checks that findings at calls tell of: one mistake, which is not told at the check again."""
    related = [each.span for finding in findings if finding.code in _AT_CALLS for each in finding.related]
    return {(span.path, span.line, span.column) for span in related}


def _is_warning(code: str) -> bool:
    from distml.diagnostics.registry import rule
    from distml.diagnostics.rule import Severity

    return rule(code).severity is Severity.WARNING


def place(vm: Machine, node: ast.AST, frame: Frame) -> Span:
    """Where a finding points: in a chain of method calls, at the link that fails."""
    span = vm.span(node, frame)
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or function.end_lineno in (None, node.lineno):  # type: ignore[attr-defined]
        return span
    inner = vm.span(function, frame)
    start = max(inner.end_column - len(function.attr), 1)
    return Span(span.path, inner.end_line, start, span.end_line, span.end_column)


def _related(note: Note) -> Related:
    origin = note.origin
    end = origin.column + max(len(origin.text), 1)
    return Related(note.text, Span(origin.path, origin.line, origin.column, origin.line, end))


def _callers(vm: Machine, frame: Frame) -> list[Related]:
    """The calls that lead to a finding, innermost first."""
    found: list[Related] = []
    if frame not in vm.stack:
        return found
    name = ""
    for index in range(vm.stack.index(frame), 0, -1):
        called, caller = vm.stack[index], vm.stack[index - 1]
        name = name or called.name
        if called.caller is not None and len(found) < MAX_CALLERS and not is_model(caller.module.source):
            where = vm.span(called.caller, caller)
            found.append(Related(f"in the call of {name} from here", where))
            name = ""
    return found
