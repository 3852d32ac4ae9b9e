"""The program as a process: pipes, signals, standard input, odd file names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DISTML = [sys.executable, "-P", "-m", "distml.cli"]


def test_a_reader_that_leaves_is_no_crash(folder: Path) -> None:
    for number in range(2000):
        (folder / f"m{number}.py").touch()
        (folder / f"m{number}.py").write_text("def f(:\n")
    process = subprocess.Popen([*DISTML, "check", "--jobs", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(timeout=60) == 141
    assert errors == b""


def test_odd_file_names(folder: Path) -> None:
    names = [b"with space.py", "ü日.py".encode(), b"\xff\xfe.py", b"\x1b[31m.py", b"new\nline.py", b"-dash.py"]
    for name in names:
        (Path(os.fsdecode(os.fsencode(folder) + b"/" + name))).write_text("def f(:\n")
    for form in ("text", "concise", "json", "sarif", "github"):
        done = subprocess.run([*DISTML, "check", "--format", form, "."], capture_output=True, check=False)
        assert done.returncode == 1, done.stderr
        assert done.stderr == b""
        assert b"\x1b" not in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_any_encoding_of_standard_output(folder: Path, encoding: str) -> None:
    (folder / "ü.py").write_text("naïve = (\n", "utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = subprocess.run([*DISTML, "check"], capture_output=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (1, b"")


def test_nothing_that_is_checked_is_run(folder: Path) -> None:
    (folder / "a.py").write_text("import os\nos.mkdir('was-run')\nimport json\n")
    (folder / "json.py").write_text("raise SystemExit('imported')\n")
    done = subprocess.run([*DISTML, "check", "--format", "json"], capture_output=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, b"[]"), done.stderr
    assert not (folder / "was-run").exists()
