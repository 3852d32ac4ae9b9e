"""Starts a launcher with all it starts, watches it, and leaves none of them behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from distml.engine.ends import heeding
from distml.source.apart import dying_with_parent

TOKEN = "DISTML_SMOKE_RUN"
KEPT_OUTPUT = 16 << 10
IDLE_SHARE = 0.25
"""Of one core, for each rank: processes that want less while nothing is written wait for something."""
POLL = 0.1
LOOKS = 20
PREPARING = 4
"""How many times longer ranks may be silent before they have begun to train."""


@dataclass(frozen=True)
class Ended:
    """How a launcher ended: its exit code, what stopped it if it did not end by itself, and the end of its output."""

    code: int | None
    stopped: str
    output: str
    seconds: float


class Signs(Protocol):
    """What can be seen of the ranks from outside."""

    @property
    def ranks(self) -> int:
        """How many."""

    def life(self) -> object:
        """Something that differs when a rank has done something."""

    def begun(self) -> bool:
        """Whether a rank has begun to train."""

    def waiting(self) -> bool:
        """Whether every rank is known to wait for others."""

    def ask(self) -> None:
        """Have the ranks write where they are, before they are killed."""


class Sight:
    """What tells the time, and of processes what they do; tests see by another."""

    def clock(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def wanted(self, pids: Sequence[int]) -> float:
        """`wanted_seconds`."""
        return wanted_seconds(pids)

    def working(self, pids: Sequence[int]) -> bool:
        """`working`."""
        return working(pids)


class Launch:
    """A launcher and its descendants, known by a mark in their environment wherever they were moved."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str], began: float) -> None:
        self.mark = uuid.uuid4().hex
        self.began = began
        self.tail = b""
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**environment, TOKEN: self.mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=dying_with_parent(),  # noqa: PLW1509 one system call, before any thread of ours could matter
        )
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, stream: IO[bytes] | None) -> None:
        while stream is not None and (part := os.read(stream.fileno(), 1 << 16)):
            self.tail = (self.tail + part)[-KEPT_OUTPUT:]

    def members(self) -> list[int]:
        """The processes that carry the mark."""
        return sorted(marked(f"{TOKEN}={self.mark}".encode()))

    def end(self) -> None:
        """Kill whatever is left; twice, for those that were being started."""
        for _ in range(3):
            left = self.members()
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=5)
            if not left:
                break
            time.sleep(0.05)
        self._reader.join(timeout=2)
        if self.process.stdout and not self._reader.is_alive():
            self.process.stdout.close()


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    timeout: float,
    stall: float,
    signs: Signs,
    sight: Sight | None = None,
) -> Ended:
    """Run `command` until it ends, or `timeout` seconds passed, or for `stall` seconds nobody did anything.

    A signal that ends us ends them.
    """
    sight = sight or Sight()
    launch = Launch(command, folder, environment, sight.clock())
    try:
        with heeding():
            stopped = _watch(launch, timeout, stall, signs, sight)
            if stopped:
                signs.ask()
    finally:
        launch.end()
    output = launch.tail.decode("utf-8", "replace")
    return Ended(launch.process.returncode if not stopped else None, stopped, output, sight.clock() - launch.began)


def _watch(launch: Launch, timeout: float, stall: float, signs: Signs, sight: Sight) -> str:
    """Why the launch must be stopped, or nothing when it ended."""
    seen, since, used = signs.life(), sight.clock(), 0.0
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            launch.process.wait(POLL)
        if launch.process.returncode is not None:
            return ""
        now = sight.clock()
        if now - launch.began > timeout:
            return f"it did not finish within {timeout:g} seconds"
        if (sign := signs.life()) != seen:
            seen, since, used = sign, now, sight.wanted(launch.members())
        elif now - since > stall * (1 if signs.begun() else PREPARING):
            spent = sight.wanted(launch.members())
            idle = spent - used < IDLE_SHARE * signs.ranks * (now - since) and not sight.working(launch.members())
            if (idle or signs.waiting()) and launch.process.poll() is None:  # it may have ended under our eyes
                return f"no process made progress for {stall:g} s"
            since, used = now, spent


def marked(mark: bytes) -> Iterator[int]:
    """The processes in whose environment `mark` stands."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mark in Path(entry.path, "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)


def wanted_seconds(pids: Sequence[int]) -> float:
    """How long the threads of processes ran or waited for a processor, since they were started.

    Both, so that processes on a busy machine do not look idle. https://docs.kernel.org/scheduler/sched-stats.html
    """
    nanoseconds = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            for task in os.scandir(f"/proc/{pid}/task"):
                ran, waited, _ = Path(task.path, "schedstat").read_text("utf-8").split()
                nanoseconds += int(ran) + int(waited)
    return nanoseconds / 1e9


def working(pids: Sequence[int]) -> bool:
    """Whether a thread of the processes is seen to run, to be ready to, or to wait for the disk, often enough to matter.

    Times alone do not tell: while a control group has used up its share of processors, the kernel counts neither
    running nor waiting. https://docs.kernel.org/scheduler/sched-bwc.html
    """
    seen = 0
    for _ in range(LOOKS):
        seen += any(state in b"RD" for pid in pids for state in _states(pid))
        time.sleep(POLL / 2)
    return seen >= IDLE_SHARE * LOOKS


def _states(pid: int) -> Iterator[bytes]:
    """What each thread of a process is doing: the letter after its name. https://man7.org/linux/man-pages/man5/proc.5.html"""
    with contextlib.suppress(OSError):
        for task in os.scandir(f"/proc/{pid}/task"):
            yield Path(task.path, "stat").read_bytes().rpartition(b")")[2].split()[0]
