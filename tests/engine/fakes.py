"""Checkers that stand in for the interpreter: one finding for each line that says `boom`, and ways to misbehave."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field

from distml.diagnostics.model import Diagnostic, Span
from distml.engine.results import LostPlace, Note
from distml.source.file import SourceFile
from distml.source.project import Project

HELD: list[str] = []
"""What checks of one process hold in common."""


@dataclass
class Checked:
    diagnostics: list[Diagnostic] = field(default_factory=list)
    lost: list[LostPlace] = field(default_factory=list)
    late: bool = False


def fake(source: SourceFile, project: Project, deadline: float | None, note: Note, tracked: bool = False) -> Checked:
    """Says SHP101 on lines with `boom`; does what else a line asks for."""
    checked = Checked()
    for number, line in enumerate(source.lines, 1):
        span = Span(source.path, number, 1, number, len(line) + 1)
        if "boom" in line:
            checked.diagnostics.append(Diagnostic("SHP101", f"boom in {source.module}", span))
            note(checked.diagnostics[-1])
        if "lost" in line:
            checked.lost.append(LostPlace(span, "unknown call"))
        if "follow" in line:
            followed = project.resolve(source, line.split()[-1])
            if followed is not None:
                checked.diagnostics += fake(followed, project, deadline, note).diagnostics
        if "reveal" in line:
            checked.diagnostics += quiet(source, project, line.split()[-1])
        if "gave-up" in line:
            checked.late = True
        misbehave(line)
    return checked


def quiet(source: SourceFile, project: Project, module: str) -> list[Diagnostic]:
    """Findings on lines with `quiet` of another file, which that file's own check does not meet."""
    other = project.resolve(source, module)
    lines = enumerate(other.lines, 1) if other else ()
    return [
        Diagnostic("SHP102", "met", Span(other.path, at, 1, at, 2)) for at, line in lines if other and "quiet" in line
    ]


def misbehave(line: str) -> None:
    if "crash" in line:
        raise KeyError("something\nof ours")
    if "recurse" in line:
        misbehave(line)
    if "endless" in line:
        signal.raise_signal(signal.SIGPROF)  # what the alarm does when the processor time is used up
    if "mistaken" in line:
        try:
            misbehave("endless")
        except BaseException as error:
            raise RuntimeError("another exception is made of it") from error
    if "deaf" in line:
        with suppress(BaseException):
            misbehave("endless")
    if "half" in line:
        HELD.append(line)
        misbehave("endless")
    if "whole" in line and HELD:
        raise ValueError("something is half made")
    end(line)


def end(line: str) -> None:
    """Does to the process what a line asks for."""
    if "stubborn" in line:
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
        open("waiting", "w").close()
        time.sleep(600)
    if "starved" in line:
        raise MemoryError
    if "greedy" in line:
        bytearray(1 << 29)
    if "segfault" in line:
        faulthandler.disable()
        os.kill(os.getpid(), signal.SIGSEGV)
    if "killed" in line:
        os.kill(os.getpid(), signal.SIGKILL)
    if "leave" in line:
        os._exit(3)
