"""`python -m distml.server.checking`: the process that answers the server's questions; it has no threads, so it can fork.

It reads messages, one JSON object a line, and knows the buffers of the editor. Each question is answered by a fork of it,
which has the interpreter in memory already and starts workers with the limits of `distml check`. One that is no longer wanted is
ended. When its input ends it ends with all of them.
"""

from __future__ import annotations

import gc
import json
import os
import re
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from distml.diagnostics.registry import all_rules
from distml.engine.config import Config, ConfigError
from distml.engine.ends import heeding
from distml.engine.one import check_one, describe
from distml.server import answers
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
        self._received = b""
        self._warm: set[str] = set()

    def serve(self) -> None:
        """Answer until the input ends."""
        try:
            while True:
                poll = select.poll()
                forks = {each.answer: (number, each) for number, each in self._forks.items()}
                for descriptor in (self._incoming, *forks):
                    poll.register(descriptor, select.POLLIN)
                for descriptor, _ in poll.poll():
                    if descriptor == self._incoming:
                        if not self._receive():
                            return
                    elif not forks[descriptor][1].receive():
                        self._answer(forks[descriptor][0])
        finally:
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
            fork = self._forks.get(message["cancel"])
            if fork is not None and not fork.cancelled:
                fork.cancel()
        else:
            try:
                self._forks[message["id"]] = _Fork(lambda: self._carry_out(message), self._others())
            except OSError as error:
                self._say({"id": message["id"], "failed": f"the system refused: {error.strerror}"})

    def _others(self) -> list[int]:
        return [self._incoming, self._outgoing, *(each.answer for each in self._forks.values())]

    def _keep(self, path: str, text: str | None) -> None:
        """Keep a buffer as its file would be saved; one that its declared encoding cannot hold will be a finding."""
        if text is None:
            self._buffers.pop(path, None)
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

    def _carry_out(self, message: dict[str, Any]) -> object:
        asked = answers.Asked(message["path"], message["root"], message["units"], self._buffers)
        return _ANSWERS[message["what"]](asked, *message.get("more", ()))

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
            data = memoryview(json.dumps(_guarded(answer)).encode())
            while data:
                data = data[os.write(writing, data) :]
        os._exit(0)
    except BaseException:  # nothing may run on in a fork
        os._exit(70)


def _guarded(answer: Any) -> dict[str, Any]:
    try:
        return {"answer": answer()}
    except ConfigError as error:
        return {"refused": str(error)}
    except Exception as error:
        return {"failed": describe(error)}


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
