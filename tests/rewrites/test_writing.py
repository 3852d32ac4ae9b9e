"""Files are replaced whole or not at all, and keep what they were beside their text."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.rewrites.model import Rewritten
from distml.source.reading import UnreadableError

pytest.importorskip("libcst", reason="not run: needs libcst")

from distml.rewrites.writing import WriteError, read_file, unified, write_file


def rewrite(path: Path, source: str, **rest: str) -> None:
    write_file(str(path), Rewritten(read_file(str(path)), source), **rest)


@pytest.mark.parametrize(
    ("data", "new", "expected"),
    [
        (b"x = 1\r\ny\r\n", "x = 2\r\ny\r\n", b"x = 2\r\ny\r\n"),
        (b"\xef\xbb\xbfx\n", "\ufeffxy\n", b"\xef\xbb\xbfxy\n"),
        (
            "# coding: latin-1\nä\n".encode("latin-1"),
            "# coding: latin-1\näö\n",
            "# coding: latin-1\näö\n".encode("latin-1"),
        ),
        (b"x\ry\x0cz", "x\ry\x0c", b"x\ry\x0c"),
    ],
)
def test_encoding_and_line_ends(tmp_path: Path, data: bytes, new: str, expected: bytes) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(data)
    rewrite(file, new)
    assert file.read_bytes() == expected
    assert [each.name for each in tmp_path.iterdir()] == ["a.py"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "a.py", tmp_path / "link.py"
    file.write_text("x\n")
    file.chmod(0o750)
    link.symlink_to(file)
    rewrite(link, "y\n", inside=str(tmp_path))
    assert link.is_symlink()
    assert file.read_text() == "y\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    file, link = tmp_path / "a.py", tmp_path / "inside" / "link.py"
    file.write_text("x\n")
    link.parent.mkdir()
    link.symlink_to(file)
    with pytest.raises(WriteError, match="outside"):
        rewrite(link, "y\n", inside=str(link.parent))
    assert file.read_text() == "x\n"


def test_what_was_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x\n")
    with pytest.raises(WriteError, match="changed by something else"):
        write_file(str(file), Rewritten("w\n", "y\n"))
    assert file.read_text() == "x\n"


def test_what_cannot_be_encoded_leaves_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"# coding: ascii\n")
    with pytest.raises(WriteError, match="cannot be written in ascii"):
        rewrite(file, "# coding: ascii\n# ä\n")
    assert file.read_bytes() == b"# coding: ascii\n"


def test_a_failure_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.py"
    file.write_text("x\n")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(WriteError, match="No space left"):
        rewrite(file, "y\n")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a.py", "x\n")]


def test_nothing_to_write_touches_nothing(tmp_path: Path) -> None:
    write_file(str(tmp_path / "absent.py"), Rewritten("x", "x"))
    with pytest.raises(UnreadableError):
        write_file(str(tmp_path / "absent.py"), Rewritten("x", "y"))


texts = st.lists(st.sampled_from(("a", "b", "", "c\r", "ü")), max_size=8).map("\n".join)


@pytest.mark.skipif(shutil.which("git") is None, reason="not run: needs git")
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(old=texts.filter(bool), new=texts.filter(bool))
def test_the_difference_is_a_patch(tmp_path_factory: pytest.TempPathFactory, old: str, new: str) -> None:
    folder = tmp_path_factory.mktemp("patch")
    (folder / "a.py").write_bytes(old.encode())
    patch = unified("a.py", Rewritten(old, new))
    if old == new:
        assert patch == ""
        return
    done = subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (folder / "a.py").read_bytes().decode() == new
