"""Checks files in worker processes, so that none of them can take the others along.

Workers are forks of this process: nothing is imported twice before work begins. Each is handed one file at a time and sends
each finding when it is made, then the result. One that overstays the time limit is ended, one that dies is replaced, and the
file it had in hand gets a finding beside those that had come.
"""

from __future__ import annotations

import json
import os
import select
import signal
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from distml.diagnostics.model import Diagnostic
from distml.engine.config import Config
from distml.engine.limits import Eye, Vigil, limit_memory
from distml.engine.one import out_of_memory, out_of_time, stopped
from distml.engine.results import FileResult, Note, decode, encode
from distml.source.apart import dying_with_parent
from distml.source.memory import collect_seldom, limits_itself

Check = Callable[[str, Note], FileResult]
_INDEX = struct.Struct("!q")
_HEAD = struct.Struct("!cq")
_RESULT, _MADE = b"r", b"m"
_MEMORY = (71, 72)
"""With what a worker exits for which memory ran out: by a limit of the system, and by its own."""
_SPENT = frozenset({"SRC105", "SRC106"})
"""What ends a worker: it was stopped in the middle of something, and may hold half of it."""


def can_fork() -> bool:
    """Whether this system has worker processes as they are made here."""
    return hasattr(os, "fork") and hasattr(signal, "setitimer")


def check_all(
    paths: Sequence[str], check: Check, config: Config, jobs: int, eye: Eye | None = None
) -> Iterator[tuple[int, FileResult]]:
    """The index and result of every path, in the order they are done."""
    pool = _Pool(paths, check, config, eye or Eye())
    try:
        yield from pool.run(min(jobs, len(paths)))
    finally:
        pool.end()


class _Worker:
    """One child process, the pipes to it, the file it has in hand and what was found in it so far."""

    def __init__(self, check: Check, paths: Sequence[str], config: Config, others: Sequence[_Worker]) -> None:
        task_end, self._tasks = os.pipe()
        try:
            self.results, result_end = os.pipe()
        except OSError:
            _close(task_end, self._tasks)
            raise
        self.index = -1
        self.vigil: Vigil
        self.made: list[Diagnostic] = []
        self._received = b""
        parent = os.getpid()
        try:
            self.pid = os.fork()
        except OSError:
            _close(task_end, result_end, *self.ends)
            raise
        if self.pid == 0:
            _close(*self.ends, *(end for each in others for end in each.ends))
            _serve(check, paths, config, task_end, result_end, parent)
        _close(task_end, result_end)

    @property
    def ends(self) -> tuple[int, int]:
        """Our ends of the pipes."""
        return self._tasks, self.results

    def give(self, index: int, vigil: Vigil) -> None:
        self.index, self.vigil, self.made, self._received = index, vigil, [], b""
        with suppress(BrokenPipeError):  # it has died; its end of the other pipe says so
            os.write(self._tasks, _INDEX.pack(index))

    def receive(self) -> bool:
        """Read what is there; whether the pipe is still open."""
        data = os.read(self.results, 1 << 16)
        self._received += data
        return bool(data)

    def result(self) -> FileResult | None:
        """The result, once all of it has come; findings that came before it are kept apart."""
        while len(self._received) >= _HEAD.size:
            kind, size = _HEAD.unpack_from(self._received)
            end = _HEAD.size + size
            if len(self._received) < end:
                break
            sent = decode(json.loads(self._received[_HEAD.size : end]))
            self._received = self._received[end:]
            if kind == _RESULT:
                return sent
            self.made += sent.diagnostics
        return None

    def kill(self) -> FileResult | None:
        """End the process, whatever it is doing; the result, where that was on its way, else what it sent is in `made`."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        while self.receive():
            pass
        return self.result()

    def end(self) -> int:
        """Close the pipes and wait; the exit status."""
        _close(*self.ends)
        _, status = os.waitpid(self.pid, 0)
        return status


class _Pool:
    """Hands out files in order and keeps as many workers as there is work for."""

    def __init__(self, paths: Sequence[str], check: Check, config: Config, eye: Eye) -> None:
        self._paths, self._check, self._config, self._eye = paths, check, config, eye
        self._next = 0
        self._workers: list[_Worker] = []

    def run(self, jobs: int) -> Iterator[tuple[int, FileResult]]:
        for _ in range(jobs):
            self._start()
        while self._workers or self._next < len(self._paths):
            if not self._workers:  # the system allows none: better here than not at all
                self._next += 1
                yield self._next - 1, self._check(self._paths[self._next - 1], _nobody)
                self._start()
                continue
            poll = select.poll()
            for worker in self._workers:
                poll.register(worker.results, select.POLLIN)
            ready = {descriptor for descriptor, _ in poll.poll(1000 * self._eye.interval)}
            for worker in [each for each in self._workers if each.results in ready]:
                yield from self._read(worker)
            for worker in [each for each in self._workers if each.vigil.over()]:
                yield from self._give_up(worker)

    def end(self) -> None:
        """End all workers, whatever they are doing."""
        for worker in list(self._workers):
            worker.kill()
            self._retire(worker)

    def _start(self) -> None:
        """Another worker, where there is work for it and the system allows one more."""
        if self._next < len(self._paths):
            with suppress(OSError):
                self._workers.append(_Worker(self._check, self._paths, self._config, self._workers))
                self._hand_out(self._workers[-1])

    def _hand_out(self, worker: _Worker) -> None:
        worker.give(self._next, Vigil(self._eye, worker.pid, self._config.time_limit))
        self._next += 1

    def _read(self, worker: _Worker) -> Iterator[tuple[int, FileResult]]:
        if not worker.receive():
            status = self._retire(worker)
            yield worker.index, self._died(worker, status)
            self._start()
            return
        result = worker.result()
        if result is None:
            return
        yield worker.index, result
        spent = any(finding.code in _SPENT for finding in result.diagnostics)
        if spent or self._next >= len(self._paths):
            if spent:
                worker.kill()
            self._retire(worker)
            self._start()
        else:
            self._hand_out(worker)

    def _give_up(self, worker: _Worker) -> Iterator[tuple[int, FileResult]]:
        result = worker.kill()
        self._retire(worker)
        message = out_of_time(self._config, worker.vigil.used, worker.vigil.idle)
        yield worker.index, result or stopped("SRC105", self._paths[worker.index], message, worker.made)
        self._start()

    def _died(self, worker: _Worker, status: int) -> FileResult:
        path = self._paths[worker.index]
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            message = "the system ended the process, as it does when memory runs out; findings after that are missing"
            return stopped("SRC106", path, message, worker.made)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) in _MEMORY:
            ours = os.WEXITSTATUS(status) == _MEMORY[True]
            return stopped("SRC106", path, out_of_memory(self._config, ours), worker.made)
        how = f"exit code {os.waitstatus_to_exitcode(status)}"
        if os.WIFSIGNALED(status):
            how = signal.strsignal(os.WTERMSIG(status)) or f"signal {os.WTERMSIG(status)}"
        return stopped("SRC201", path, f"distml failed on this file: its process died ({how})", worker.made)

    def _retire(self, worker: _Worker) -> int:
        self._workers.remove(worker)
        return worker.end()


def _serve(check: Check, paths: Sequence[str], config: Config, tasks: int, results: int, parent: int) -> None:
    """The life of a worker: never returns."""

    def tell(finding: Diagnostic) -> None:
        _send(results, _MADE, FileResult((finding,)))

    try:
        for number, action in {"SIGINT": signal.SIG_IGN, "SIGTERM": signal.SIG_DFL, "SIGHUP": signal.SIG_DFL}.items():
            signal.signal(getattr(signal, number), action)
        dying_with_parent()()
        if os.getppid() != parent:  # it went before it could take us along
            os._exit(70)
        limit_memory(config.memory_limit)
        collect_seldom()
        while len(task := os.read(tasks, _INDEX.size)) == _INDEX.size:
            (index,) = _INDEX.unpack(task)
            _send(results, _RESULT, check(paths[index], tell))
        os._exit(0)
    except MemoryError:
        os._exit(_MEMORY[limits_itself()])
    except BaseException:  # the parent sees the exit code; nothing may run on in a fork
        os._exit(70)


def _send(descriptor: int, kind: bytes, result: FileResult) -> None:
    """Send all or nothing: an alarm in the middle would leave the parent with half of it."""
    data = json.dumps(encode(result)).encode()
    rest = memoryview(_HEAD.pack(kind, len(data)) + data)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})


def _nobody(_finding: Diagnostic) -> None:
    """Told of findings where nobody has to keep them."""


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
