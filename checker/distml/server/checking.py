"""`python -m distml.server.checking`: the process that answers the server's questions; it has no threads, so it can fork.

It reads messages, one JSON object a line, and knows the buffers of the editor. Questions that come with each edit are answered by
a fork of it that stays for the next one (`distml.server.keepers`), others by a fork for each, which starts workers with the
limits of `distml check`. One that is no longer wanted is ended. When its input ends it ends with all of them.
"""

from __future__ import annotations

import gc
import json
import os
import re
import select
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from distml.diagnostics.registry import all_rules
from distml.engine.config import Config, ConfigError
from distml.engine.ends import heeding
from distml.engine.one import check_one, describe
from distml.server import answers
from distml.server.keepers import AGAIN, Keeper
from distml.server.kept import AskedAgainError, Kept
from distml.source.apart import dying_with_parent
from distml.source.libraries import TENSOR_LIBRARIES
from distml.source.project import Project
from distml.source.reading import declared_encoding

_CHUNK = 1 << 20
_NAMED = re.compile(rf"^\s*(?:import|from)\s+({'|'.join(sorted(TENSOR_LIBRARIES))})\b", re.MULTILINE)
_ANSWERS: dict[str, Callable[..., object]] = {
    "findings": answers.findings,
    "migration": answers.migration,
    "models": answers.models,
    "shapes": answers.shapes,
    "suppression": answers.suppression,
}
_STAYING = frozenset({"findings", "shapes"})
"""What is asked with each edit."""
_LOOK = 100  # milliseconds between two looks at those that work
_MOST = 4  # processes that stay; the one that was asked the longest ago ends for another
_SAMPLE = """
import {0}
class Part:
    def __init__(self, size):
        self.size = size
    def __call__(self, x):
        return x.reshape(self.size, -1)
def work(x):
    for y in sorted([1, 2]):
        x = x + y
    return f"{{len(x.shape)}}"
work(Part(2)({0}.zeros((2, 2))))
{0}.zeros((2, 3)) @ {0}.zeros((2, 3))
"""
"""A program of ours that makes the interpreter load what programs for a library need."""


class _Checking:
    """The buffers, and the forks that are at work, each with the pipe on which its answer comes."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._buffers: dict[str, bytes] = {}
        self._forks: dict[int, _Fork] = {}
        self._keepers: dict[str, Keeper] = {}
        self._received = b""
        self._warm: set[str] = set()

    def serve(self) -> None:
        """Answer until the input ends."""
        try:
            while True:
                poll = select.poll()
                forks = {each.answer: (number, each) for number, each in self._forks.items()}
                keepers = {each.answers: (path, each) for path, each in self._keepers.items()}
                for descriptor in (self._incoming, *forks, *keepers):
                    poll.register(descriptor, select.POLLIN)
                busy = any(each.asked is not None for each in self._keepers.values())
                ready = [descriptor for descriptor, _ in poll.poll(_LOOK if busy else None)]
                for descriptor in ready:
                    if descriptor in keepers:
                        self._heard(*keepers[descriptor])
                    elif descriptor in forks and not forks[descriptor][1].receive():
                        self._answer(forks[descriptor][0])
                if self._incoming in ready and not self._receive():
                    return
                for path, keeper in list(self._keepers.items()):
                    if keeper.over():
                        self._replace(path)
        finally:
            for path in list(self._keepers):
                self._keepers.pop(path).end()
            for each in self._forks.values():
                each.end(signal.SIGKILL if each.cancelled else signal.SIGTERM)

    def _receive(self) -> bool:
        data = os.read(self._incoming, _CHUNK)
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._heed(json.loads(line))
        return bool(data)

    def _heed(self, message: dict[str, Any]) -> None:
        if "buffer" in message:
            self._keep(message["buffer"], message["text"])
        elif "cancel" in message:
            for each in self._keepers.values():
                each.cancel(message["cancel"])
            fork = self._forks.get(message["cancel"])
            if fork is not None and not fork.cancelled:
                fork.cancel()
        elif message["what"] in _STAYING:
            self._ask(os.path.realpath(message["path"]), [message])
        else:
            self._fork(message)

    def _fork(self, message: dict[str, Any]) -> None:
        """Have a question answered by a process of its own."""
        try:
            self._forks[message["id"]] = _Fork(lambda: self._carry_out(message, self._buffers, None), self._others())
        except OSError as error:
            self._say({"id": message["id"], "failed": f"the system refused: {error.strerror}"})

    def _ask(self, path: str, messages: list[dict[str, Any]]) -> None:
        """Have questions about a file answered by the process that stays for it."""
        keeper = self._keepers.pop(path, None)
        if keeper is None:
            idle = [each for each, other in self._keepers.items() if other.asked is None]
            if len(self._keepers) >= _MOST and idle:
                self._keepers.pop(idle[0]).end()
            try:
                keeper = Keeper(self._carry_out, self._others())
            except OSError:
                for message in messages:
                    self._fork(message)
                return
        self._keepers[path] = keeper
        keeper.waiting += messages
        keeper.go_on(self._buffers)

    def _heard(self, path: str, keeper: Keeper) -> None:
        """A process that stays has said something, or ended."""
        answer = keeper.receive()
        if answer is None:
            return
        if keeper.asked is None or not answer or AGAIN in answer:
            self._replace(path)
            return
        if keeper.wanted:
            self._say({"id": keeper.asked["id"], **answer})
        keeper.asked = None
        keeper.go_on(self._buffers)

    def _replace(self, path: str) -> None:
        """End a process that stays: what it was asked is answered by one of its own, what waits by the next that stays."""
        keeper = self._keepers.pop(path)
        keeper.end()
        if keeper.asked is not None and keeper.wanted:
            self._fork(keeper.asked)
        if keeper.waiting:
            self._ask(path, keeper.waiting)

    def _others(self) -> list[int]:
        ends = (end for each in self._keepers.values() for end in each.ends)
        return [self._incoming, self._outgoing, *(each.answer for each in self._forks.values()), *ends]

    def _keep(self, path: str, text: str | None) -> None:
        """Keep a buffer as its file would be saved; one that its declared encoding cannot hold will be a finding."""
        if text is None:
            self._buffers.pop(path, None)
            if path in self._keepers and self._keepers[path].asked is None:
                self._keepers.pop(path).end()
            return
        data = text.encode("utf-8", "surrogatepass")
        with suppress(LookupError, ValueError):
            data = text.encode(declared_encoding(data))
        self._buffers[path] = data
        for library in sorted(set(_NAMED.findall(text)) - self._warm):
            self.warm(library)

    def warm(self, library: str) -> None:
        """Load what checks of programs for a library need, so that no fork has to."""
        self._warm.add(library)
        path = os.path.join(os.sep, "sample.py")
        check_one(path, Project(os.sep, overlay={path: _SAMPLE.format(library).encode()}), Config())
        gc.collect()
        gc.freeze()

    def _carry_out(self, message: dict[str, Any], buffers: Mapping[str, bytes], kept: Kept | None) -> dict[str, Any]:
        asked = answers.Asked(message["path"], message["root"], message["units"], buffers, kept)
        try:
            return {"answer": _ANSWERS[message["what"]](asked, *message.get("more", ()))}
        except ConfigError as error:
            return {"refused": str(error)}
        except Exception as error:
            if kept is not None:  # what is kept or too little memory may be the reason
                raise AskedAgainError from error
            return {"failed": describe(error)}

    def _answer(self, number: int) -> None:
        fork = self._forks.pop(number)
        status = fork.end(0)
        try:
            answer = json.loads(fork.received)
        except ValueError:
            answer = {"failed": f"the process died ({os.waitstatus_to_exitcode(status)})"}
        self._say({"id": number, **answer})

    def _say(self, message: dict[str, Any]) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(self._outgoing, data) :]


class _Fork:
    """A copy of this process that finds one answer."""

    def __init__(self, answer: Any, others: list[int]) -> None:
        self.answer, writing = os.pipe()
        self.received = b""
        self.cancelled = False
        try:
            self.pid = os.fork()
        except OSError:
            os.close(self.answer)
            os.close(writing)
            raise
        if self.pid == 0:
            for descriptor in (self.answer, *others):
                os.close(descriptor)
            _find(answer, writing)
        os.close(writing)

    def receive(self) -> bool:
        """Read what is there; whether there may be more."""
        data = os.read(self.answer, _CHUNK)
        self.received += data
        return bool(data)

    def cancel(self) -> None:
        """Ask it to end; its workers end with it."""
        self.cancelled = True
        self._signal(signal.SIGTERM)

    def end(self, number: int) -> int:
        """Wait for its end, asking for it by a signal unless that is 0; the exit status."""
        if number:
            self._signal(number)
        os.close(self.answer)
        return os.waitpid(self.pid, 0)[1]

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def _find(answer: Any, writing: int) -> NoReturn:
    """The life of a fork: an answer, or why there is none, in one line."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        dying_with_parent()()
        with heeding():
            data = memoryview(json.dumps(answer()).encode())
            while data:
                data = data[os.write(writing, data) :]
        os._exit(0)
    except BaseException:  # nothing may run on in a fork
        os._exit(70)


def main() -> int:
    """Serve on standard input and output, which nothing else can read or write from then on."""
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal; the server decides
    dying_with_parent()()
    all_rules()
    for needed in ("tomllib", "distml.engine.workers", "distml.gradual.shapes"):
        import_module(needed)
    with suppress(BrokenPipeError, KeyboardInterrupt), heeding():
        checking = _Checking(incoming, outgoing)
        checking.warm("torch")
        checking.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
