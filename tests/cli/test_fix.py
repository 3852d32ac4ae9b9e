"""`distml check --fix` and `--diff`, with the interpreter: what is fixed, what remains, what is left alone."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path

import pytest

from distml.cli.main import main

pytestmark = pytest.mark.requires("distml.interp.check")
BROKEN = """\
import torch

width = 128
a = torch.zeros(width / 2)
b = torch.zeros(2, 3)  # distml: ignore[SHP101, SHP102]
c = torch.zeros(2, 3) @ torch.zeros(4, 5)
"""
FIXED = """\
import torch

width = 128
a = torch.zeros(width // 2)
b = torch.zeros(2, 3)
c = torch.zeros(2, 3) @ torch.zeros(4, 5)
"""


@pytest.fixture
def broken(folder: Path) -> Path:
    path = folder / "a.py"
    path.write_text(BROKEN)
    return path


def test_what_has_one_answer_is_fixed_and_the_rest_reported(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--fix", "--format", "concise"]) == 1
    assert broken.read_text() == FIXED
    out = capsys.readouterr().out.splitlines()
    assert out[:2] == ["a.py:4: fixed [SHP603]: divide with //", "a.py:5: fixed [SRC301]: remove the comment"]
    assert ["SHP101" in line for line in out[2:]] == [True]
    assert main(["check", "--fix"]) == 1
    assert broken.read_text() == FIXED, "fixing twice changes nothing more"


def test_nothing_remains(broken: Path) -> None:
    broken.write_text(BROKEN.replace("(4, 5)", "(3, 5)"))
    assert main(["check", "--fix"]) == 0
    assert main(["check"]) == 0


def test_what_is_not_selected_is_not_fixed(broken: Path) -> None:
    assert main(["check", "--fix", "--select", "SRC301"]) == 0
    assert broken.read_text() == FIXED.replace("//", "/")


def test_a_report_for_programs_stays_one(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--fix", "--format", "json"]) == 1
    out, errors = capsys.readouterr()
    assert [each["code"] for each in json.loads(out)] == ["SHP101"]
    assert "a.py:4: fixed [SHP603]" in errors


@pytest.mark.requires("git")
def test_the_patch_is_what_fixing_does(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marked = b"\xef\xbb\xbf" + BROKEN.replace("\n", "\r\n").encode()
    latin = b"# -*- coding: latin-1 -*-\n# \xe9\nx = 1  # distml: ignore[SHP101]"
    (folder / "a.py").write_bytes(marked)
    (folder / "b.py").write_bytes(latin)
    assert main(["check", "--diff"]) == 1
    patch = capsys.readouterr().out
    assert ((folder / "a.py").read_bytes(), (folder / "b.py").read_bytes()) == (marked, latin)
    assert "--- a/b.py" in patch
    assert main(["check", "--fix", "--exit-zero"]) == 0
    assert (folder / "a.py").read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()
    assert (folder / "b.py").read_bytes() == latin.removesuffix(b"  # distml: ignore[SHP101]")
    (folder / "a.py").write_bytes(marked)
    only_a = patch.partition("--- a/b.py")[0].encode()
    subprocess.run(["git", "apply", "-"], input=only_a, cwd=folder, check=True)
    assert (folder / "a.py").read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()


def test_a_file_that_changes_meanwhile_is_left_alone(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distml.cli import fix

    def look(*arguments: object) -> object:
        report = original(*arguments)  # type: ignore[arg-type]
        broken.write_text("# another line\n" + broken.read_text())
        return report

    original = fix.look
    monkeypatch.setattr(fix, "look", look)
    assert main(["check", "--fix"]) == 1
    assert broken.read_text().endswith(BROKEN)


def test_a_file_that_changes_while_it_is_written_is_left_alone(
    broken: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import distml.autofix.mending as mending

    def rewritten(*arguments: object) -> object:
        changes = original(*arguments)  # type: ignore[arg-type]
        broken.write_text("# another line\n" + BROKEN)
        return changes

    original = mending.rewritten
    monkeypatch.setattr(mending, "rewritten", rewritten)
    assert main(["check", "--fix"]) == 2
    assert broken.read_text().endswith(BROKEN)
    assert "not fixed: a.py: it was changed by something else in the meantime" in capsys.readouterr().err


def test_permissions_and_links_stay(broken: Path) -> None:
    broken.chmod(0o640)
    (broken.parent / "link.py").symlink_to("a.py")
    assert main(["check", "--fix", "link.py"]) == 1
    assert broken.read_text() == FIXED
    assert (broken.parent / "link.py").is_symlink()
    assert stat.S_IMODE(broken.stat().st_mode) == 0o640


def test_a_file_that_cannot_be_written(
    broken: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("distml.writing.files._create", refuse)
    assert main(["check", "--fix"]) == 2
    assert broken.read_text() == BROKEN
    assert "not fixed: a.py: cannot be written: Permission denied" in capsys.readouterr().err


def test_files_that_were_not_asked_for_are_not_written(folder: Path) -> None:
    (folder / "net.py").write_text("import torch\n\ndef make(n):\n    return torch.zeros(n / 2)\n")
    (folder / "train.py").write_text("import net\n\nnet.make(8)\n")
    before = (folder / "net.py").read_text()
    assert main(["check", "--fix", "train.py"]) == 1
    assert (folder / "net.py").read_text() == before
    assert main(["check", "--fix"]) == 0
    assert "n // 2" in (folder / "net.py").read_text()


def test_fixes_beside_each_other_are_all_made(folder: Path) -> None:
    lines = ["# distml: ignore[SHP101]\n", "# distml: ignore[SHP102]\n", "x = 1  # distml: ignore[SHP103]\n"]
    (folder / "a.py").write_text("".join(lines))
    assert main(["check", "--fix"]) == 0
    assert (folder / "a.py").read_text() == "x = 1\n"


@pytest.mark.parametrize("other", ["--watch", "--diff"])
def test_one_of_them(other: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["check", "--fix", other])
    assert left.value.code == 2
    assert "not allowed with argument" in capsys.readouterr().err


def test_standard_input_is_not_fixed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--fix", "--stdin-filename", "a.py"]) == 2
    assert "--stdin-filename takes no PATH" in capsys.readouterr().err
