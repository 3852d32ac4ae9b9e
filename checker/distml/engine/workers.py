"""Checks files in worker processes, so that none of them can take the others along.

Workers are forks of this process: nothing is imported twice before work begins. Each is handed one file at a time. One
that overstays the time limit is ended, one that dies is replaced, and the file it had in hand gets a finding.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from distml.engine.config import Config
from distml.engine.limits import CLOCK, LAST_GRACE, limit_memory
from distml.engine.one import failure, out_of_memory, out_of_time
from distml.engine.results import FileResult, decode, encode

Check = Callable[[str], FileResult]
_COLLECT = (
    100_000,
    50,
    100,
)  # syntax trees and shapes are many and long-lived: looking for garbage less often saves a tenth
_INDEX = struct.Struct("!q")
_SPENT = frozenset({"SRC105", "SRC106"})
"""What ends a worker: it was stopped in the middle of something, and may hold half of it."""


def can_fork() -> bool:
    """Whether this system has worker processes as they are made here."""
    return hasattr(os, "fork") and hasattr(signal, "setitimer")


def check_all(paths: Sequence[str], check: Check, config: Config, jobs: int) -> Iterator[tuple[int, FileResult]]:
    """The index and result of every path, in the order they are done."""
    pool = _Pool(paths, check, config)
    try:
        yield from pool.run(min(jobs, len(paths)))
    finally:
        pool.end()


class _Worker:
    """One child process, the pipes to it, and the file it has in hand."""

    def __init__(self, check: Check, paths: Sequence[str], config: Config, others: Sequence[_Worker]) -> None:
        task_end, self._tasks = os.pipe()
        self.results, result_end = os.pipe()
        self.index = -1
        self.since = 0.0
        self.received = b""
        self.pid = os.fork()
        if self.pid == 0:
            for descriptor in [self._tasks, self.results, *(end for each in others for end in each.ends)]:
                os.close(descriptor)
            _serve(check, paths, config, task_end, result_end)
        os.close(task_end)
        os.close(result_end)

    @property
    def ends(self) -> tuple[int, int]:
        """Our ends of the pipes."""
        return self._tasks, self.results

    def give(self, index: int) -> None:
        self.index, self.since, self.received = index, time.monotonic(), b""
        with suppress(BrokenPipeError):  # it has died; its end of the other pipe says so
            os.write(self._tasks, _INDEX.pack(index))

    def receive(self) -> bool:
        """Read what is there; whether the pipe is still open."""
        data = os.read(self.results, 1 << 16)
        self.received += data
        return bool(data)

    def complete(self) -> bytes | None:
        """The answer, once all of it has come."""
        if len(self.received) < _INDEX.size:
            return None
        (size,) = _INDEX.unpack_from(self.received)
        answer = self.received[_INDEX.size :]
        return answer if len(answer) == size else None

    def end(self, kill: bool) -> int:
        """Close the pipes and wait; the exit status."""
        for descriptor in self.ends:
            os.close(descriptor)
        if kill:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        return status


class _Pool:
    """Hands out files in order and keeps as many workers as there is work for."""

    def __init__(self, paths: Sequence[str], check: Check, config: Config) -> None:
        self._paths, self._check, self._config = paths, check, config
        self._next = 0
        self._workers: list[_Worker] = []

    def run(self, jobs: int) -> Iterator[tuple[int, FileResult]]:
        for _ in range(jobs):
            self._start()
        while self._workers:
            readable, _, _ = select.select([worker.results for worker in self._workers], [], [], self._patience())
            for worker in [each for each in self._workers if each.results in readable]:
                yield from self._read(worker)
            for worker in [each for each in self._workers if self._left(each) <= 0]:
                self._retire(worker, kill=True)
                yield worker.index, failure("SRC105", self._paths[worker.index], out_of_time(self._config))
                self._start()

    def end(self) -> None:
        """End all workers, whatever they are doing."""
        for worker in list(self._workers):
            self._retire(worker, kill=True)

    def _start(self) -> None:
        if self._next < len(self._paths):
            worker = _Worker(self._check, self._paths, self._config, self._workers)
            self._workers.append(worker)
            self._hand_out(worker)

    def _hand_out(self, worker: _Worker) -> None:
        worker.give(self._next)
        self._next += 1

    def _read(self, worker: _Worker) -> Iterator[tuple[int, FileResult]]:
        if not worker.receive():
            status = self._retire(worker, kill=False)
            yield worker.index, self._died(worker, status)
            self._start()
            return
        answer = worker.complete()
        if answer is None:
            return
        result = decode(json.loads(answer))
        yield worker.index, result
        spent = any(finding.code in _SPENT for finding in result.diagnostics)
        if spent or self._next >= len(self._paths):
            self._retire(worker, kill=spent)
            self._start()
        else:
            self._hand_out(worker)

    def _died(self, worker: _Worker, status: int) -> FileResult:
        path = self._paths[worker.index]
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            return failure("SRC106", path, f"{out_of_memory(self._config)}: the system ended the process")
        how = f"exit code {os.waitstatus_to_exitcode(status)}"
        if os.WIFSIGNALED(status):
            how = signal.strsignal(os.WTERMSIG(status)) or f"signal {os.WTERMSIG(status)}"
        return failure("SRC201", path, f"distml failed on this file: its process died ({how})")

    def _retire(self, worker: _Worker, kill: bool) -> int:
        self._workers.remove(worker)
        return worker.end(kill)

    def _left(self, worker: _Worker) -> float:
        return worker.since + CLOCK * self._config.time_limit + LAST_GRACE - time.monotonic()

    def _patience(self) -> float:
        return max(0.0, min(self._left(worker) for worker in self._workers)) + 0.01


def _serve(check: Check, paths: Sequence[str], config: Config, tasks: int, results: int) -> None:
    """The life of a worker: never returns."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        limit_memory(config.memory_limit)
        gc.freeze()
        gc.set_threshold(*_COLLECT)
        while len(task := os.read(tasks, _INDEX.size)) == _INDEX.size:
            (index,) = _INDEX.unpack(task)
            answer = json.dumps(encode(check(paths[index]))).encode()
            _send(results, _INDEX.pack(len(answer)) + answer)
        os._exit(0)
    except MemoryError:
        os.kill(os.getpid(), signal.SIGKILL)
    except BaseException:  # the parent sees the exit code; nothing may run on in a fork
        os._exit(70)


def _send(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
