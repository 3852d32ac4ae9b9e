"""A process that answers one question after another about one document, and what of it the process that forked it knows.

It keeps what it needed for the last answer (`distml.server.kept`). Where it cannot answer, since it dies or a limit is reached,
the question is answered anew by a process with the workers and limits of `distml check`.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from distml.engine.config import Config
from distml.engine.limits import Eye, Vigil
from distml.server.kept import AskedAgainError, Kept
from distml.source.apart import dying_with_parent
from distml.source.memory import collect_seldom

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Message = dict[str, Any]
Answer = Any  # what a message is answered by, given the buffers and what is kept
AGAIN = "again"
LATE = 0.2
"""Seconds for which a question that is no longer wanted may go on: most end by themselves, and what was kept is not lost."""


class Keeper:
    """A fork of this process for one document, and the questions that wait for it."""

    def __init__(self, answer: Callable[[Message, Mapping[str, bytes], Kept], Message], others: list[int]) -> None:
        """Raises `OSError` where the system allows no more processes."""
        self._known: dict[str, bytes] = {}
        self.waiting: list[Message] = []
        self.asked: Message | None = None
        self._over = 0.0
        self._vigil: Vigil | None = None
        self._received = b""
        asked, self._asking = os.pipe()
        self.answers, answered = os.pipe()
        try:
            self.pid = os.fork()
        except OSError:
            for each in (asked, self._asking, self.answers, answered):
                os.close(each)
            raise
        if self.pid == 0:
            for each in (self._asking, self.answers, *others):
                os.close(each)
            _live(answer, asked, answered)
        os.close(asked)
        os.close(answered)

    @property
    def ends(self) -> tuple[int, int]:
        """Our ends of the pipes, which no other process may hold."""
        return self._asking, self.answers

    def go_on(self, buffers: Mapping[str, bytes]) -> None:
        """Ask the next question, if it has answered the last."""
        if self.asked is not None or not self.waiting:
            return
        self.asked = self.waiting.pop(0)
        changed = {path: data for path, data in buffers.items() if self._known.get(path) is not data}
        gone = [path for path in self._known if path not in buffers]
        self._known = dict(buffers)
        self._over, self._vigil = 0.0, Vigil(Eye(), self.pid, Config().time_limit)
        texts = {path: data.decode("latin-1") for path, data in changed.items()} | dict.fromkeys(gone)
        data = memoryview(json.dumps([texts, self.asked]).encode() + b"\n")
        with suppress(BrokenPipeError):  # its end of the other pipe says so
            while data:
                data = data[os.write(self._asking, data) :]

    def cancel(self, number: int) -> None:
        """A question is no longer wanted."""
        self.waiting = [each for each in self.waiting if each["id"] != number]
        if self.asked is not None and self.asked["id"] == number:
            self._over = time.monotonic() + LATE

    def receive(self) -> Message | None:
        """Read what is there: an answer once all of it has come, an empty one where there will be none, else None."""
        data = os.read(self.answers, 1 << 20)
        self._received += data
        if not data:
            return {}
        if not self._received.endswith(b"\n"):
            return None
        line, self._received = self._received, b""
        return json.loads(line)  # type: ignore[no-any-return]

    @property
    def wanted(self) -> bool:
        """Whether the answer that it works on is still wanted."""
        return self._over == 0

    def over(self) -> bool:
        """Whether it works too long."""
        if self.asked is None or self._vigil is None:
            return False
        return time.monotonic() > self._over if self._over else self._vigil.over()

    def end(self) -> None:
        """End it, whatever it is doing."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        for each in self.ends:
            os.close(each)
        os.waitpid(self.pid, 0)


def _live(answer: Callable[[Message, Mapping[str, bytes], Kept], Message], asked: int, answered: int) -> NoReturn:
    """The life of such a process: it answers until nobody asks any more."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        dying_with_parent()()
        collect_seldom()
        kept, buffers = Kept(), dict[str, bytes]()
        for texts, message in _lines(asked):
            for path, text in texts.items():
                buffers.pop(path, None)
                if text is not None:
                    buffers[path] = text.encode("latin-1")
            try:
                found = answer(message, buffers, kept)
            except AskedAgainError:
                found = {AGAIN: True}
            data = memoryview(json.dumps(found).encode() + b"\n")
            while data:
                data = data[os.write(answered, data) :]
            gc.collect()  # while nobody waits
        os._exit(0)
    except BaseException:  # nothing may run on in a fork
        os._exit(70)


def _lines(descriptor: int) -> Iterator[Any]:
    with os.fdopen(descriptor, "rb") as file:
        for line in file:
            yield json.loads(line)
