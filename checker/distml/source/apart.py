"""Parsers that may overflow their stack or never come to an end are tried in a process of their own."""

from __future__ import annotations

import faulthandler
import os
import signal
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


def can_fork() -> bool:
    """Whether this system can try something in another process."""
    return hasattr(os, "fork")


def apart(run: Callable[[], int], seconds: int) -> int | None:
    """What `run` gives in a copy of this process, from 0 to 255; None where it died or took more processor time.

    Raises `OSError` where the system allows no other process.
    """
    dying = dying_with_parent()
    child = os.fork()
    if child == 0:
        code = 255
        with suppress(BaseException):
            dying()
            faulthandler.disable()  # nobody wants to read of its end
            _limit_time(seconds)
            code = run()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else None


def dying_with_parent() -> Callable[[], object]:
    """What a forked process calls to be ended by the system when its parent is gone, however that ended; Linux alone can.

    What it takes is loaded now, so that the call itself is one system call.
    """
    import ctypes

    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    return partial(prctl, _DIE_WITH_PARENT, signal.SIGKILL) if prctl is not None else int


def _limit_time(seconds: int) -> None:
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or hard > seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
