"""The writer: inside its roots, all or none, and everything about a file but its content as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.writing import files
from distml.writing.files import File, WriteError, replace, roots_of, write_files

from writing.layouts import KINDS, WRITABLE, put, state


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(KINDS) | st.sampled_from(WRITABLE), min_size=1, max_size=4))
def test_all_or_none(tmp_path_factory: pytest.TempPathFactory, kinds: list[str]) -> None:
    top = tmp_path_factory.mktemp("top")
    root, outer = top / "root", top / "outer"
    inner = root / "inner"
    inner.mkdir(parents=True)
    outer.mkdir()
    paths = [root / "new" / f"{n}.py" if kind == "absent" else root / f"{n}.py" for n, kind in enumerate(kinds)]
    for path, kind in zip(paths, kinds, strict=True):
        put(path, kind, inner, outer)
    before, outside = state(root), state(outer)
    wanted = [File(str(path), b"new content") for path in paths]
    if set(kinds) <= set(WRITABLE):
        write_files(wanted, [str(root)])
        after = state(root)
        for path, kind in zip(paths, kinds, strict=True):
            assert path.read_bytes() == b"new content"
            name = str(path.relative_to(root))
            assert kind == "absent" or (kind == "link") is path.is_symlink()
            assert kind == "absent" or after[name][:3] == before[name][:3], "mode and names stay"
        assert set(after) - set(before) <= {"new", *(str(path.relative_to(root)) for path in paths)}
    else:
        with pytest.raises(WriteError) as refused:
            write_files(wanted, [str(root)])
        assert "\n" not in str(refused.value)
        assert state(root) == before
    assert state(outer) == outside


def test_a_failure_half_way_puts_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kind in (("a.py", "file"), ("b.py", "hard link"), ("c.py", "executable")):
        put(tmp_path / name, kind, tmp_path, tmp_path)
    before = state(tmp_path)
    wanted = [File(str(tmp_path / name), b"new") for name in ("new/x.py", "a.py", "b.py", "c.py")]
    moved = os.replace

    def fail(made: str, name: str, **folders: int) -> None:
        if name == "c.py":
            raise OSError(28, "No space left on device")
        moved(made, name, **folders)

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(WriteError, match=r"c\.py: cannot be written: No space left"):
        write_files(wanted, [str(tmp_path)])
    assert state(tmp_path) == before


@pytest.mark.parametrize("folder", ["link", "a/link", "link/../link"])
def test_no_folder_leads_out(tmp_path: Path, folder: str) -> None:
    (tmp_path / "root" / "a").mkdir(parents=True)
    (tmp_path / "outer").mkdir()
    for place in ("link", "a/link"):
        (tmp_path / "root" / place).symlink_to(tmp_path / "outer")
    with pytest.raises(WriteError, match="outside of"):
        write_files([File(str(tmp_path / "root" / folder / "x.py"), b"")], [str(tmp_path / "root")])
    assert list((tmp_path / "outer").iterdir()) == []


def test_what_is_put_in_the_way_meanwhile_is_no_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder becomes a link after it was looked at."""
    root, outer = tmp_path / "root", tmp_path / "outer"
    (root / "pkg").mkdir(parents=True)
    outer.mkdir()
    (outer / "a.py").write_text("precious")
    (root / "pkg" / "a.py").write_text("old")
    real = os.path.realpath

    def looked(path: str, **options: bool) -> str:
        found = real(path, **options)
        if (root / "pkg").is_dir() and not (root / "pkg").is_symlink():
            (root / "pkg").rename(root / "gone")
            (root / "pkg").symlink_to(outer)
        return found

    monkeypatch.setattr(files.os.path, "realpath", looked)
    with pytest.raises(WriteError, match=r"cannot be written: (Not a directory|Too many levels)"):
        write_files([File(str(root / "pkg" / "a.py"), b"new")], [str(root)])
    assert (outer / "a.py").read_text() == "precious"
    assert [each.name for each in outer.iterdir()] == ["a.py"]


@pytest.mark.parametrize(
    ("names", "there"),
    [
        (("Client.py", "client.py"), ()),
        (("é.py", "e\N{COMBINING ACUTE ACCENT}.py"), ()),
        (("ß.py", "SS.py"), ()),
        (("a.py", "a.py"), ()),
        (("client.py",), ("CLIENT.py",)),
        (("client.py",), ("Client.py/x",)),
    ],
)
def test_names_that_are_one_somewhere_are_refused(
    tmp_path: Path, names: tuple[str, ...], there: tuple[str, ...]
) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("there")
    before = state(tmp_path)
    with pytest.raises(WriteError, match="would be one file with"):
        write_files([File(str(tmp_path / name), b"x") for name in names], [str(tmp_path)])
    assert state(tmp_path) == before


def test_a_file_beside_one_of_nearly_its_name_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a")
    (tmp_path / "A.py").write_text("A")
    write_files([File(str(tmp_path / "a.py"), b"new")], [str(tmp_path)])
    assert (tmp_path / "a.py").read_text() == "new"


@pytest.mark.parametrize("now", [b"other", None])
def test_what_changed_meanwhile_is_left_alone(tmp_path: Path, now: bytes | None) -> None:
    file = tmp_path / "a.py"
    if now is not None:
        file.write_bytes(now)
    with pytest.raises(WriteError, match="by something else in the meantime"):
        write_files([File(str(file), b"new", b"old")], [str(tmp_path)])
    assert (file.read_bytes() if file.exists() else None) == now


def test_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder for what is named in it, a link to elsewhere too; else the folder that was named."""
    here, other = tmp_path / "here", tmp_path / "other"
    (here / "src").mkdir(parents=True)
    (other / "pkg").mkdir(parents=True)
    (here / "out").symlink_to(other)
    monkeypatch.chdir(here)
    assert roots_of(["src", "a.py", "out", "out/pkg", str(here)]) == (str(here),)
    assert roots_of(["../other/pkg", str(other / "x.py"), "../other/new"]) == (str(other / "pkg"), str(other))


def test_new_files_have_the_mode_that_new_files_have(tmp_path: Path) -> None:
    write_files([File(str(tmp_path / "a" / "b.py"), b"x")], [str(tmp_path)])
    (tmp_path / "plain").touch()
    assert (tmp_path / "a" / "b.py").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_file_of_ours_replaces_a_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "entry").symlink_to("precious")
    replace(str(tmp_path), "entry", b"ours")
    assert (tmp_path / "precious").read_text() == "precious"
    assert (tmp_path / "entry").read_bytes() == b"ours"
    assert not (tmp_path / "entry").is_symlink()
