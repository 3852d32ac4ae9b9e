"""Checking one file: its module is run, then what that did not reach."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from distml.interp.giving_up import REASON, ROOM, give_up, give_up_rest
from distml.interp.imports import consider, make_module
from distml.interp.language import LANGUAGE
from distml.interp.machine import FREE_STEPS, Lost, Machine, OutOfSteps, OutOfTime, PathEnd, ProcessEnd, Revealed
from distml.interp.session import Session
from distml.interp.state import State
from distml.interp.statements import execute
from distml.interp.symbolic import analyze_rest
from distml.interp.too_deep import TooDeepError
from distml.source.reach import imported_files
from distml.values import Const

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from distml.diagnostics.model import Diagnostic
    from distml.diagnostics.tracked import Tracked
    from distml.interp.findings import FindingKey
    from distml.source.file import SourceFile
    from distml.source.project import Project


def _nothing() -> None:
    """Done where nobody wants to know."""


RETRIES = 3
"""Statements of a module that may be given up one by one."""


class CheckResult(NamedTuple):
    """What checking one file gave; `late`: up to the deadline."""

    diagnostics: tuple[Diagnostic, ...]
    lost: tuple[Lost, ...]
    revealed: tuple[Revealed, ...]
    late: bool
    tracked: tuple[Tracked, ...] = ()


def check_file(
    source: SourceFile,
    project: Project,
    deadline: float | None = None,
    note: Callable[[Diagnostic], None] | None = None,
    tracked: bool = False,
) -> CheckResult:
    """Check one file. `deadline` is a `time.process_time()` after which it is given up; `note` is told of each finding.
    `tracked` asks how much of each function is known.

    Raises `UnreadableError` when the file cannot be parsed.
    """
    tree = source.tree
    vm, late = Machine(LANGUAGE, project, deadline, session_of(project)), False
    if tracked:
        _track(vm)
    try:
        with deep_recursion():
            vm = _run(vm, source, tree, _teller(vm.findings, note))
    except OutOfTime:
        late = True
    except BaseException:
        _SESSIONS.pop(project, None)  # what other checks share may be half made
        raise
    finally:
        if source.location not in vm.modules:
            source.forget_tree()
    found = sorted(vm.findings.values(), key=lambda d: (d.span.path, d.span.line, d.span.column, d.code))
    known = () if vm.shape_log is None else vm.shape_log.tracked
    return CheckResult(tuple(found), tuple(vm.lost.values()), tuple(vm.revealed.values()), late, known)


def _track(vm: Machine) -> None:
    from distml.interp.tracking import Tracker

    vm.shape_log = Tracker(vm)


def _teller(findings: Mapping[FindingKey, Diagnostic], note: Callable[[Diagnostic], None] | None) -> Callable[[], None]:
    """Tells of findings that are new, at places where nothing can take them back any more."""
    told: set[FindingKey] = set()

    def tell() -> None:
        for key in [key for key in findings if key not in told]:
            told.add(key)
            if note is not None:
                note(findings[key])

    return tell


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Room for the interpreter's own nesting, which is bounded well below."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, ROOM))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


MAX_SHARED_MODULES = 200
"""With more imported modules than this a session is begun anew, so that memory stays bounded."""
_SESSIONS: WeakKeyDictionary[Project, Session] = WeakKeyDictionary()


def session_of(project: Project) -> Session:
    """What earlier checks of the project's files in this process have run already."""
    session = _SESSIONS.get(project)
    if session is not None and len(session.modules) > MAX_SHARED_MODULES:
        for info in session.modules.values():
            info.source.forget_tree()
        session = None
    if session is None:
        session = _SESSIONS[project] = Session()
    return session


def _run(vm: Machine, source: SourceFile, tree: ast.Module, settled: Callable[[], None]) -> Machine:
    """Run a file and the functions that nothing in it calls; the machine that came to the end."""

    def again() -> Machine:
        made = Machine(vm.language, vm.project, vm.deadline, session_of(vm.project))
        made.findings, made.lost, made.revealed = vm.findings, vm.lost, vm.revealed
        if vm.shape_log is not None:
            _track(made)
        return made

    last = run_with_room(vm, again, source, tree, settled)
    analyze_rest(last, settled, max(0, last.steps - FREE_STEPS))
    settled()
    return last


def run_with_room(
    vm: Machine,
    again: Callable[[], Machine],
    source: SourceFile,
    tree: ast.Module,
    settled: Callable[[], None] = _nothing,
) -> Machine:
    """Run the checked file itself, in another machine and without the statement where there is no room for one; the machine
    that came to the end."""
    without: list[ast.stmt] = []
    while True:
        try:
            run_module(vm, source, tree, without, settled)
        except TooDeepError as error:
            without.append(error.statement)
            _SESSIONS.pop(vm.project, None)  # what it shares with others may be half made
            vm = again()
        else:
            return vm


def run_module(
    vm: Machine,
    source: SourceFile,
    tree: ast.Module,
    without: Sequence[ast.stmt] = (),
    settled: Callable[[], None] = _nothing,
) -> None:
    """Run the checked file itself from top to bottom, `without` some statements; `settled` is called after each.

    Raises `TooDeepError`.
    """
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
        settled()
        # A module whose run ends early is still read to its end: what stops it
        # (a guard, an unknown exit) may not stop another run.
        try:
            if statement in without:
                give_up(vm, [statement])
            else:
                execute(vm, statement)
        except PathEnd as end:
            vm.exits += isinstance(end, ProcessEnd)
            continue
        except OutOfSteps:
            vm.abandon("it takes too much work to run the module from here", statement)
            give_up_rest(vm, tree.body)
            break
        except RecursionError:
            if len(without) < RETRIES:
                raise TooDeepError(statement) from None
            vm.abandon(REASON, statement)
            break
