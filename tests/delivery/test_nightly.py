"""The nightly script: what it leaves nothing of, and what it says before it runs anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / ".ci" / "nightly"


def nightly(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder)}
    command = [sys.executable, "-P", str(SCRIPT), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_without_a_framework_it_says_so(tmp_path: Path) -> None:
    done = nightly(tmp_path, "--backend", "gloo", "--out", "smoke")
    assert done.returncode == 1
    assert "no framework is there: --torch or --tensorflow" in done.stderr


def test_a_run_keeps_its_files_in_one_folder_and_removes_it(tmp_path: Path) -> None:
    """The Python that should have torch shows where temporary files go, and cannot do more."""
    (tmp_path / "python").write_text('#!/bin/sh\necho "$TMPDIR" >> "$HOME/seen"\nexit 3\n')
    (tmp_path / "python").chmod(0o755)
    done = nightly(tmp_path, "--backend", "gloo", "--torch", str(tmp_path / "python"), "--out", "smoke", "1")
    assert done.returncode == 1
    seen = {Path(line) for line in (tmp_path / "seen").read_text().splitlines()}
    assert {place.parent for place in seen} == {tmp_path}
    assert all(place.name.startswith("distml-nightly-") for place in seen)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["python", "seen", "smoke"]


def test_a_sweep_removes_files_that_a_run_left(tmp_path: Path) -> None:
    left, kept = tmp_path / "distml-nightly-abc", tmp_path / "distml-other"
    for folder in (left, kept):
        (folder / "below").mkdir(parents=True)
        (folder / "below" / "file").touch()
    (tmp_path / "distml-nightly-link").symlink_to(kept)
    (tmp_path / "distml-nightly-file").touch()
    done = nightly(tmp_path, "--sweep")
    assert (done.returncode, done.stdout) == (0, f"removed {left}\n"), done
    assert not left.exists()
    assert (kept / "below" / "file").exists()
