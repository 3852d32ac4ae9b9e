"""Tests of a file run in one process, in the order of their times; one that hangs fails by name, and the others run."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
COUNTED = """
import os, time
import pytest

@pytest.fixture(scope="module")
def made():
    with open("made", "a") as file:
        file.write(f"{__name__} {os.getpid()}\\n")

@pytest.mark.parametrize("number", range(6))
def test_counted(made, number):
    time.sleep(0.01)
"""
HANGING = """
import time

def test_before():
    pass

def test_hangs():
    time.sleep(99)

def test_after():
    pass
"""


def test_files_are_shared_out_and_what_hangs_fails_by_name_once(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (HERE / "conftest.py").read_text("utf-8")
    pytester.makeconftest(source.replace('pytest_plugins = ["pytester"]', ""))
    limit = "faulthandler_timeout = 4\nfaulthandler_exit_on_timeout = true\n"
    pytester.makeini(f"[pytest]\npythonpath = {HERE}\n{limit}")
    pytester.makepyfile(**{f"test_{name}": COUNTED for name in "abc"}, test_hanging=HANGING)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = pytester.runpytest_subprocess("-n2", "-rf", "-p", "xdist", timeout=100)
    result.assert_outcomes(passed=20, failed=1)
    result.stdout.no_fnmatch_line("*loadscopesched*")
    result.stdout.fnmatch_lines(["FAILED test_hanging.py::test_hangs*"])
    result.stderr.fnmatch_lines(["*Timeout*", "*test_hangs*"])
    made = [line.split() for line in Path("made").read_text().splitlines()]
    assert sorted(module for module, _ in made) == ["test_a", "test_b", "test_c"]
    assert len({process for _, process in made}) > 1
