"""Limits on the time and the memory of a check, kept by the operating system where it can.

A checker is asked to stop when it has used up its processor time, so that a busy machine does not change what is found.
If it does not, or gets too little of the processor, an alarm stops it after some time on the clock; if even that does not
(it is busy inside one operation of C), the parent process ends the worker (`distml.engine.workers`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

CLOCK = 3.0  # seconds on the clock for each second of processor time
GRACE = 0.5  # seconds on the clock between that and the alarm
LAST_GRACE = 3.0  # seconds between that and the end of the worker


class OutOfTimeError(BaseException):
    """The alarm went off. No `Exception`, so that nothing on the way out mistakes it for one of its own."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise `OutOfTimeError` in the block after `seconds`; does nothing where there are no alarms."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


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


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise OutOfTimeError
