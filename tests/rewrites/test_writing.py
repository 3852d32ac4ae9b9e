"""Files are replaced whole or not at all, and keep what they were beside their text."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.rewrites.model import Rewritten
from distml.source.reading import UnreadableError

pytest.importorskip("libcst", reason="not run: needs libcst")

from distml.rewrites.writing import read_file, unified, write_file, write_rewritten
from distml.writing.files import WriteError


def rewrite(path: Path, source: str) -> None:
    write_file(str(path), Rewritten(read_file(str(path)), source), [str(path.parent)])


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


def test_what_was_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x\n")
    with pytest.raises(WriteError, match="changed by something else"):
        write_file(str(file), Rewritten("w\n", "y\n"), [str(tmp_path)])
    assert file.read_text() == "x\n"


def test_what_cannot_be_encoded_leaves_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"# coding: ascii\n")
    with pytest.raises(WriteError, match="cannot be written in ascii"):
        rewrite(file, "# coding: ascii\n# ä\n")
    assert file.read_bytes() == b"# coding: ascii\n"


def test_what_is_there_already_is_written(tmp_path: Path) -> None:
    """One file under two names, both of which are to be rewritten."""
    file, other = tmp_path / "a.py", tmp_path / "b.py"
    file.write_text("x\n")
    other.hardlink_to(file)
    change = Rewritten("x\n", "y\n")
    for each in (file, other):
        write_file(str(each), change, [str(tmp_path)])
    assert file.read_text() == other.read_text() == "y\n"
    assert file.samefile(other)


def test_all_texts_or_none(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.py", "b.py")]
    for each in paths:
        each.write_text("x\n")
    paths[1].chmod(0o444)
    with pytest.raises(WriteError, match="read-only"):
        write_rewritten({str(each): Rewritten("x\n", "y\n") for each in paths}, [str(tmp_path)])
    assert [each.read_text() for each in paths] == ["x\n", "x\n"]


def test_nothing_to_write_touches_nothing(tmp_path: Path) -> None:
    write_file(str(tmp_path / "absent.py"), Rewritten("x", "x"), [str(tmp_path)])
    with pytest.raises(UnreadableError):
        write_file(str(tmp_path / "absent.py"), Rewritten("x", "y"), [str(tmp_path)])


texts = st.lists(st.sampled_from(("a", "b", "", "c\r", "ü")), max_size=8).map("\n".join)


@pytest.mark.skipif(shutil.which("git") is None, reason="not run: needs git")
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
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
