"""A progress bar for runs that take long, on a terminal only."""

from __future__ import annotations

import time
from typing import TextIO

DELAY = 1.0  # seconds before it appears
EVERY = 0.1


class Progress:
    """Called with the number of files done and of all; draws at most ten times a second."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = time.monotonic() + DELAY
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() < self._next:
            return
        width = 30
        full = width * done // max(total, 1)
        self._stream.write(f"\r\x1b[K[{'#' * full}{'.' * (width - full)}] {done}/{total} files")
        self._stream.flush()
        self._next = time.monotonic() + EVERY
        self._drawn = True

    def clear(self) -> None:
        """Remove the bar, if there is one."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False
