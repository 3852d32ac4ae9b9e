"""Checks one file and turns everything that can go wrong into findings for that file.

The interpreter is imported here, when the first file that needs it comes up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from typing import Any

from distml.diagnostics.model import Diagnostic, Span
from distml.engine.config import Config
from distml.engine.limits import GRACE, Alarm, OutOfTimeError
from distml.engine.results import Checker, FileResult, LostPlace, Note, Place, Unasked
from distml.engine.selection import CHOREOGRAPHIES, RANKS, SHAPES, parts
from distml.source.file import SourceFile
from distml.source.memory import limits_itself, memory_of_system
from distml.source.project import Project
from distml.source.reach import CHOREOGRAPHIES as LANGUAGE
from distml.source.reach import may_communicate, may_use_choreographies, reaches_tensor_library
from distml.source.reading import UnreadableError
from distml.source.stack import with_room
from distml.source.suppressions import apply, hidden_by, ignores_file

FLEETING = frozenset({"SRC105", "SRC106", "SRC107", "SRC201"})  # may be otherwise next time
Trace = Callable[[SourceFile, Project], tuple[str, ...]]


@with_room
def check_one(
    path: str,
    project: Project,
    config: Config,
    checker: Checker | None = None,
    trace: Trace | None = None,
    tell: Note | None = None,
) -> FileResult:
    """The result for one file; raises nothing but `KeyboardInterrupt` and `SystemExit`.

    `trace` writes down what the result depends on, for the cache. `tell` hears of each finding as it is made, less those
    that comments hide: what a check has found when it is stopped.
    """
    made: list[Diagnostic] = []
    shown = _shown(project)

    def note(finding: Diagnostic) -> None:
        if shown(finding):
            made.append(finding)
            if tell is not None:
                tell(finding)

    started, alarm = time.process_time(), Alarm(config.time_limit + GRACE)
    result, wrong = None, None
    try:
        with alarm:
            result = _check(path, project, config, checker, trace or _no_trace, note)
    except (OutOfTimeError, Exception) as error:  # whatever goes wrong on this file must not stop the others
        wrong = error
    if alarm.rang:
        return stopped("SRC105", path, out_of_time(config, time.process_time() - started), made)
    if isinstance(wrong, MemoryError):
        return stopped("SRC106", path, out_of_memory(config), made)
    if wrong is not None:
        return stopped("SRC201", path, failed(wrong), made)
    return result or FileResult()


def preload() -> None:
    """Import the interpreter, for the processes that are forked from this one."""
    with suppress(Exception):  # each file will say what is wrong
        _interpreter()


def stopped(code: str, path: str, message: str, made: Iterable[Diagnostic]) -> FileResult:
    """The result of a check that did not come to its end: what was found until then, and why there is no more."""
    return FileResult((*made, _failure(code, path, message)), lasting=False)


def _failure(code: str, path: str, message: str) -> Diagnostic:
    return Diagnostic(code, message, Span(path, 1, 1, 1, 2))


def out_of_time(config: Config, used: float, idle: float = 0.0) -> str:
    """The message of SRC105: the limit that ended a check, and what was used."""
    why = f"{used:.1f} s of processor time (time-limit: {config.time_limit:g} s)"
    if idle:
        why = f"{idle:.0f} s without any work (processor time used: {used:.1f} s, time-limit: {config.time_limit:g} s)"
    return f"the check was stopped after {why}; findings after that point are missing"


def out_of_memory(config: Config, ours: bool | None = None) -> str:
    """The message of SRC106: the limit that ended a check, and how to raise it. `ours` says that it was `memory-limit`."""
    if limits_itself() if ours is None else ours:
        limit, remedy = f"at {config.memory_limit} MiB of memory (memory-limit)", "raise it in [tool.distml]"
    else:
        limit, remedy = memory_of_system()
    return f"the check was stopped {limit}; findings after that are missing: {remedy}"


def failed(error: BaseException) -> str:
    """The message of SRC201 for an exception."""
    return f"distml failed on this file: {describe(error)}"


def describe(error: BaseException) -> str:
    """An exception on one line, with the innermost place it passed."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f" at {'/'.join(code.co_filename.split('/')[-2:])}:{trace.tb_lineno} in {code.co_name}"
        trace = trace.tb_next
    try:
        text = " ".join(str(error).split())[:200]
    except Exception:  # an exception may fail to say what it is
        text = ""
    return f"{type(error).__name__}{': ' + text if text else ''}{place}"


def _check(
    path: str, project: Project, config: Config, checker: Checker | None, trace: Trace, note: Note
) -> FileResult:
    started = time.process_time()
    deadline = started + config.time_limit
    try:
        source = project.open(path)
        if ignores_file(source):
            return FileResult(skipped=True)
        _ = source.tree  # a file that cannot be parsed is reported whether or not it holds tensors
    except UnreadableError as error:
        return FileResult((error.diagnostic,), lasting=error.diagnostic.code not in FLEETING)
    parties, asked = [], parts(config)
    if checker is None:  # another one asks something else of the file
        for part, run in ((CHOREOGRAPHIES, _choreographies), (RANKS, partial(_ranks, deadline=deadline))):
            parties += _contained(path, partial(run, source, project), note) if part in asked else []
    if not reaches_tensor_library(source, project) and not any(each.span.path != source.path for each in parties):
        here = apply(source, parties)
        skipped = not here.kept and "distml.choreo" not in source.text
        return FileResult((*here.kept, *here.unused), skipped=skipped, consulted=trace(source, project))
    followed = checker is not None or SHAPES in asked
    checked = (checker or _following(config))(source, project, deadline, note) if followed else Unasked()
    found = [*checked.diagnostics, *parties]
    if checked.late:
        found.append(_failure("SRC105", path, out_of_time(config, time.process_time() - started)))
    here = apply(source, [finding for finding in found if finding.span.path == source.path])
    elsewhere, used = _elsewhere(source, found, project)
    return FileResult(
        (*here.kept, *here.unused, *elsewhere),
        tuple(LostPlace(place.span, place.reason) for place in checked.lost),
        used_elsewhere=tuple(used),
        consulted=trace(source, project),
        lasting=not any(finding.code in FLEETING for finding in found),
        answer=getattr(checked, "answer", None),
        tracked=getattr(checked, "tracked", ()),
    )


def _contained(path: str, run: Callable[[], Iterable[Diagnostic]], note: Note) -> list[Diagnostic]:
    """The findings of one part of a check; its failure is a finding too, and the other parts go on."""
    try:
        found = list(run())
    except MemoryError:
        raise
    except RecursionError:
        found = [_failure("SRC104", path, "nested too deeply to be checked")]
    except Exception as error:
        found = [_failure("SRC201", path, failed(error))]
    for finding in found:
        note(finding)
    return found


def _shown(project: Project) -> Callable[[Diagnostic], bool]:
    """Whether no comment hides a finding."""

    @cache
    def hides(path: str) -> Callable[[Diagnostic], bool]:
        source = project.shown_as(path)
        return hidden_by(source) if source is not None else lambda _: False

    return lambda finding: not hides(finding.span.path)(finding)


def _choreographies(source: SourceFile, project: Project) -> tuple[Diagnostic, ...]:
    """The findings on the choreographies of a file: of one that imports the language, itself or through other files."""
    if not may_use_choreographies(source, project):
        return ()
    from distml.choreo.origins import origins_of

    origins = origins_of(source, project)
    if not origins and LANGUAGE not in source.text:
        return ()
    from distml.choreo.check import check_source

    return check_source(source, origins)


def _ranks(source: SourceFile, project: Project, deadline: float) -> tuple[Diagnostic, ...]:
    """The findings on what the ranks of a program communicate; most files name no library that does."""
    if not may_communicate(source, project):
        return ()
    from distml.spmd.check import check_source

    return check_source(source, project, deadline)


def _elsewhere(source: SourceFile, found: list[Diagnostic], project: Project) -> tuple[list[Diagnostic], list[Place]]:
    """Findings in other files that the check led into, less those hidden there, and the comments that hid them."""
    kept: list[Diagnostic] = []
    used: list[Place] = []
    for path in dict.fromkeys(finding.span.path for finding in found if finding.span.path != source.path):
        other = project.shown_as(path)
        there = [finding for finding in found if finding.span.path == path]
        if other is None:
            kept += there
        elif not ignores_file(other):
            applied = apply(other, there)
            kept += applied.kept
            used += [(path, line) for line in applied.used]
    return kept, used


def _no_trace(_source: SourceFile, _project: Project) -> tuple[str, ...]:
    return ()


def _following(config: Config) -> Any:
    return partial(_interpreter(), tracked=True) if config.tracked else _interpreter()


def _interpreter() -> Any:
    from importlib import import_module

    return import_module("distml.interp.check").check_file
