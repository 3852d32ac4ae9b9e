"""Runs programs of two ranks for real and tells how they ended: finished, hung, or failed.

A program hangs when nothing moves any more: no rank that is still there has wanted a processor for a while. Slowness is
told from that by asking the kernel, so a busy machine makes no program hang. A rank that lost the other one because that
had ended without it has waited in vain too.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from distml.smoke.processes import wanted_seconds, working

WORLD = 2
AT_ONCE = 10
SILENCE = 0.6
"""Seconds without work after which ranks are looked at more closely."""
IDLE_SHARE = 0.2
LIMIT = 60.0
PATIENCE = 900
"""Seconds after which a program that nobody watches has failed."""
SERVER = Path(__file__).with_name("ranks.py")
LOST = re.compile(r"(?i)connection (closed|reset) by peer|broken pipe|after one of the ranks finished")


@dataclass(frozen=True)
class Ending:
    """How a program ended, what raised on each rank ("" where nothing did, None where it was still there), and outputs.

    The lines are those of the program where a rank was when it was given up or raised, calls that led there included.
    """

    how: str
    raised: tuple[str | None, ...]
    outputs: tuple[str, ...]
    lines: frozenset[int]
    seconds: float

    def __str__(self) -> str:
        return f"{self.how} after {self.seconds:.1f} s, ranks raised {self.raised}"


def judged(raised: Sequence[str | None]) -> str:
    """How a program ended ("finished", "hang" or "error"), from what each rank raised."""
    if not any(each is None or each for each in raised):
        return "finished"
    return "error" if any(each and not LOST.search(each) for each in raised) else "hang"


def run_all(programs: Sequence[Path], python: str = sys.executable, limit: float = LIMIT) -> dict[Path, Ending]:
    """How each program ends; one that has not after `limit` seconds hangs. Nothing is left behind.

    Processes of Horovod ask for news all the time and never look idle: for them only the limit counts.
    """
    with tempfile.TemporaryDirectory(prefix="ranks-") as folder:
        servers, lock = ranks(python), threading.Lock()

        def one(numbered: tuple[int, Path]) -> Ending:
            number, program = numbered
            own = Path(folder, str(number))
            (own / "work").mkdir(parents=True)
            with lock:
                pids = [_start(server, own, program=str(program)) for server in servers]
            return _watch(pids, program, own, limit)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(programs, pool.map(one, enumerate(programs))))


@cache
def ranks(python: str) -> list[subprocess.Popen[str]]:
    """A server for each rank, which takes seconds to start and ends when this process does."""
    servers = []
    for rank in range(WORLD):
        own = {"PYTHONHASHSEED": str(rank), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
        command, environment = [python, str(SERVER), str(rank), str(WORLD)], {**os.environ, **own}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        servers.append(subprocess.Popen(command, env=environment, start_new_session=True, **pipes))
    return servers


class Printed(NamedTuple):
    """What a process printed, its status, and the end of what it wrote of errors."""

    text: str
    status: int
    errors: str


def together(
    arguments: Sequence[str], folder: Path, python: str = sys.executable, *, alone: bool = False, **environment: str
) -> list[str]:
    """What `python ARGUMENTS` prints on each of two ranks, or `alone` in one process; all must end well."""
    found = started(arguments, folder, python, alone=alone, **environment)
    assert not any(each.status for each in found), found
    return [each.text for each in found]


def started(
    arguments: Sequence[str], folder: Path, python: str = sys.executable, *, alone: bool = False, **environment: str
) -> list[Printed]:
    """How `python ARGUMENTS` ends on each of two ranks, or `alone`, in a folder that keeps what they write."""
    for old in (folder / "port", *folder.glob("ending.*")):
        old.unlink(missing_ok=True)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    request = {"arguments": arguments, "alone": alone, "environment": {"MASTER_PORT": port, **environment}}
    pids = [_start(server, folder, **request) for server in ranks(python)[: 1 if alone else WORLD]]
    began = time.monotonic()
    while any(map(_alive, pids)) and time.monotonic() - began < PATIENCE:
        time.sleep(0.01)
    _kill(pids)
    return [
        Printed(
            _read(folder / f"output.{rank}"),
            int(_read(folder / f"ending.{rank}") or -signal.SIGKILL),
            _read(folder / f"errors.{rank}")[-3000:],
        )
        for rank, _ in enumerate(pids)
    ]


def _start(server: subprocess.Popen[str], folder: Path, **request: object) -> int:
    assert server.stdin and server.stdout
    print(json.dumps({**request, "folder": str(folder)}), file=server.stdin, flush=True)
    return int(server.stdout.readline())


def _kill(pids: Sequence[int]) -> None:
    """End processes and those that they started."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def _watch(pids: Sequence[int], program: Path, folder: Path, limit: float) -> Ending:
    """Wait until every rank has ended, or none does anything; then end those that are left."""
    began = since = time.monotonic()
    used = wanted_seconds(pids)
    while left := [pid for pid in pids if _alive(pid)]:
        time.sleep(0.03)
        now = time.monotonic()
        if now - began > limit:
            break
        if now - since > SILENCE:
            spent = wanted_seconds(left)
            if spent - used < IDLE_SHARE * (now - since) and not working(left):
                break
            since, used = time.monotonic(), wanted_seconds(left)
    stuck = [_alive(pid) for pid in pids]
    for pid in left:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGUSR1)
    _written([folder / f"stack.{rank}" for rank, alive in enumerate(stuck) if alive])
    _kill(pids)
    raised = tuple(None if alive else _ending(folder, rank) for rank, alive in enumerate(stuck))
    outputs = tuple(_read(folder / f"output.{rank}") for rank in range(len(pids)))
    return Ending(judged(raised), raised, outputs, _lines(program, folder), time.monotonic() - began)


def _written(paths: Sequence[Path]) -> None:
    """Wait until each file has something in it, for some seconds."""
    for _ in range(100):
        if all(_read(path).endswith("\n") for path in paths):
            return
        time.sleep(0.05)


def _lines(program: Path, folder: Path) -> frozenset[int]:
    """The lines of the program in what its ranks wrote of their stacks."""
    written = "".join(_read(folder / f"{name}.{rank}") for name in ("stack", "errors") for rank in range(WORLD))
    return frozenset(int(line) for line in re.findall(rf'"{re.escape(str(program))}", line (\d+)', written))


def _ending(folder: Path, rank: int) -> str:
    path = folder / f"ending.{rank}"
    return path.read_text("utf-8") if path.is_file() else "the process died: " + _read(folder / f"errors.{rank}")[-500:]


def _read(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""


def _alive(pid: int) -> bool:
    """Whether the process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in b"ZX"
    except OSError:
        return False


def way_of_failing(program: Path) -> str:
    """What the docstring of a bad program says after "Fails:": hang, error, or wrong values."""
    docstring = ast.get_docstring(ast.parse(program.read_text("utf-8"))) or ""
    found = re.search(r"^Fails: (hang|error|wrong values)\.$", docstring, re.MULTILINE)
    assert found, f"{program.name} does not say how it fails"
    return found[1]


def marks(program: Path) -> tuple[set[int], set[int]]:
    """The lines of a program where a finding must be, and those where one may be."""
    lines = list(enumerate(program.read_text("utf-8").splitlines(), 1))
    must = {number for number, line in lines if line.endswith("  # error: SPM")}
    return must, {number for number, line in lines if line.endswith("  # error: SPM?")}


if __name__ == "__main__":
    start = time.monotonic()
    for path, ending in run_all([Path(name).resolve() for name in sys.argv[1:]]).items():
        print(path.name, ending)
        if "-v" in os.environ.get("SHOW", ""):
            print(*ending.outputs, sep="---\n")
    print(f"{time.monotonic() - start:.1f} s")
