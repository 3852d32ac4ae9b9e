"""One command run to its end: exit code, output, seconds, and the most memory that one of its processes held."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """A command that has ended. `peak` is in MiB: the largest process among it and those it waited for."""

    command: Sequence[str]
    code: int
    output: str
    errors: str
    seconds: float
    peak: float


def run(command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None) -> Run:
    """Run a command in a folder, with variables added to the environment."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        child = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        return Run(command, child.returncode, _text(output), _text(errors), seconds, used.ru_maxrss / 1024)


def best(command: Sequence[str], times: int, folder: Path | None = None, **environment: str) -> float:
    """The shortest of several runs, in seconds: the one that was least disturbed."""
    return min(run(command, folder, environment).seconds for _ in range(times))


def _text(file: object) -> str:
    file.seek(0)  # type: ignore[attr-defined]
    return file.read().decode("utf-8", "replace")  # type: ignore[attr-defined]
