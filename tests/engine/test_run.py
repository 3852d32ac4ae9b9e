"""Runs over files, in this process and in workers, with checkers that behave and that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.engine.config import Config, ConfigError
from distml.engine.results import Report
from distml.engine.run import run
from distml.engine.run import workers as number_of_workers

from engine.fakes import fake

TENSOR = "import torch\n"


def write(folder: Path, **programs: str) -> None:
    for name, program in programs.items():
        (folder / f"{name}.py").write_text(program, "utf-8")


def found(report: Report) -> list[tuple[str, int, str]]:
    return [(each.span.path, each.span.line, each.code) for each in report.diagnostics]


@pytest.fixture(params=[0, 1, 3])
def jobs(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def test_findings_come_in_order_of_place(folder: Path, jobs: int) -> None:
    write(folder, **{f"m{number:02}": TENSOR + "boom\n" * (number % 3) for number in range(12)})
    report = run(["."], Config(jobs=jobs), checker=fake)
    assert found(report) == [
        (f"m{number:02}.py", line + 2, "SHP101") for number in range(12) for line in range(number % 3)
    ]
    assert (report.files, report.skipped, report.cached) == (12, 0, 0)


def test_files_without_tensors_are_skipped(folder: Path, jobs: int) -> None:
    write(folder, plain="import os\nboom\n", net=TENSOR)
    report = run(["."], Config(jobs=jobs), checker=fake)
    assert (found(report), report.files, report.skipped) == ([], 2, 1)


def test_a_crash_is_reported_as_ours_and_hides_nothing(folder: Path, jobs: int) -> None:
    write(folder, a=TENSOR + "boom", b=TENSOR + "crash", c=TENSOR + "boom", d=TENSOR + "recurse")
    report = run(["."], Config(jobs=jobs), checker=fake)
    assert found(report) == [("a.py", 2, "SHP101"), ("b.py", 1, "SRC201"), ("c.py", 2, "SHP101"), ("d.py", 1, "SRC201")]
    assert report.failed
    message = report.diagnostics[1].message
    assert "KeyError" in message
    assert "fakes.py" in message
    assert "\n" not in message
    assert not report.overlay


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [("segfault", "SRC201", "Segmentation"), ("killed", "SRC106", "ended"), ("leave", "SRC201", "exit code 3")],
)
def test_a_worker_that_dies_takes_only_its_file(folder: Path, how: str, code: str, says: str) -> None:
    write(folder, a=TENSOR + "boom", b=TENSOR + how, c=TENSOR + "boom", d=TENSOR + how)
    for jobs in (1, 2):
        report = run(["."], Config(jobs=jobs), checker=fake)
        assert found(report) == [("a.py", 2, "SHP101"), ("b.py", 1, code), ("c.py", 2, "SHP101"), ("d.py", 1, code)]
        assert says in report.diagnostics[1].message


def test_hostile_files(folder: Path, jobs: int) -> None:
    write(
        folder,
        deep=TENSOR + "x = " + "-" * 50_000 + "1",
        good=TENSOR + "boom",
        huge=TENSOR * 1000,
        nul=TENSOR + "\0",
        syntax="def f(:",
    )
    (folder / "bytes.py").write_bytes(b"\xff\xfe")
    report = run(["."], Config(jobs=jobs, max_file_size=60_000, ignore=("SRC103",)), checker=fake)
    assert found(report) == [
        ("bytes.py", 1, "SRC102"),
        ("deep.py", 1, "SRC104"),
        ("good.py", 2, "SHP101"),
        ("nul.py", 2, "SRC102"),
        ("syntax.py", 1, "SRC101"),
    ]
    assert ("huge.py", 1, "SRC103") in found(run(["huge.py"], Config(jobs=jobs, max_file_size=1000), checker=fake))


def test_suppressed_findings(folder: Path) -> None:
    write(folder, a=TENSOR + "boom  # distml: ignore[SHP101]\nboom\n", b="# distml: ignore-file\nimport torch\nboom")
    write(folder, c="import os  # distml: ignore\n")
    report = run(["."], Config(jobs=0), checker=fake)
    assert found(report) == [("a.py", 3, "SHP101"), ("c.py", 1, "SRC301")]


def test_a_finding_met_from_two_files_is_reported_once(folder: Path) -> None:
    write(folder, a=TENSOR + "# follow b", b=TENSOR + "boom", c=TENSOR + "# follow b")
    for paths in (["."], ["a.py", "c.py"]):
        assert found(run(paths, Config(jobs=0), checker=fake)) == [("b.py", 2, "SHP101")]


def test_a_followed_file_is_shown_as_it_was_given(folder: Path) -> None:
    write(folder, a=TENSOR + "# follow b", b=TENSOR + "boom")
    report = run([str(folder)], Config(jobs=0), checker=fake)
    assert found(report) == [(str(folder / "b.py"), 2, "SHP101")]


def test_comments_in_a_followed_file_count(folder: Path) -> None:
    write(folder, a=TENSOR + "# follow b", b=TENSOR + "boom  # distml: ignore\n")
    assert found(run(["a.py"], Config(jobs=0), checker=fake)) == []


def test_a_comment_that_hides_a_finding_met_from_another_file_is_used(folder: Path) -> None:
    write(folder, a=TENSOR + "# follow b\n# reveal b", b=TENSOR + "quiet  # distml: ignore\n", c=TENSOR)
    assert found(run(["a.py", "c.py"], Config(jobs=0), checker=fake)) == []
    assert found(run(["b.py"], Config(jobs=0), checker=fake)) == [("b.py", 2, "SRC301")]
    assert found(run(["."], Config(jobs=0), checker=fake)) == []


def test_lost_places_are_kept(folder: Path, jobs: int) -> None:
    write(folder, a=TENSOR + "lost")
    (place,) = run(["a.py"], Config(jobs=jobs), checker=fake).lost
    assert (place.span.line, place.reason) == (2, "unknown call")


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        ({}, ["SHP101", "SRC301"]),
        ({"select": ("SHP",)}, ["SHP101"]),
        ({"select": ("SRC301",)}, ["SRC301"]),
        ({"select": ("unused-suppression", "matmul-mismatch")}, ["SHP101", "SRC301"]),
        ({"ignore": ("SHP1",)}, ["SRC301"]),
        ({"select": ("all",), "ignore": ("src",)}, ["SHP101"]),
        ({"per_file_ignores": (("*.py", ("SHP",)),)}, ["SRC301"]),
        ({"per_file_ignores": (("other/*", ("SHP",)),)}, ["SHP101", "SRC301"]),
    ],
)
def test_selection(folder: Path, settings: dict[str, object], codes: list[str]) -> None:
    write(folder, a=TENSOR + "boom\n# distml: ignore\n")
    report = run(["a.py"], Config(jobs=0, **settings), checker=fake)  # type: ignore[arg-type]
    assert [finding.code for finding in report.diagnostics] == codes


def test_a_failure_of_ours_cannot_be_deselected(folder: Path) -> None:
    write(folder, a=TENSOR + "crash")
    assert run(["a.py"], Config(jobs=0, select=("SHP",), ignore=("all",)), checker=fake).failed


@pytest.mark.parametrize("unknown", ["SHP9", "nonsense", "", "S H P"])
def test_unknown_rules_are_wrong_use(folder: Path, unknown: str) -> None:
    with pytest.raises(ConfigError, match="no rule"):
        run(["."], Config(ignore=(unknown,)), checker=fake)


def test_progress_is_told(folder: Path, jobs: int) -> None:
    write(folder, a=TENSOR, b=TENSOR)
    told: list[tuple[int, int]] = []
    run(["."], Config(jobs=jobs), checker=fake, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert [number_of_workers(None, files) for files in (1, 7, 8, 1000)] == [1, 1, 2, 4]
    assert number_of_workers(0, 1000) == 0
    assert number_of_workers(7, 1) == 7
