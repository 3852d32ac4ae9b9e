"""How long the solver may take: by the processor, so that what else the machine does takes no answer away."""

from __future__ import annotations

from time import thread_time


class Clock:
    """Seconds of processor time that this thread may still spend."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = thread_time() + seconds

    @property
    def left(self) -> float:
        """Seconds, at least zero."""
        return max(0.0, self._end - thread_time())
