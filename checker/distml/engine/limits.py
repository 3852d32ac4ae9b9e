"""Limits on the time and the memory of a check, and what is seen of a process from outside.

Processor time decides, so that a busy machine does not change what is found. A checker is asked to stop when it has used
up its time. If it does not, an alarm stops it; if even that does not (it is inside one operation of C), the parent process
ends the worker (`distml.engine.workers`). The clock only ends a worker that does nothing.
"""

from __future__ import annotations

import os
import signal
import time
from types import FrameType
from typing import NamedTuple, Self

from distml.engine.ends import in_main_thread
from distml.source.memory import MEBIBYTE, given_memory
from distml.source.parsing import take_stack

GRACE = 0.5  # seconds of processor time between the deadline and the alarm
LAST_GRACE = 3.0  # seconds of processor time between the deadline and the end of the worker
STALL = 60.0  # seconds on the clock for which a worker may wait for something else than the processor
CLOCK = 3.0  # seconds on the clock that count as one of processor time where a system does not tell the latter


class OutOfTimeError(BaseException):
    """The alarm went off. No `Exception`, so that nothing on the way out mistakes it for one of its own."""


class Alarm:
    """Raises `OutOfTimeError` in its block after `seconds` of processor time; does nothing where there are no alarms.

    The exception may come up anywhere, also where Python makes another one of it, or none: in `__set_name__`, in a
    finalizer, in the clean-up after something else. Hence `rang` tells whether the time was over.
    """

    def __init__(self, seconds: float) -> None:
        self.rang = False
        self._seconds = seconds
        self._can = hasattr(signal, "setitimer") and in_main_thread()

    def __enter__(self) -> Self:
        if self._can:
            self._previous = signal.signal(signal.SIGPROF, self._ring)
            signal.setitimer(signal.ITIMER_PROF, self._seconds)
        return self

    def __exit__(self, *_: object) -> None:
        if self._can:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, self._previous)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        self.rang = True
        raise OutOfTimeError


class Usage(NamedTuple):
    """What a process has used: seconds of processor time, and whether it waits for something else now."""

    seconds: float
    waits: bool = False


class Eye:
    """Looks at processes from outside, by the clock and by what the system tells of them."""

    interval = 1.0
    """Seconds between two looks."""

    def clock(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def usage(self, pid: int) -> Usage:
        """What a process has used. Where the system does not tell, a part of the time on the clock."""
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            return Usage(self.clock() / CLOCK)
        ticks = int(fields[11]) + int(fields[12])  # utime and stime of proc(5)
        return Usage(ticks / os.sysconf("SC_CLK_TCK"), fields[0] != b"R")


class Vigil:
    """Decides from what is seen of a worker whether it must be ended; begun anew with each file.

    A wait counts while we look: what passes between two looks that are far apart (both processes stopped, the machine
    asleep) does not.
    """

    def __init__(self, eye: Eye, pid: int, limit: float) -> None:
        self._eye, self._pid, self._limit = eye, pid, limit
        self._start = self._used = eye.usage(pid).seconds
        self._looked = eye.clock()
        self.idle = 0.0

    @property
    def used(self) -> float:
        """Seconds of processor time for this file, at the last look."""
        return self._used - self._start

    def over(self) -> bool:
        """Look; whether the worker has used too much processor time or has done nothing for too long."""
        now = self._eye.clock()
        if now - self._looked < self._eye.interval:
            return False
        usage = self._eye.usage(self._pid)
        if usage.seconds > self._used or not usage.waits:
            self.idle = 0.0
        else:
            self.idle += min(now - self._looked, 2 * self._eye.interval)
        self._used, self._looked = max(usage.seconds, self._used), now
        return self.used > self._limit + LAST_GRACE or self.idle > STALL


def limit_memory(mebibytes: int) -> None:
    """Let this process allocate at most so much more than it has, or as much as the system allows if that is less.

    Does nothing where that cannot be limited.
    """
    take_stack()
    allowed = given_memory()
    try:
        import resource

        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = used + mebibytes * MEBIBYTE
        resource.setrlimit(resource.RLIMIT_AS, (wanted if allowed is None else min(wanted, allowed), hard))
    except (ImportError, OSError, ValueError):
        return
