"""A baseline hides what was there and nothing else, whatever is edited around it."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.engine.adoption import Update, Wishes, adopt
from distml.engine.baseline import LONGEST, dump, read
from distml.engine.config import Config, ConfigError
from distml.engine.results import Report
from distml.engine.run import run

from engine.fakes import fake

LINES = st.sampled_from(
    ["boom = 1", "boom = 2", "y = boom", "x = 1", "", "# note", "boom  =  1", f"x = '{'long' * LONGEST} boom'"]
)
FUNCTION = st.tuples(st.sampled_from(["f", "g", "A"]), st.lists(LINES, max_size=4))
FILE = st.lists(FUNCTION, max_size=3, unique_by=lambda each: each[0])
PROJECT = st.dictionaries(st.sampled_from(["a.py", "b.py", "ç d.py"]), FILE, min_size=1)
Project = dict[str, list[tuple[str, list[str]]]]


def written(project: Project, blank: int) -> None:
    """The project on disk, in the working folder: functions and a class, with empty lines between them."""
    for path in Path().glob("*.py"):
        path.unlink()
    for name, functions in project.items():
        parts = ["import torch", *[""] * blank]
        for title, lines in functions:
            parts += [f"class {title}:" if title == "A" else f"def {title}():"]
            parts += [f"    {line}" if line else "" for line in lines] + ["    pass", *[""] * blank]
        Path(name).write_text("\n".join(parts) + "\n", "utf-8")


def counted(project: Project) -> Counter[tuple[str, str, str]]:
    return Counter(
        (name, title, " ".join(line.split()))
        for name, functions in project.items()
        for title, lines in functions
        for line in lines
        if "boom" in line
    )


def against(update: Update = "", baseline: str = "b.json", *paths: str) -> Report:
    config = Config(jobs=0)
    return adopt(run(paths or ["."], config, checker=fake), config, Wishes(baseline, update))


def wrote(report: Report) -> Report:
    assert report.baseline
    if report.baseline.data is not None:
        Path(report.baseline.path).write_bytes(report.baseline.data)
    return report


@settings(max_examples=60)
@given(PROJECT, PROJECT, st.integers(0, 3), st.integers(0, 3))
def test_what_is_reported_is_what_is_more_than_before(old: Project, new: Project, one: int, other: int) -> None:
    """`new` is any other program: lines and functions inserted, removed, moved and repeated, files added and removed."""
    here = os.getcwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            written(old, one)
            assert wrote(against("write")).diagnostics == ()
            first = Path("b.json").read_bytes()
            assert against().diagnostics == ()
            written(new, other)
            report = against()
            before, after = counted(old), counted(new)
            assert len(report.diagnostics) == (after - before).total()
            assert {each.span.path for each in report.diagnostics} == {key[0] for key in after - before}
            assert report.baseline and report.baseline.hidden == (after & before).total()
            assert report.baseline.obsolete == (before - after).total()
            assert Path("b.json").read_bytes() == first
            assert wrote(against("shrink")).diagnostics == report.diagnostics
            assert sum(read("b.json")[1].values()) == (after & before).total()
            assert against("shrink").baseline == against().baseline
            wrote(against("write"))
            assert against().diagnostics == ()
            assert sum(read("b.json")[1].values()) == after.total()
        finally:
            os.chdir(here)


def test_other_files_keep_their_entries(folder: Path) -> None:
    """A run over some files, as a hook's, neither needs nor removes what is known of others."""
    for name in ("a.py", "b.py"):
        (folder / name).write_text("import torch\nboom\n")
    wrote(against("write"))
    (folder / "a.py").write_text("import torch\n")
    for update in ("shrink", "write"):
        assert wrote(against(update, "b.json", "a.py")).diagnostics == ()
    assert [key.path for key in read("b.json")[1]] == ["b.py"]
    assert against().diagnostics == ()


def test_what_another_file_shows_is_not_dropped_without_it(folder: Path) -> None:
    (folder / "a.py").write_text("import torch\nquiet\n")
    (folder / "b.py").write_text("import torch\nimport a\n# reveal a\n")
    wrote(against("write"))
    assert len(read("b.json")[1]) == 1
    wrote(against("shrink", "b.json", "a.py"))
    assert against().diagnostics == ()


@pytest.mark.parametrize(
    "meanwhile", ["import torch\nboom (\n", "import torch\nboom\ncrash\n", "import torch\ngave-up\n"]
)
def test_a_check_that_did_not_end_drops_nothing(folder: Path, meanwhile: str) -> None:
    (folder / "a.py").write_text("import torch\nboom\n")
    wrote(against("write"))
    (folder / "a.py").write_text(meanwhile)
    wrote(against("shrink"))
    (folder / "a.py").write_text("import torch\n\nboom\n")
    assert against().diagnostics == ()


def test_rules_that_were_not_asked_for_keep_their_entries(folder: Path) -> None:
    (folder / "a.py").write_text("import torch\nboom\n")
    wrote(against("write"))
    config = Config(jobs=0, select=("CHO",))
    wrote(adopt(run(["."], config, checker=fake), config, Wishes("b.json", "shrink")))
    assert against().diagnostics == ()


def test_a_failure_of_ours_is_never_hidden(folder: Path) -> None:
    (folder / "a.py").write_text("import torch\ncrash\n")
    assert [each.code for each in wrote(against("write")).diagnostics] == ["SRC201"]
    assert read("b.json")[1] == {}


def test_entries_are_lines_and_safe_to_show(folder: Path) -> None:
    (folder / "a.py").write_text('import torch\nx = "\u202eboom"\n', "utf-8")
    wrote(against("write"))
    data = (folder / "b.json").read_bytes()
    assert data.isascii()
    assert len([line for line in data.splitlines() if b'"path"' in line]) == 1
    assert dump(read("b.json")[1]) == data


def test_a_merge_that_leaves_an_entry_twice_counts_it_once(folder: Path) -> None:
    (folder / "a.py").write_text("import torch\nboom\n")
    wrote(against("write"))
    table = json.loads((folder / "b.json").read_text())
    (folder / "b.json").write_text(json.dumps({**table, "findings": table["findings"] * 2}))
    (folder / "a.py").write_text("import torch\nboom\nboom\n")
    assert len(against().diagnostics) == 1


ENTRY = {"path": "a.py", "code": "SHP101", "in": "", "text": "x", "count": 1}
BAD = {
    "nothing": b"",
    "text": b"import torch\n",
    "NUL": b"\0" * 99,
    "not UTF-8": b'{"version": 1, "findings": ["\xff"]}',
    "deep": b"[" * 200_000,
    "deep objects": b'{"findings":' * 100_000,
    "long number": b'{"version": 1, "findings": ' + b"9" * 10_000 + b"}",
    **{
        str(table)[:60]: json.dumps(table).encode()
        for table in (
            None,
            [],
            {},
            {"version": True, "findings": []},
            {"version": 2, "findings": []},
            {"version": 1, "findings": {}},
            *(
                {"version": 1, "findings": [each]}
                for each in (
                    None,
                    {},
                    *({**ENTRY, "count": wrong} for wrong in (True, 0, -1, 1.5, "1", 10**30, None, [])),
                    *(
                        {**ENTRY, name: wrong}
                        for name in ("path", "code", "in", "text")
                        for wrong in (1, None, [], "\0")
                    ),
                )
            ),
        )
    },
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_a_wrong_file_is_one_line(folder: Path, data: bytes) -> None:
    (folder / "b.json").write_bytes(data)
    for update in ("", "write", "shrink"):
        with pytest.raises(ConfigError) as told:
            against(update)  # type: ignore[arg-type]
        assert "\n" not in str(told.value)
        assert str(told.value).startswith("b.json: ")
    assert (folder / "b.json").read_bytes() == data


def test_places_that_hold_no_baseline(folder: Path) -> None:
    (folder / "here").mkdir()
    os.mkfifo(folder / "pipe")
    with open(folder / "huge", "wb") as file:
        file.truncate(1 << 30)
    for name in ("here", "pipe", "huge", "absent", "no/folder", "/dev/zero"):
        with pytest.raises(ConfigError):
            against("", name)
    with pytest.raises(ConfigError):
        against("write", "/dev/zero")


@settings(max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda each: st.lists(each) | st.dictionaries(st.sampled_from(["version", "findings", *ENTRY]), each),
    )
)
def test_any_json_is_a_baseline_or_one_line(value: object) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "b.json"
        path.write_text(json.dumps({"version": 1, "findings": value}))
        try:
            read(str(path))
        except ConfigError as error:
            assert len(str(error).splitlines()) == 1
