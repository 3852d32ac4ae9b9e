"""Lines that changed since a commit are those of `git diff`, in real repositories."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.engine.adoption import Wishes, adopt
from distml.engine.config import Config, ConfigError
from distml.engine.run import run
from distml.git.lines import ALL, changed_lines

from delivery.repositories import git
from engine.fakes import fake

pytestmark = pytest.mark.requires("git")
LINES = st.lists(
    st.sampled_from(["x = 1", "y = 2", "", "+z", "-z", "@@ -1 +1 @@", "diff --git a b", "index 0..1", "é"]), max_size=12
)
NAMES = st.sampled_from(["a.py", "sub/b.py", "ü x.py", 'q"uote.py', "new\nline.py", "-dash.py", "tab\t.py"])
FILES = st.dictionaries(NAMES, LINES, max_size=4)
ENDS = st.sampled_from(["\n", "\r\n"])


def put(folder: Path, files: dict[str, list[str]], end: str) -> None:
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes("".join(line + end for line in lines).encode())


def said_by_git(folder: Path, name: str) -> set[int]:
    """Line numbers with a `+` in git's own difference of the working tree."""
    git(folder, "add", "-N", ".")
    asked = ["git", "diff", "-M", "--ignore-cr-at-eol", "--text", "-U0", "HEAD", "--", name]
    told = subprocess.run(asked, cwd=folder, capture_output=True, check=True).stdout
    found: set[int] = set()
    number = 0
    for line in told.split(b"\n"):
        if head := re.match(rb"@@ -\d+(?:,\d+)? \+(\d+)", line):
            number = int(head[1])
        elif number and line.startswith(b"+"):
            found.add(number)
            number += 1
    return found


@settings(max_examples=20)
@given(FILES, FILES, ENDS, ENDS)
def test_lines_are_those_of_git(old: dict[str, list[str]], new: dict[str, list[str]], one: str, other: str) -> None:
    with TemporaryDirectory() as made:
        folder = Path(made).resolve()
        git(folder, "init", "-q")
        git(folder, "config", "core.autocrlf", "false")
        put(folder, old, one)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "--allow-empty", "-m", "x")
        for name in old.keys() - new.keys():
            (folder / name).unlink()
        put(folder, new, other)
        contents = {str(folder / name): (folder / name).read_bytes() for name in new}
        changed = changed_lines(made, "HEAD", contents)
        for name, lines in new.items():
            told = changed[str(folder / name)]
            ours = {number for number in range(1, len(lines) + 1) if any(number in each for each in told)}
            if name in old:
                theirs = said_by_git(folder, name)
                assert theirs <= ours
                removed = ours - theirs  # where lines were removed, those on both sides
                assert not removed or len(old[name]) > 0
                if len(lines) >= len(old[name]) and not theirs:
                    assert not ours or lines != old[name]


@pytest.fixture
def clone(folder: Path) -> Path:
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.py").write_text("import torch\nold = boom\nx = 1\ny = 2\nz = 3\nlast\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    git(folder, "tag", "v1")
    return folder


def places(since: str = "HEAD", overlay: dict[str, bytes] | None = None) -> list[tuple[str, int]]:
    config = Config(jobs=0)
    report = adopt(run(["."], config, checker=fake, overlay=overlay), config, Wishes(since=since))
    return [(each.span.path, each.span.line) for each in report.diagnostics]


def test_nothing_changed(clone: Path) -> None:
    assert places() == places("v1") == places("main") == places(git(clone, "rev-parse", "HEAD")) == []


def test_changed_untracked_and_staged_lines(clone: Path) -> None:
    (clone / "a.py").write_text("import torch\nold = boom\nx = 1\nnew = boom\nz = 3\nlast\n")
    (clone / "b.py").write_text("import torch\nboom\n")
    assert places() == [("a.py", 4), ("b.py", 2)]
    git(clone, "add", ".")
    assert places() == [("a.py", 4), ("b.py", 2)]
    git(clone, "commit", "-q", "-m", "second")
    assert places() == []
    assert places("HEAD~1") == places("v1") == [("a.py", 4), ("b.py", 2)]


def test_renames(clone: Path) -> None:
    (clone / "sub").mkdir()
    git(clone, "mv", "a.py", "sub/ü \t'\".py")
    assert places() == []
    path = clone / "sub" / "ü \t'\".py"
    path.write_text(path.read_text() + "boom\n")
    assert places() == [("sub/ü \t'\".py", 7)]
    git(clone, "reset", "-q")
    assert places() == [("sub/ü \t'\".py", 7)]


def test_from_a_folder_inside(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / "sub").mkdir()
    (clone / "sub" / "c.py").write_text("import torch\nboom\n")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "second")
    monkeypatch.chdir(clone / "sub")
    assert places() == []
    assert places("v1") == [("c.py", 2)]


def test_what_others_did_since_the_branch_left_is_not_of_the_branch(clone: Path) -> None:
    git(clone, "switch", "-q", "-c", "feature")
    (clone / "b.py").write_text("import torch\nboom\n")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "ours")
    git(clone, "switch", "-q", "main")
    (clone / "a.py").write_text("import torch\nx = 1\ny = 2\nz = 3\nlast\n")
    (clone / "m.py").write_text("import torch\nboom\n")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "theirs")
    git(clone, "switch", "-q", "feature")
    assert places("main") == [("b.py", 2)]
    git(clone, "merge", "-q", "--no-edit", "main")
    assert places("main") == [("b.py", 2)]


def test_line_ends_are_no_change(clone: Path) -> None:
    path = clone / "a.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert places() == []
    path.write_bytes(path.read_bytes().replace(b"z = 3", b"boom"))
    assert places() == [("a.py", 5)]
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\r"))
    assert places() == [("a.py", 2), ("a.py", 5)]


def test_where_lines_were_removed_the_lines_beside_count(clone: Path) -> None:
    (clone / "a.py").write_text("import torch\nold = boom\ny = 2\nz = 3\nlast\n")
    assert places() == [("a.py", 2)]
    (clone / "a.py").write_text("import torch\nold = boom\nx = 1\nz = 3\nlast\n")
    assert places() == []


def test_a_finding_counts_where_a_note_changed(clone: Path) -> None:
    (clone / "model.py").write_text(
        "import torch\nfrom torch import nn\n\n\ndef make(n):\n    return nn.Linear(n, 2)(torch.zeros(1, 4))\n\n\nmake(4)\n"
    )
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "second")
    (clone / "model.py").write_text((clone / "model.py").read_text().replace("make(4)", "make(5)"))
    config = Config(jobs=0)
    report = adopt(run(["model.py"], config), config, Wishes(since="HEAD"))
    assert [each.span.line for each in report.diagnostics] == [6]


def test_a_file_that_can_no_longer_be_read_counts(clone: Path) -> None:
    (clone / "a.py").write_text("import torch\nx = (\nx = 1\ny = 2\nz = 3\nlast\n")
    assert [path for path, _ in places()] == ["a.py"]


def test_unsaved_text_counts_as_it_is(clone: Path) -> None:
    text = (clone / "a.py").read_bytes().replace(b"y = 2", b"boom")
    assert places(overlay={os.path.realpath("a.py"): text}) == [("a.py", 4)]


def test_with_a_baseline_the_new_one_of_two_alike_is_reported(clone: Path) -> None:
    from distml.engine.baseline import dump, read

    config = Config(jobs=0)
    first = adopt(run(["."], config, checker=fake), config, Wishes("b.json", "write"))
    assert first.baseline and first.baseline.data
    (clone / "b.json").write_bytes(first.baseline.data)
    (clone / "a.py").write_text("import torch\nold = boom\nold = boom\nx = 1\ny = 2\nz = 3\nlast\n")
    report = adopt(run(["."], config, checker=fake), config, Wishes("b.json", since="HEAD"))
    assert len(report.diagnostics) == 1
    assert dump(read("b.json")[1]) == first.baseline.data


@pytest.mark.parametrize(
    "revision",
    [
        "",
        "-x",
        "^HEAD",
        "--output=x",
        "nope",
        "HEAD;id",
        "$(id)",
        "`id`",
        "a b",
        "a..b",
        "HEAD:a.py",
        "x\n",
        "x\0",
        "*",
        "\udcff",
        "@{u}",
        "x" * 999,
    ],
)
def test_what_names_no_commit_is_refused(clone: Path, revision: str) -> None:
    (clone / "a.py").write_text("boom\n")
    with pytest.raises(ConfigError) as told:
        places(revision)
    assert "\n" not in str(told.value)
    assert sorted(os.listdir()) == [".git", "a.py", "pyproject.toml"]


def test_no_repository(folder: Path) -> None:
    (folder / "a.py").write_text("import torch\nboom\n")
    with pytest.raises(ConfigError, match="there is no repository of git"):
        places("HEAD")


def test_no_git(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / "a.py").write_text("boom\n")
    monkeypatch.setenv("PATH", os.fspath(clone / "nothing"))
    with pytest.raises(ConfigError, match=r"git is not installed, or not on the PATH: .* since 'HEAD'$"):
        places("HEAD")


@settings(max_examples=15)
@given(st.sampled_from(["unborn", "below"]), FILES, FILES, st.booleans())
def test_lines_of_a_repository_inside_are_those_of_its_own(
    kind: str, old: dict[str, list[str]], new: dict[str, list[str]], committed: bool
) -> None:
    """A submodule changed since the commit of it that the outer commit names; before the first commit all is new."""
    with TemporaryDirectory() as made:
        folder = Path(made).resolve()
        inner = folder / "vendor" / "ü x" if kind == "below" else folder
        inner.mkdir(parents=True, exist_ok=True)
        git(inner, "init", "-q")
        if kind == "below":
            put(inner, old, "\n")
            git(inner, "add", ".")
            git(inner, "commit", "-q", "--allow-empty", "-m", "x")
            git(folder, "init", "-q")
            git(folder, "add", ".")  # what git calls an embedded repository is a submodule without an address
            git(folder, "commit", "-q", "-m", "x")
            for name in old.keys() - new.keys():
                (inner / name).unlink()
        put(inner, new, "\n")
        contents = {str(inner / name): (inner / name).read_bytes() for name in new}
        alone = changed_lines(str(inner), "HEAD", contents)
        if kind == "unborn":
            assert alone == dict.fromkeys(contents, ALL)
            return
        if committed:
            git(inner, "add", ".")
            git(inner, "commit", "-q", "--allow-empty", "-m", "y")
        assert changed_lines(made, "HEAD", contents) == alone


def test_a_submodule_without_that_commit_has_changed(clone: Path) -> None:
    inner = clone / "vendor"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "b.py").write_text("import torch\nboom\n")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "x")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "second")
    assert places() == []
    (inner / ".git").rename(clone / "away")
    assert places() == [("vendor/b.py", 2)]


@pytest.mark.parametrize("revision", ["HEAD~1", "HEAD^", "@", "main", "v1"])
def test_before_the_first_commit_only_head_is_known(folder: Path, revision: str) -> None:
    git(folder, "init", "-q", "-b", "main")
    (folder / "b.py").write_text("import torch\nboom\n")
    assert places() == [("b.py", 2)]
    with pytest.raises(ConfigError, match="no commit, branch or tag"):
        places(revision)


@pytest.mark.parametrize("name", [b"new\nline", b'q"uote', b"back\\slash", b"\\n", b"\xff", b"tab\t", b" ", b"#", b":"])
def test_a_repository_lies_anywhere(folder: Path, name: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = folder / os.fsdecode(name)
    inside.mkdir()
    monkeypatch.chdir(inside)
    (inside / "a.py").write_text("import torch\nboom\n")
    git(inside, "init", "-q")
    git(inside, "add", ".")
    git(inside, "commit", "-q", "-m", "x")
    assert places() == []
    (inside / "a.py").write_text("import torch\nboom\nboom\n")
    assert places() == [("a.py", 3)]
