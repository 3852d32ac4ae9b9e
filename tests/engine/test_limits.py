"""Limits hold at any load of the machine, and what was found before a check was stopped is kept.

Nothing here waits for a clock: alarms are sounded by hand, and what is seen of processes is told by an eye of ours.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distml.engine import workers
from distml.engine.config import Config
from distml.engine.limits import LAST_GRACE, STALL, Alarm, Eye, OutOfTimeError, Usage, Vigil
from distml.engine.one import check_one
from distml.engine.results import FileResult, Note, Report
from distml.engine.run import run
from distml.source.project import Project

from engine.fakes import fake

TENSOR = "import torch\n"
MANY = 3000
"""Findings that fill the pipe of a worker many times."""


def write(folder: Path, **programs: str) -> None:
    for name, program in programs.items():
        (folder / f"{name}.py").write_text(program, "utf-8")


def found(report: Report) -> list[tuple[str, int, str]]:
    return [(each.span.path, each.span.line, each.code) for each in report.diagnostics]


@pytest.fixture(params=[0, 1, 3])
def jobs(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        ("endless", "SRC105", "s of processor time (time-limit: 77 s)"),
        ("mistaken", "SRC105", "s of processor time (time-limit: 77 s)"),
        ("deaf", "SRC105", "s of processor time (time-limit: 77 s)"),
        ("gave-up", "SRC105", "s of processor time (time-limit: 77 s)"),
        ("starved", "SRC106", "stopped at 256 MiB of memory (memory-limit)"),
        ("crash", "SRC201", "KeyError"),
        ("recurse", "SRC201", "RecursionError"),
    ],
)
def test_what_was_found_before_a_check_was_stopped_is_kept(
    folder: Path, jobs: int, how: str, code: str, says: str
) -> None:
    write(folder, a=TENSOR + f"boom\nboom  # distml: ignore\nboom\n{how}", b=TENSOR + "boom")
    report = run(["."], Config(jobs=jobs, time_limit=77.0, memory_limit=256), checker=fake)
    assert found(report) == [("a.py", 1, code), ("a.py", 2, "SHP101"), ("a.py", 4, "SHP101"), ("b.py", 2, "SHP101")]
    limited = jobs or how != "starved"  # in this process there is no limit of ours
    assert (says if limited else "the system had no more memory") in report.diagnostics[0].message
    assert report.failed is (code == "SRC201")


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        ("segfault", "SRC201", "Segmentation"),
        ("killed", "SRC106", "the system ended the process"),
        ("leave", "SRC201", "exit code 3"),
    ],
)
def test_what_was_found_before_a_process_died_is_kept(folder: Path, how: str, code: str, says: str) -> None:
    write(folder, a=TENSOR + "boom\n" * MANY + how, b=TENSOR + "boom  # distml: ignore\n" * 2 + how)
    report = run(["."], Config(jobs=1), checker=fake)
    kept = [("a.py", line + 2, "SHP101") for line in range(MANY)]
    assert found(report) == [("a.py", 1, code), *kept, ("b.py", 1, code)]
    assert says in report.diagnostics[0].message


def test_a_worker_that_was_stopped_halfway_checks_no_other_file(folder: Path) -> None:
    write(folder, a=TENSOR + "half", b=TENSOR + "whole\nboom")
    report = run(["."], Config(jobs=1), checker=fake)
    assert found(report) == [("a.py", 1, "SRC105"), ("b.py", 3, "SHP101")]


def test_memory_is_limited(folder: Path) -> None:
    write(folder, a=TENSOR + "boom\ngreedy", b=TENSOR + "boom")
    report = run(["."], Config(jobs=1, memory_limit=256), checker=fake)
    assert found(report) == [("a.py", 1, "SRC106"), ("a.py", 2, "SHP101"), ("b.py", 2, "SHP101")]


def test_a_part_that_fails_does_not_end_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr("distml.engine.one._ranks", fail)
    write(folder, a="import torch\ntorch.zeros(2) + torch.zeros(3)\n")
    assert found(run(["a.py"], Config(jobs=0))) == [("a.py", 1, "SRC201"), ("a.py", 2, "SHP102")]


@pytest.mark.requires("distml.interp.check")
def test_the_interpreter_tells_of_findings_as_it_makes_them(folder: Path) -> None:
    bad = "torch.zeros(2, 3) @ torch.zeros(4, 5)\n"
    write(folder, a=TENSOR + bad + "# distml: ignore-nothing\n" + bad.strip() + "  # distml: ignore\n" + bad)
    told: list[int] = []
    result = check_one("a.py", Project(), Config(), tell=lambda each: told.append(each.span.line))
    assert told == [each.span.line for each in result.diagnostics] == [2, 5]


class Told(Eye):
    """Sees what it was told, a look a second."""

    def __init__(self, *looks: tuple[float, bool], step: float = 1.0) -> None:
        self.looks, self.now, self.step = list(looks), 0.0, step

    def clock(self) -> float:
        self.now += self.step
        return self.now

    def usage(self, pid: int) -> Usage:
        return Usage(*(self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]))


def looks_until_over(eye: Eye, limit: float, most: int) -> int | None:
    vigil = Vigil(eye, 1, limit)
    return next((look for look in range(most) if vigil.over()), None)


@given(st.lists(st.tuples(st.floats(0, 0.9), st.booleans()), min_size=1, max_size=50), st.floats(0.1, 20))
def test_a_worker_that_makes_progress_within_its_limit_is_never_ended(
    shares: list[tuple[float, bool]], limit: float
) -> None:
    """Whatever share of the processor it gets, as long as it gets some within the time for waiting."""
    used, looks = 0.0, []
    for share, waits in shares:
        used += share
        looks.append((min(used, limit), waits))
    assert looks_until_over(Told((0.0, False), *looks), limit, min(len(looks), int(STALL))) is None


def test_a_worker_that_wants_the_processor_and_gets_none_is_not_ended() -> None:
    assert looks_until_over(Told((5.0, False)), 10.0, 10_000) is None


def test_a_worker_that_waits_for_something_else_is_ended() -> None:
    assert looks_until_over(Told((5.0, True)), 10.0, 10_000) == int(STALL)


def test_time_in_which_nobody_looked_is_no_wait() -> None:
    """Ctrl-Z, or a machine that slept."""
    assert looks_until_over(Told((5.0, True), step=3600.0), 10.0, int(STALL / 2)) is None


def test_a_worker_that_cannot_be_interrupted_is_ended_by_its_processor_time() -> None:
    assert (
        looks_until_over(Told((100.0, False), (110.0 + LAST_GRACE, False), (110.1 + LAST_GRACE, False)), 10.0, 9) == 1
    )


class Patient(Eye):
    """Sees nothing until the worker waits, and then a wait of hours."""

    interval = 0.01

    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        if os.path.exists("waiting"):
            self.interval = 3600.0
            self.now += 7200.0
        return self.now

    def usage(self, pid: int) -> Usage:
        return Usage(1.25, waits=True)


def test_a_worker_that_does_nothing_is_ended_and_its_findings_kept(folder: Path) -> None:
    write(folder, a=TENSOR + "boom\nboom\nstubborn")

    def check(path: str, tell: Note) -> FileResult:
        return check_one(path, Project(), Config(), fake, tell=tell)

    ((index, result),) = workers.check_all(["a.py"], check, Config(), 1, Patient())
    assert (index, [each.code for each in result.diagnostics]) == (0, ["SHP101", "SHP101", "SRC105"])
    assert "without any work (processor time used: 0.0 s, time-limit: 10 s)" in result.diagnostics[-1].message


def test_what_is_seen_of_a_process() -> None:
    eye = Eye()
    assert eye.usage(os.getpid()).seconds > 0
    assert not eye.usage(os.getpid()).waits
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        until(lambda: eye.usage(child.pid).waits)


def test_without_processes_the_files_are_checked_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    write(folder, a=TENSOR + "boom", b=TENSOR + "crash", c=TENSOR + "boom")
    before = set(os.listdir("/proc/self/fd"))
    report = run(["."], Config(jobs=3), checker=fake)
    assert found(report) == [("a.py", 2, "SHP101"), ("b.py", 1, "SRC201"), ("c.py", 2, "SHP101")]
    assert len(set(os.listdir("/proc/self/fd")) - before) == 0


def test_the_alarm_counts_processor_time() -> None:
    before = time.process_time()
    alarm = Alarm(0.2)
    with pytest.raises(OutOfTimeError), alarm:
        while True:
            pass
    assert alarm.rang
    assert time.process_time() - before > 0.1  # the system counts in ticks


def test_the_alarm_does_not_count_time_on_the_clock() -> None:
    with Alarm(0.2) as alarm:
        time.sleep(0.5)
    assert not alarm.rang
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def until(true: Callable[[], bool]) -> None:
    while not true():
        time.sleep(0.01)
