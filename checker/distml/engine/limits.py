"""Limits on the time and the memory of a check, kept by the operating system where it can.

A checker is asked to stop when it has used up its processor time, so that a busy machine does not change what is found.
If it does not, or gets too little of the processor, an alarm stops it after some time on the clock; if even that does not
(it is busy inside one operation of C), the parent process ends the worker (`distml.engine.workers`).
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Self

CLOCK = 3.0  # seconds on the clock for each second of processor time
GRACE = 0.5  # seconds on the clock between that and the alarm
LAST_GRACE = 3.0  # seconds between that and the end of the worker


class OutOfTimeError(BaseException):
    """The alarm went off. No `Exception`, so that nothing on the way out mistakes it for one of its own."""


class Alarm:
    """Raises `OutOfTimeError` in its block after `seconds`; does nothing where there are no alarms.

    The exception may come up anywhere, also where Python makes another one of it, or none: in `__set_name__`, in a
    finalizer, in the clean-up after something else. Hence `rang` tells whether the time was over.
    """

    def __init__(self, seconds: float) -> None:
        self.rang = False
        self._seconds = seconds
        self._can = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        if self._can:
            self._previous = signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, self._seconds)
        return self

    def __exit__(self, *_: object) -> None:
        if self._can:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._previous)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        self.rang = True
        raise OutOfTimeError


def limit_memory(mebibytes: int) -> None:
    """Let this process allocate at most so much more than it has; does nothing where that cannot be limited."""
    try:
        import resource

        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        wanted = used + mebibytes * 1024 * 1024
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    except (ImportError, OSError, ValueError):
        return
