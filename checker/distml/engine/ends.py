"""Requests to end: a signal becomes an exception, so that every `finally` on the way out is reached."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)

_MOMENT = 0.01  # seconds


class EndedError(KeyboardInterrupt):
    """A signal asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def in_main_thread() -> bool:
    """Whether this thread may handle signals; `threading` is slow to import, and without it there is one thread."""
    threading = sys.modules.get("threading")
    return threading is None or threading.current_thread() is threading.main_thread()


@contextmanager
def heeding() -> Iterator[None]:
    """A request to end raises `EndedError` in the block, once; what ignores it or handles it already is left alone.

    Python drops what is raised in a finalizer: then it is raised again a moment later.
    """
    if not in_main_thread():
        yield
        return
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    heeded = [number for number in numbers if before[number] in _DEFAULTS]

    def end(number: int, _frame: FrameType | None) -> None:
        for each in heeded:
            signal.signal(each, signal.SIG_IGN)
        raise EndedError(number)

    def dropped(what: sys.UnraisableHookArgs) -> None:
        if not isinstance(what.exc_value, EndedError) or not hasattr(signal, "setitimer"):
            hook(what)
            return
        number = what.exc_value.number
        signal.signal(signal.SIGALRM, lambda _number, frame: end(number, frame))
        signal.setitimer(signal.ITIMER_REAL, _MOMENT)

    hook, sys.unraisablehook = sys.unraisablehook, dropped
    alarm = signal.getsignal(signal.SIGALRM) if hasattr(signal, "SIGALRM") else None
    try:
        for number in heeded:
            signal.signal(number, end)
        yield
    finally:
        sys.unraisablehook = hook
        if alarm is not None:
            signal.signal(signal.SIGALRM, alarm)
        for number in heeded:
            signal.signal(number, before[number])
