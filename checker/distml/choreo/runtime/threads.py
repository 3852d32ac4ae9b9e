"""Channels between threads of one process: a queue each way."""

from __future__ import annotations

import time
from queue import Empty, SimpleQueue

_Inbox = SimpleQueue[bytes | None]  # None: nothing comes any more


class QueueLink:
    """One end of a pair of queues."""

    def __init__(self, inbox: _Inbox, outbox: _Inbox) -> None:
        self._inbox = inbox
        self._outbox = outbox
        self._over = False

    def send(self, frame: bytes, deadline: float | None) -> None:
        """Put the frame into the peer's queue, which is never full."""
        if self._over:
            raise EOFError("closed")
        self._outbox.put(frame)

    def receive(self, deadline: float | None) -> bytes:
        """The next frame. Raises TimeoutError, and EOFError after either side has closed."""
        try:
            wait = None if deadline is None else deadline - time.monotonic()
            frame = self._inbox.get(timeout=wait) if wait is None or wait > 0 else self._inbox.get_nowait()
        except Empty:
            raise TimeoutError from None
        if frame is None:
            self._inbox.put(None)
            raise EOFError("closed")
        return frame

    def close(self) -> None:
        """Let the peer, and whoever waits on this side, know that nothing comes any more."""
        self._over = True
        self._outbox.put(None)
        self._inbox.put(None)


def queue_pair() -> tuple[QueueLink, QueueLink]:
    """The two ends of a channel between two threads."""
    first: _Inbox = SimpleQueue()
    second: _Inbox = SimpleQueue()
    return QueueLink(first, second), QueueLink(second, first)
