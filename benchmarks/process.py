"""One command run to its end: exit code, output, seconds, and the most memory that one of its processes held.

Seconds are wall time; `cpu` is what the processes computed, which depends less on what else the machine does.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """A command that has ended. `peak` is in MiB: the largest process among it and those it waited for."""

    command: Sequence[str]
    code: int
    output: str
    errors: str
    seconds: float
    cpu: float
    peak: float


class Times(NamedTuple):
    """The shortest wall and CPU time of several runs, those that were least disturbed."""

    seconds: float
    cpu: float


def run(command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None) -> Run:
    """Run a command in a folder, with variables added to the environment. Python keeps what it compiles, as pip does."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        child = subprocess.Popen(
            command,
            cwd=folder,
            env={**inherited, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        cpu = used.ru_utime + used.ru_stime
        return Run(command, child.returncode, _text(output), _text(errors), seconds, cpu, used.ru_maxrss / 1024)


def best(runs: Iterable[Run]) -> Times:
    """The shortest times of several runs."""
    done = list(runs)
    return Times(min(each.seconds for each in done), min(each.cpu for each in done))


def _text(file: object) -> str:
    file.seek(0)  # type: ignore[attr-defined]
    return file.read().decode("utf-8", "replace")  # type: ignore[attr-defined]
