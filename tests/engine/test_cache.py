"""Results are remembered exactly as long as they hold."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.diagnostics.model import Diagnostic, Edit, Fix, Related, Span
from distml.engine import fingerprint, store
from distml.engine.cache import Cache
from distml.engine.config import Config
from distml.engine.results import FileResult, LostPlace, Report, decode, encode
from distml.engine.run import run
from distml.report.context import Context
from distml.report.forms import form
from distml.source.file import SourceFile
from distml.source.folders import default_folder
from distml.source.project import Project

from engine.fakes import Checked, fake

SPAN = Span("a.py", 1, 2, 3, 4)
FULL = FileResult(
    (
        Diagnostic("SHP101", "é\n\ud800", SPAN, (Related("r", SPAN),), "hint", Fix("f", (Edit(SPAN, "x"),))),
        Diagnostic("SHP102", "", SPAN),
    ),
    (LostPlace(SPAN, "why"),),
    consulted=("/a", "/b"),
    used_elsewhere=(("b.py", 3),),
)


def check(config: Config | None = None, path: str = "a.py") -> Report:
    config = config or Config(jobs=0)
    return run([path], config, cache=Cache(default_folder(), config), checker=fake)


def entries() -> list[Path]:
    return files("results")


def files(kind: str) -> list[Path]:
    found = Path(default_folder(), kind).rglob("*")
    return [path for path in found if path.is_file() and path.name != "CACHEDIR.TAG"]


@pytest.fixture
def program(folder: Path) -> Path:
    path = folder / "a.py"
    path.write_text("import torch, other\nboom\n# follow other\n")
    return path


def test_results_survive_encoding() -> None:
    assert decode(json.loads(json.dumps(encode(FULL)))) == FULL


def test_the_second_run_is_answered_from_the_cache(program: Path) -> None:
    first, second = check(), check()
    assert (first.cached, second.cached) == (0, 1)
    assert first.diagnostics == second.diagnostics != ()


def test_a_change_of_the_file_is_noticed(program: Path) -> None:
    check()
    program.write_text("import torch\n")
    assert (check().cached, check().diagnostics) == (0, ())


def test_an_import_that_appears_changes_or_goes_is_noticed(program: Path, folder: Path) -> None:
    check()
    other = folder / "other.py"
    other.write_text("boom")
    assert (check().cached, len(check().diagnostics)) == (0, 2)
    other.write_text("")
    assert (check().cached, len(check().diagnostics)) == (0, 1)
    assert check().cached == 1
    other.unlink()
    assert check().cached == 0


def test_an_import_of_an_import_is_noticed(folder: Path) -> None:
    (folder / "a.py").write_text("import b")
    (folder / "b.py").write_text("import c")
    (folder / "c.py").write_text("")
    assert (check().skipped, check().cached) == (1, 1)
    (folder / "c.py").write_text("import torch")
    assert (check().skipped, check().cached) == (0, 1)


def test_settings_that_change_results_are_noticed(program: Path, folder: Path) -> None:
    (folder / "lib").mkdir()
    check()
    assert check(Config(jobs=0, ignore=("SHP1",))).cached == 1
    assert check(Config(jobs=0, src=("lib",))).cached == 0
    assert check(Config(jobs=0, max_file_size=1000)).cached == 0


def test_another_version_is_noticed(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check()
    monkeypatch.setattr(fingerprint, "VERSION", "999")
    assert check().cached == 0


def test_a_change_of_distml_is_noticed(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = dict(fingerprint.own_files(fingerprint.HERE))
    assert os.path.join("engine", "cache.py") in own
    check()
    changed = iter([("engine/cache.py", "1:1"), ("engine/run.py", "1:1")])
    monkeypatch.setattr(fingerprint, "own_files", lambda _folder: changed)
    assert check().cached == 0


def test_installing_distml_anew_keeps_results(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Known by content: the same modules elsewhere and at another time are the same, one other byte is not."""
    check()
    copy = tmp_path / "again" / "distml"
    shutil.copytree(fingerprint.HERE, copy, ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copy)
    monkeypatch.setattr(fingerprint, "HERE", str(copy))
    assert check().cached == 1
    module = copy / "engine" / "cache.py"
    text = module.read_text("utf-8")
    module.write_text(text.replace("run", "ran", 1), "utf-8")
    assert check().cached == 0


@pytest.mark.parametrize("damage", [b"", b"x" * 32, b"\xff" * 40])
def test_a_damaged_note_on_distml_itself_is_as_good_as_none(program: Path, damage: bytes) -> None:
    check()
    (note,) = files("own")
    note.write_bytes(damage)
    assert check().cached == 1


def test_paths_are_shown_as_given_each_time(program: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check()
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    assert check(path="../a.py").diagnostics[0].span.path == "../a.py"
    assert check(path=str(program)).diagnostics[0].span.path == str(program)


@pytest.mark.parametrize("damage", [b"", b"{", b"[1, 2]", b"null", b"\xff\xfe", b'["a", "b", []]', b"[" * 100_000])
def test_a_damaged_entry_is_as_good_as_none(program: Path, damage: bytes) -> None:
    check()
    (entry,) = entries()
    entry.write_bytes(damage)
    assert (check().cached, check().cached) == (0, 1)


def test_a_truncated_entry_is_as_good_as_none(program: Path) -> None:
    check()
    (entry,) = entries()
    data = entry.read_bytes()
    for length in range(0, len(data), 97):
        entry.write_bytes(data[:length])
        assert check().cached == 0


LEAVES = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        2**40,
        10**400,
        1.5,
        "",
        "SHP101",
        "SHP999",
        "../../../victim",
        "\0",
        "\ud800",
        [],
        {},
        ["x"],
        {"0": 1},
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6), LEAVES)
def test_any_part_of_an_entry_may_be_anything(program: Path, number: int, leaf: Any) -> None:
    """Whatever stands there instead: no traceback, and a report that each form can print."""
    check()
    (entry,) = entries()
    whole = entry.read_bytes()
    finding = encode(FULL)[0][0]
    plain = json.loads(whole)
    plain[2][0].append(finding)
    every = places(plain)
    where, at = every[number % len(every)]
    where[at] = leaf
    entry.write_text(json.dumps(plain))
    victim = program.with_name("victim")
    victim.touch()
    report = check()
    for name in ("text", "concise", "json", "sarif", "github", "markdown", "junit", "gitlab"):
        "\n".join(form(name)(report, Context()))
    assert victim.exists()
    entry.write_bytes(whole)


def places(plain: Any) -> list[tuple[Any, Any]]:
    """Every place in nested lists, as the list and the index."""
    if not isinstance(plain, list):
        return []
    return [each for at, value in enumerate(plain) for each in ((plain, at), *places(value))]


def test_a_record_out_of_the_folder_is_none(program: Path, folder: Path) -> None:
    """An entry that somebody else wrote names a file of ours as its record: it is not read, and not removed."""
    check()
    (entry,) = entries()
    plain = json.loads(entry.read_bytes())
    (folder / "precious").write_text("kept")
    plain[2][3] = ["ab" + os.path.relpath(folder / "precious", Path(default_folder(), "records", "ab"))]
    entry.write_text(json.dumps(plain))
    Path(default_folder(), "records", "ab").mkdir(parents=True, exist_ok=True)
    assert check().cached == 0
    assert (folder / "precious").read_text() == "kept"


def test_a_pipe_in_the_place_of_an_entry_is_not_waited_for(program: Path) -> None:
    check()
    (entry,) = entries()
    entry.unlink()
    os.mkfifo(entry)
    assert (check().cached, check().cached) == (0, 1)


@pytest.mark.parametrize("word", ["crash", "gave-up"])
def test_what_may_end_otherwise_next_time_is_not_remembered(folder: Path, word: str) -> None:
    (folder / "a.py").write_text(f"import torch\n{word}")
    check()
    assert check().cached == 0
    assert entries() == []


def test_a_folder_that_cannot_be_written_is_done_without(
    program: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("DISTML_CACHE_DIR", str(folder / "file" / "cache"))
    assert len(check().diagnostics) == len(check().diagnostics) == 1


@pytest.mark.parametrize("damage", [None, b"", b"{}", b"\xff"])
def test_a_damaged_record_is_as_good_as_none(program: Path, damage: bytes | None) -> None:
    check()
    for record in files("records"):
        if damage is None:
            record.unlink()
        else:
            record.write_bytes(damage)
    assert (check().cached, check().cached) == (0, 1)


def test_the_number_of_files_is_bounded(tmp_path: Path) -> None:
    kept = store.Store(str(tmp_path), bound=20)
    for number in range(50):
        kept.write(f"00{number}", b"x")
    assert len(list((tmp_path / "00").iterdir())) <= 20
    assert (kept.read("000"), kept.read("0049")) == (None, b"x")


def test_an_entry_that_would_be_too_large_is_not_written(folder: Path) -> None:
    (folder / "a.py").write_text("import torch")

    def talkative(source: SourceFile, project: Project, deadline: float | None, note: object) -> Checked:
        return Checked([Diagnostic("SHP101", "x" * store.LARGEST, SPAN)])

    config = Config(jobs=0)
    run(["a.py"], config, cache=Cache(default_folder(), config), checker=talkative)
    assert entries() == []


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISTML_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert default_folder() == "/xdg/distml"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert default_folder() == os.path.join("/home/me", ".cache", "distml")
