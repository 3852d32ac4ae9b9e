"""The benchmarks run, judge rightly, and name what is missing; their results are measured by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

BAD = "import torch\n\ntorch.zeros(2, 3) @ torch.zeros(2, 3)  # bug: not transposed\n"
GOOD = "import torch\n\ntorch.zeros(2, 3) @ torch.zeros(3, 2)\n"


def benchmark(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    for name, bad, good in (
        ("found", BAD, GOOD),
        ("missed", GOOD + "int(1)  # bug: none\n", GOOD),
        ("alarmed", BAD, BAD.replace("# bug", "#")),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bad.py").write_text(bad)
        (tmp_path / name / "good.py").write_text(good)
    return tmp_path


def test_compare_judges_pairs(pairs: Path) -> None:
    done = benchmark("compare.py", str(pairs), "--checkers", "distml")
    assert done.returncode == 0, done.stderr
    assert "| 2/3 | 0 | 1 |" in done.stdout
    assert "| `found` | found |" in done.stdout
    assert "| `missed` | missed |" in done.stdout
    assert "| `alarmed` | false alarm |" in done.stdout


def test_compare_names_what_is_missing(pairs: Path) -> None:
    done = benchmark("compare.py", str(pairs), "--torchtyc", "no-such-program", "--checkers", "torchtyc")
    assert "torchtyc is not installed: no program 'no-such-program'" in done.stderr


def test_precision_lists_findings_and_failures(pairs: Path) -> None:
    done = benchmark("precision.py", str(pairs), "no_such_package", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert "no_such_package is not installed" in done.stderr
    assert "| SHP101 | 3 |" in done.stdout
    assert "alarmed/good.py:3` error SHP101" in done.stdout


def test_precision_counts_what_can_hold_tensors_and_writes_json(pairs: Path) -> None:
    (pairs / "missed" / "plain.py").write_text("print(1)\n")
    written = pairs / "found.json"
    done = benchmark("precision.py", str(pairs / "found"), str(pairs / "missed"), "--jobs", "1", "--json", str(written))
    assert done.returncode == 0, done.stderr
    packages = [json.loads(line) for line in written.read_text().splitlines()]
    assert [(each["files"], each["skipped"], each["lines"], each["reached"]) for each in packages] == [
        (2, 0, 6, 6),
        (3, 1, 8, 7),
    ]
    assert [(each["code"], each["severity"], each["line"]) for each in packages[0]["findings"]] == [
        ("SHP101", "error", 3)
    ]


def test_speed_measures_growth() -> None:
    done = benchmark("speed.py", "--only", "growth", "--times", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("| ms each |") == 6


def test_speed_measures_one_changed_file_in_a_project() -> None:
    done = benchmark("speed.py", "--only", "project", "--times", "1", "--modules", "12")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("changed |") == 3


def test_speed_is_compared_with_another_checkout(pairs: Path) -> None:
    there = str(BENCHMARKS.parent)
    done = benchmark("speed.py", "--only", "against", "--against", there, "--sample", f"{pairs / 'found'}:1")
    assert done.returncode == 0, done.stderr
    assert "/found | 2 | 6 |" in done.stdout
    assert done.stdout.strip().endswith("| 1 | 1 |")
    assert not done.stderr


def test_choreographies_are_measured(tmp_path: Path) -> None:
    example = BENCHMARKS.parent / "examples" / "choreographies" / "ping_pong.py"
    (tmp_path / "ping_pong.py").write_text(example.read_text())
    done = benchmark("choreographies.py", str(tmp_path), "--times", "1")
    assert done.returncode == 0, done.stderr
    assert "| ping_pong |" in done.stdout
    assert "| 17 |" in done.stdout


def test_mutants_change_one_place_on_the_lines_that_run() -> None:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from mutants import Places
    finally:
        sys.path.remove(str(BENCHMARKS))
    text = b"import torch\nx = torch.zeros(4, 5)\ny = x.permute(1, 0)\nn, m = y.shape\nz = torch.cat((x, x), dim=0)\n"
    found = Places(text, {2, 3, 4}).find()
    assert {mutation.kind for mutation in found} == {"size", "swapped", "left out", "axis", "unpack"}
    assert all(mutation.line in (2, 3, 4) and mutation.applied(text) != text for mutation in found)
    for mutation in found:
        compile(mutation.applied(text), "mutant", "exec")


@pytest.mark.requires("pygls")
def test_the_server_is_timed_beside_a_check() -> None:
    done = benchmark("server.py", "--lines", "300", "--times", "1")
    assert done.returncode == 0, done.stderr
    assert "\n| 308 | " in done.stdout
