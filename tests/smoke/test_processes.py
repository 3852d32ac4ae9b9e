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

from distml.smoke import processes
from distml.smoke.processes import KEPT_OUTPUT, TOKEN, Ended, marked, run

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


def launched(folder: Path, text: str, signs: Ranks, timeout: float = PATIENCE, stall: float = PATIENCE) -> Ended:
    return run([sys.executable, "-c", text], folder, {**os.environ, "MINE": str(folder)}, timeout, stall, signs)


def left(folder: Path) -> list[int]:
    return list(marked(f"MINE={folder}".encode()))


def test_a_launcher_that_ends_leaves_nothing(tmp_path: Path) -> None:
    ended = launched(tmp_path, LAUNCHER, Ranks())
    assert (ended.code, ended.stopped) == (0, "")
    assert (tmp_path / "started").exists()
    assert left(tmp_path) == []


def test_a_launcher_that_is_late(tmp_path: Path) -> None:
    signs = Ranks()
    ended = launched(tmp_path, LAUNCHER + "time.sleep(600)", signs, timeout=1.5)
    assert ended.stopped == "it was not finished after 1.5 seconds"
    assert signs.asked == 1
    assert left(tmp_path) == []


def test_processes_that_do_nothing(tmp_path: Path) -> None:
    ended = launched(tmp_path, "import time; time.sleep(600)", Ranks(), stall=1.0)
    assert ended.stopped == "for 1 seconds no process did anything"


def test_processes_that_compute_in_silence_may_go_on(tmp_path: Path) -> None:
    busy = "import time\nend = time.monotonic() + 3\nwhile time.monotonic() < end: pass"
    assert launched(tmp_path, busy, Ranks(), stall=1.0).stopped == ""


def test_processes_that_end_while_they_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def look(pids: Sequence[int]) -> bool:
        (tmp_path / "end").touch()
        for pid in pids:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # gone, and still to be waited for
        return False

    monkeypatch.setattr(processes, "working", look)
    text = "import os, time\nwhile not os.path.exists('end'): time.sleep(0.01)"
    ended = launched(tmp_path, text, Ranks(), stall=1.0)
    assert (ended.code, ended.stopped) == (0, "")


def test_processes_that_wait_and_burn_their_core_may_not(tmp_path: Path) -> None:
    ended = launched(tmp_path, "while True: pass", Ranks(waits=True), stall=1.0)
    assert ended.stopped == "for 1 seconds no process did anything"


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
