"""The server's end of the process that checks: questions go out, answers come back, whatever becomes of that process.

It is started when the first question is asked and again after it died, with the buffers as they are then.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import Any

AT_ONCE = 2  # questions that are answered at a time
LONGEST = 1 << 30  # bytes of an answer
ENDING = 3.0  # seconds that the process has to end its workers


class NoAnswerError(Exception):
    """A question was not answered: one line that says why. `refused`: it is the configuration that is wrong."""

    def __init__(self, message: str, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


class Checks:
    """Asks questions about documents; a question that is cancelled is no longer worked on."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._buffers: dict[str, str] = {}
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._starting = asyncio.Lock()
        self._last = 0

    def keep(self, path: str, text: str | None) -> None:
        """The text of a file as it is in the editor from now on; None where the file on disk counts again."""
        if text is not None:
            self._buffers[path] = text
        elif self._buffers.pop(path, None) is None:
            return
        self._send({"buffer": path, "text": text})

    async def ask(self, what: str, path: str, root: str, units: str, *more: object) -> Any:
        """The answer to a question, see `distml.server.answers`. Raises `NoAnswerError`."""
        async with self._turn:
            await self._start()
            self._last += 1
            number = self._last
            future = self._waiting[number] = asyncio.get_running_loop().create_future()
            self._send({"id": number, "what": what, "path": path, "root": root, "units": units, "more": more})
            try:
                said = await future
            except asyncio.CancelledError:
                self._send({"cancel": number})
                raise
            finally:
                self._waiting.pop(number, None)
        if "answer" in said:
            return said["answer"]
        raise NoAnswerError(said.get("refused") or said["failed"], "refused" in said)

    async def end(self) -> None:
        """End the process and all that it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), ENDING)
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _start(self) -> None:
        async with self._starting:
            if self._process is not None:
                return
            isolation = "-I" if sys.flags.isolated else "-P"  # nothing of the folder that is checked may be imported
            command = [sys.executable, isolation, "-m", "distml.server.checking"]
            pipe = asyncio.subprocess.PIPE
            try:
                self._process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=LONGEST)
            except OSError as error:
                raise NoAnswerError(f"no process to check with: {error.strerror}") from None
            self._listening = asyncio.create_task(self._listen(self._process))
            for path, text in self._buffers.items():
                self._send({"buffer": path, "text": text})

    def _send(self, message: dict[str, Any]) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Hand out answers until the process ends; what is not answered then never will be."""
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                said = json.loads(line)
                future = self._waiting.get(said["id"])
                if future is not None and not future.done():
                    future.set_result(said)
        except (OSError, ValueError, KeyError):
            with suppress(ProcessLookupError):
                process.kill()
        code = await process.wait()
        if self._process is process:
            self._process = None
        for future in self._waiting.values():
            if not future.done():
                future.set_result({"failed": f"the process that checks ended ({code})"})
