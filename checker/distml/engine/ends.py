"""Requests to end: a signal becomes an exception, so that every `finally` on the way out is reached."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)


class EndedError(KeyboardInterrupt):
    """A signal asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def heeding() -> Iterator[None]:
    """A request to end raises `EndedError` in the block, once; what ignores it or handles it already is left alone."""
    if threading.current_thread() is not threading.main_thread():
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

    try:
        for number in heeded:
            signal.signal(number, end)
        yield
    finally:
        for number in heeded:
            signal.signal(number, before[number])
