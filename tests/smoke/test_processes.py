"""Whatever a launcher starts is gone when the run is over, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from distml.smoke.processes import KEPT_OUTPUT, TOKEN, Ended, Sight, marked, run, wanted_seconds

LAUNCHER = """
import os, subprocess, sys, time
child = "import time; open('started', 'w').close(); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", child], start_new_session=True)
while not os.path.exists("started"):
    time.sleep(0.01)
"""
PATIENCE = 60.0


@dataclass
class Ranks:
    """Signs of life by hand."""

    ranks: int = 1
    lives: list[object] = field(default_factory=list)
    waits: bool = False
    asked: int = 0

    def life(self) -> object:
        return self.lives.pop(0) if self.lives else None

    def begun(self) -> bool:
        return True

    def waiting(self) -> bool:
        return self.waits

    def ask(self) -> None:
        self.asked += 1


class Told(Sight):
    """Time stands still until a process has started; from then on each look is ten seconds later."""

    def __init__(self, folder: Path, each: float = 0.0, works: bool = False, looks: int = sys.maxsize) -> None:
        self.folder, self.each, self.works, self.looks = folder, each, works, looks
        self.now = self.used = 0.0

    def clock(self) -> float:
        if (self.folder / "started").exists():
            self.now += 10.0
            self.looks -= 1
            if self.looks == 0:
                (self.folder / "end").touch()
        return self.now

    def wanted(self, pids: Sequence[int]) -> float:
        self.used += self.each
        return self.used

    def working(self, pids: Sequence[int]) -> bool:
        return self.works


UNTIL_TOLD = """
import os, time
open("started", "w").close()
while not os.path.exists("end"):
    time.sleep(0.01)
"""


def launched(
    folder: Path,
    text: str,
    signs: Ranks,
    timeout: float = PATIENCE,
    stall: float = PATIENCE,
    sight: Sight | None = None,
) -> Ended:
    environment = {**os.environ, "MINE": str(folder)}
    return run([sys.executable, "-c", text], folder, environment, timeout, stall, signs, sight)


def left(folder: Path) -> list[int]:
    return list(marked(f"MINE={folder}".encode()))


def test_a_launcher_that_ends_leaves_nothing(tmp_path: Path) -> None:
    ended = launched(tmp_path, LAUNCHER, Ranks())
    assert (ended.code, ended.stopped) == (0, "")
    assert (tmp_path / "started").exists()
    assert left(tmp_path) == []


def test_a_launcher_that_is_late(tmp_path: Path) -> None:
    signs = Ranks()
    ended = launched(tmp_path, LAUNCHER + "time.sleep(600)", signs, timeout=15, sight=Told(tmp_path))
    assert ended.stopped == "it did not finish within 15 seconds"
    assert signs.asked == 1
    assert left(tmp_path) == []


def test_processes_that_do_nothing(tmp_path: Path) -> None:
    ended = launched(tmp_path, UNTIL_TOLD, Ranks(), timeout=1e6, stall=1.0, sight=Told(tmp_path))
    assert ended.stopped == "no process made progress for 1 s"


@pytest.mark.parametrize(("each", "works"), [(10.0, False), (3.0, False), (0.0, True)])
def test_processes_that_compute_in_silence_may_go_on(tmp_path: Path, each: float, works: bool) -> None:
    sight = Told(tmp_path, each, works, looks=8)
    assert launched(tmp_path, UNTIL_TOLD, Ranks(), timeout=1e6, stall=1.0, sight=sight).stopped == ""


class Ending(Told):
    """The processes end while they are looked at."""

    def working(self, pids: Sequence[int]) -> bool:
        (self.folder / "end").touch()
        for pid in pids:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # gone, and still to be waited for
        return False


def test_processes_that_end_while_they_are_looked_at(tmp_path: Path) -> None:
    ended = launched(tmp_path, UNTIL_TOLD, Ranks(), timeout=1e6, stall=1.0, sight=Ending(tmp_path))
    assert (ended.code, ended.stopped) == (0, "")


def test_processes_that_wait_and_burn_their_core_may_not(tmp_path: Path) -> None:
    ended = launched(tmp_path, UNTIL_TOLD, Ranks(waits=True), timeout=1e6, stall=1.0, sight=Told(tmp_path, each=10.0))
    assert ended.stopped == "no process made progress for 1 s"


def test_what_is_seen_of_processes() -> None:
    assert wanted_seconds([os.getpid()]) > 0


def test_only_the_end_of_endless_output_is_kept(tmp_path: Path) -> None:
    ended = launched(tmp_path, "for i in range(200000): print('line', i)", Ranks())
    assert len(ended.output) <= KEPT_OUTPUT
    assert ended.output.endswith("line 199999\n")


def test_nothing_is_read_from_the_terminal(tmp_path: Path) -> None:
    assert "EOFError" in launched(tmp_path, "input()", Ranks()).output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_to_us_ends_all(tmp_path: Path, number: signal.Signals) -> None:
    """After SIGKILL only the launcher itself is sure to go; ranks look for us themselves."""
    text = f"""
import os, signal, sys
from pathlib import Path
from distml.smoke.processes import run
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever starts the tests may ignore it
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from smoke.test_processes import LAUNCHER, Ranks
run([sys.executable, "-c", LAUNCHER + "time.sleep(600)"], Path(), dict(os.environ), 60.0, 60.0, Ranks())
"""
    ours = subprocess.Popen([sys.executable, "-c", text], cwd=tmp_path, env={**os.environ, "MINE": str(tmp_path)})
    _until(lambda: (tmp_path / "started").exists())
    ours.send_signal(number)
    ours.wait(PATIENCE)
    if number == signal.SIGKILL:
        _until(lambda: len(left(tmp_path)) <= 1)
        for pid in left(tmp_path):
            os.kill(pid, signal.SIGKILL)
    _until(lambda: not left(tmp_path))


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_mark_is_in_the_environment_of_all(tmp_path: Path) -> None:
    ended = launched(tmp_path, f"import os; print(len(os.environ[{TOKEN!r}]))", Ranks())
    assert ended.output.strip() == "32"
