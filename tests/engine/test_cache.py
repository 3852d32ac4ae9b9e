"""Results are remembered exactly as long as they hold."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from distml.diagnostics.model import Diagnostic, Edit, Fix, Related, Span
from distml.engine import fingerprint, store
from distml.engine.cache import Cache
from distml.engine.config import Config
from distml.engine.results import FileResult, LostPlace, Report, decode, encode
from distml.engine.run import run
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
    assert any(entry.startswith("cache.py:") for entry in fingerprint.own_files())
    check()
    monkeypatch.setattr(fingerprint, "own_files", lambda: iter(["new.py:1:1"]))
    assert check().cached == 0


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
