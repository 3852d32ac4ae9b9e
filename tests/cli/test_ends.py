"""Every way a run can end is one clear line and an exit code, with no process left and nothing half written."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

DISTML = [sys.executable, "-P", "-m", "distml.cli"]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
MODEL = """
import torch

def f(x: torch.Tensor):
    if x.dim() == 3:
        return x
    return torch.zeros(2, 3) @ torch.zeros(4, 5)
"""
COMMANDS = {
    "check": ["check", "."],
    "check-json": ["check", "--format", "json", "."],
    "check-fix": ["check", "--fix", "."],
    "migrate": ["migrate", "a.py::f"],
    "branches": ["branches", "a.py::f"],
    "horovod": ["horovod", "."],
    "explain": ["explain", "SHP101"],
    "rules": ["rules"],
    "project": ["project", "a.py"],
    "run": ["run", "a.py"],
    "autofix": ["autofix", "--help"],
    "smoke": ["smoke", "--help"],
    "wrong": ["check", "--nonsense"],
    "missing": ["check", "gone.py"],
    "help": ["--help"],
    "version": ["--version"],
}
SILENT = {"project", "run", "wrong", "missing"}
"""Those that print nothing on standard output here."""


def one_line(errors: bytes) -> bool:
    return errors.startswith(b"distml: ") and errors.count(b"\n") == 1 and errors.endswith(b"\n")


@pytest.fixture
def program(folder: Path) -> Path:
    (folder / "a.py").write_text(MODEL)
    return folder


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def _buffering(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", request.param)


@pytest.mark.usefixtures("_buffering")
@pytest.mark.parametrize("name", COMMANDS)
def test_standard_output_that_takes_nothing(program: Path, name: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*DISTML, *COMMANDS[name]], stdout=full, stderr=subprocess.PIPE, check=False)
    assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr
    assert done.returncode in ({0, 1, 2} if name in SILENT else {2}), done.stderr
    if name not in SILENT:
        assert done.stderr == b"distml: error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_standard_error_that_takes_nothing(program: Path, name: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*DISTML, *COMMANDS[name]], stdout=subprocess.PIPE, stderr=full, check=False)
    assert done.returncode in {0, 1, 2}
    assert b"Traceback" not in done.stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("name", ["check", "rules", "wrong"])
def test_closed_streams(program: Path, name: str, closed: str) -> None:
    command = ["sh", "-c", f'"$@" {closed}', "sh", *DISTML, *COMMANDS[name]]
    done = subprocess.run(command, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr
    if " >&-" in f" {closed}":
        assert done.returncode == 2
        assert done.stderr == (b"" if "2>&-" in closed else b"distml: error: standard output is closed\n")
    else:
        assert done.returncode == {"check": 1, "rules": 0, "wrong": 2}[name]


def test_a_closed_standard_input(program: Path) -> None:
    command = ["sh", "-c", '"$@" <&-', "sh", *DISTML, "check", "--stdin-filename", "a.py"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"distml: error: standard input is closed\n")


def test_a_working_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    command = ["sh", "-c", 'cd gone && rmdir ../gone && "$@"', "sh", *DISTML, "check"]
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path)
    assert done.returncode in {0, 2}
    assert done.stderr == b"" or one_line(done.stderr)


@pytest.mark.parametrize("error", [MemoryError, RecursionError, KeyError, OSError, UnicodeError])
def test_a_failure_of_ours_is_one_line(
    program: Path, error: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distml.cli import main as entry

    def fail(*_: object) -> int:
        raise error("line\nanother")

    monkeypatch.setattr(entry, "_dispatch", fail)
    assert entry.main(["check"]) == 2
    assert one_line(capsys.readouterr().err.encode())


WAITING = """
import os, sys, time
from distml.engine import one, workers
from distml.cli.main import main
def wait(source, project, deadline, note):
    open(f"{source.module}.waiting", "w").close()
    time.sleep(600)
one._interpreter = lambda: wait
sys.exit(main(sys.argv[1:]))
"""
PIPE = 1 << 16
PAGE = 1 << 12


class Run:
    """A run of distml with pipes whose other ends are ours: standard input stays open, standard output starts full."""

    def __init__(self, *arguments: str) -> None:
        read, self.give = os.pipe()
        self.take, write = os.pipe()
        for descriptor in (self.give, write):
            while fcntl.ioctl(descriptor, termios.FIONREAD, b"....") != struct.pack("i", PIPE):
                os.write(descriptor, b"#" * PAGE)
        # What runs in the background may have been told to ignore signals; what it starts would, too.
        command = [sys.executable, "-P", "-c", WAITING, *arguments]
        self.process = subprocess.Popen(command, stdin=read, stdout=write, stderr=subprocess.PIPE, preexec_fn=heedful)
        os.close(read)
        os.close(write)

    def waits(self) -> bool:
        """Whether checkers have come to where they wait."""
        return len(list(Path().glob("*.waiting"))) == 2

    def waits_here(self) -> bool:
        return len(list(Path().glob("*.waiting"))) == 1

    def reads(self) -> bool:
        return waiting(self.give) < PIPE

    def prints(self) -> bool:
        """Whether the room that we make in the pipe is filled: there is more to print."""
        os.read(self.take, PAGE)
        until(lambda: waiting(self.take) == PIPE)
        return True

    def children(self) -> list[int]:
        return list(map(int, Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()))

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.give)
        os.close(self.take)


def waiting(descriptor: int) -> int:
    """Bytes in a pipe."""
    (count,) = struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"...."))
    return int(count)


def until(true: Callable[[], bool]) -> None:
    while not true():
        time.sleep(0.02)


def heedful() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


PHASES: dict[str, tuple[list[str], Callable[[Run], bool]]] = {
    "in-workers": (["check", "--jobs", "2", "."], Run.waits),
    "in-this-process": (["check", "--jobs", "0", "."], Run.waits_here),
    "watching": (["check", "--watch", "--jobs", "2", "."], Run.waits),
    "reading": (["check", "--stdin-filename", "c.py"], Run.reads),
    "printing": (["rules", "--format", "json"], Run.prints),
}


@contextmanager
def started(phase: str, folder: Path) -> Iterator[Run]:
    """A run that has come to a phase and stays there."""
    arguments, reached = PHASES[phase]
    for name in ("a", "b"):
        (folder / f"{name}.py").write_text("import torch\n")
    run = Run(*arguments)
    try:
        until(lambda: reached(run))
        yield run
    finally:
        run.end()


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("phase", PHASES)
def test_a_signal_ends_a_run_and_all_its_processes(folder: Path, phase: str, number: signal.Signals) -> None:
    with started(phase, folder) as run:
        children = run.children()
        assert len(children) == (2 if phase in ("in-workers", "watching") else 0)
        run.process.send_signal(number)
        _, errors = run.process.communicate()
        assert run.process.returncode == 128 + number
        assert errors == f"distml: ended by {number.name}\n".encode()
        assert not any(map(alive, children))
    names = {file.name for file in folder.rglob("*")}
    assert names <= {"pyproject.toml", "a.py", "b.py", "a.waiting", "b.waiting"}


def test_workers_end_with_a_run_that_was_killed(folder: Path) -> None:
    with started("in-workers", folder) as run:
        children = run.children()
        assert len(children) == 2
        run.process.kill()
        until(lambda: not any(map(alive, children)))


def test_a_signal_that_is_ignored_stays_ignored(folder: Path) -> None:
    """As under nohup."""
    text = """
import signal
from distml.engine.ends import heeding
signal.signal(signal.SIGHUP, signal.SIG_IGN)
with heeding():
    signal.raise_signal(signal.SIGHUP)
print("on")
"""
    done = subprocess.run([sys.executable, "-P", "-c", text], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"on\n"), done.stderr


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_comes_in_a_finalizer_is_not_lost(folder: Path, number: signal.Signals) -> None:
    """Python drops what a finalizer or the callback of a weak reference raises."""
    text = f"""
import signal, weakref
from distml.engine.ends import EndedError, heeding
class Thing:
    pass
class Last:
    def __del__(self):
        signal.raise_signal({int(number)})
try:
    with heeding():
        Last()
        while True:
            thing = Thing()
            there = weakref.ref(thing, lambda _: None)
            del thing
except EndedError as error:
    print(error.number)
"""
    done = subprocess.run([sys.executable, "-P", "-c", text], capture_output=True, check=False, preexec_fn=heedful)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{int(number)}\n".encode(), b"")
