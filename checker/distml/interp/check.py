"""Checking one file: its module is run, then what that did not reach."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from distml.diagnostics.model import Diagnostic, Span
from distml.interp.imports import consider, make_module
from distml.interp.machine import Lost, Machine, OutOfSteps, OutOfTime, PathEnd, ProcessEnd, Revealed, Session
from distml.interp.state import State
from distml.interp.statements import execute
from distml.interp.symbolic import analyze_rest
from distml.source.reach import imported_files
from distml.values import Const

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from distml.source.file import SourceFile
    from distml.source.project import Project

RECURSION_LIMIT = 12_000
"""Python frames the interpreter may use; its own nesting is bounded well below."""


class CheckResult(NamedTuple):
    """What checking one file gave."""

    diagnostics: tuple[Diagnostic, ...]
    lost: tuple[Lost, ...]
    revealed: tuple[Revealed, ...]


def check_file(source: SourceFile, project: Project, deadline: float | None = None) -> CheckResult:
    """Check one file. `deadline` is a `time.process_time()` after which it is given up.

    Raises `UnreadableError` when the file cannot be parsed.
    """
    tree = source.tree
    vm = Machine(project, deadline, _session(project))
    try:
        with deep_recursion():
            _run(vm, source, tree)
    except OutOfTime:
        start = Span(source.path, 1, 1, 1, 1)
        vm.findings[("SRC105", source.path, 1, 1)] = Diagnostic(
            "SRC105", "the time limit was reached before the whole file was checked", start
        )
    except BaseException:
        _SESSIONS.pop(project, None)  # what other checks share may be half made
        raise
    finally:
        if source.location not in vm.modules:
            source.forget_tree()
    found = sorted(vm.findings.values(), key=lambda d: (d.span.path, d.span.line, d.span.column, d.code))
    return CheckResult(tuple(found), tuple(vm.lost.values()), tuple(vm.revealed.values()))


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Room for the interpreter's own nesting, which is bounded well below."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


MAX_SHARED_MODULES = 200
"""With more imported modules than this a session is begun anew, so that memory stays bounded."""
_SESSIONS: WeakKeyDictionary[Project, Session] = WeakKeyDictionary()


def _session(project: Project) -> Session:
    """What earlier checks of the project's files in this process have run already."""
    session = _SESSIONS.get(project)
    if session is not None and len(session.modules) > MAX_SHARED_MODULES:
        for info in session.modules.values():
            info.source.forget_tree()
        session = None
    if session is None:
        session = _SESSIONS[project] = Session()
    return session


def _run(vm: Machine, source: SourceFile, tree: ast.Module) -> None:
    run_module(vm, source, tree)
    analyze_rest(vm)


def run_module(vm: Machine, source: SourceFile, tree: ast.Module) -> None:
    """Run the checked file itself from top to bottom."""
    for file in (source, *imported_files(source, vm.project)):
        consider(vm, file)
    info = make_module(vm, source, tree)
    vm.checked, vm.main = source, info
    vm.frame = info.frame
    vm.stack = [info.frame]
    vm.state = State(vm.base)
    vm.assign(info.frame.ident, "__name__", Const("__main__"))
    info.frame.scope.locals.add("__name__")
    for statement in tree.body:
        # A module whose run ends early is still read to its end: what stops it
        # (a guard, an unknown exit) may not stop another run.
        try:
            execute(vm, statement)
        except PathEnd as end:
            vm.exits += isinstance(end, ProcessEnd)
            continue
        except OutOfSteps:
            vm.abandon("it takes too much work to run the module from here", statement)
            break
