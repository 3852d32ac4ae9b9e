"""Ignore files are read as git reads them; git itself is the judge, and is never run by distml."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from distml.engine.config import ConfigError
from distml.engine.ignored import LARGEST, ignored, pattern

from delivery.repositories import git

pytestmark = pytest.mark.requires("git")

NAMES = ("a", "b", "ab", "aab", "a.py", "ba.py", "A", "a b", "[a]", "!a", "#a", "-", "é", "b\\")
names = st.sampled_from(NAMES)
files = st.lists(names, min_size=1, max_size=4).map("/".join)

PIECES = r"a b ab .py * ? [ab] [!a] [^b] [a-c] []a] [c-a] [[:alpha:]] [[:punct:]] [a \a \* \[ \! \# A é \ [\]a] [a-] [!-]".split()
pieces = st.sampled_from([*PIECES, "[[:digit:]-b]", " ", "\\ "])
components = st.lists(pieces, min_size=1, max_size=3).map("".join).filter(lambda text: "**" not in text) | names
paths = st.lists(components | st.sampled_from(["**", "**", ""]), min_size=1, max_size=4).map("/".join)
lines = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(["", "", "", "!", "#", "\\!"]),
    st.sampled_from(["", "", "/"]),
    paths,
    st.sampled_from(["", "", "/", "//"]),
    st.sampled_from(["", "", "", " ", "\r"]),
)
rules = st.lists(lines | st.sampled_from(["*", "!*/", "!*.py", "/*", "!/a", "a/"]), max_size=5)


def asked(top: Path, paths: list[str]) -> set[str]:
    """What git says."""
    given_to_git = "\0".join(paths).encode()
    done = subprocess.run(
        [
            "git",
            "-c",
            "core.excludesFile=",
            "-c",
            "core.ignoreCase=false",
            "check-ignore",
            "--no-index",
            "-z",
            "--stdin",
        ],
        cwd=top,
        input=given_to_git,
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return set(done.stdout.decode().split("\0")) - {""}


def make(top: Path, paths: list[str]) -> list[str]:
    """Make the files, as far as none is in the way of another."""
    made = []
    for path in paths:
        place = top / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch(exist_ok=False)
        except OSError:
            continue
        made.append(path)
    return made


def answered(top: Path, paths: list[str]) -> set[str]:
    return {os.path.relpath(path, top) for path in ignored([str(top / path) for path in paths], str(top))}


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(st.lists(files, min_size=1, max_size=6), rules, st.lists(st.tuples(names, rules), max_size=2), rules)
@example(["a/b/a.py", "a/a.py"], ["*", "!*/", "!a.py"], [], [])
@example(["a/b/a.py"], ["a/**/b"], [("a", ["!*.py"])], ["*.py"])
def test_git_says_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    paths: list[str],
    here: list[str],
    inner: list[tuple[str, list[str]]],
    exclude: list[str],
) -> None:
    top = tmp_path_factory.mktemp("tree")
    git(top, "init", "-q", "--template=")
    made = make(top, paths)
    (top / ".gitignore").write_bytes("\n".join(here).encode())
    for folder, wanted in inner:
        if (top / folder).is_dir():
            (top / folder / ".gitignore").write_bytes("\n".join(wanted).encode())
    (top / ".git" / "info").mkdir(exist_ok=True)
    (top / ".git" / "info" / "exclude").write_bytes("\n".join(exclude).encode())
    assert answered(top, made) == asked(top, made)


def test_a_linked_working_tree_has_the_patterns_of_its_repository(tmp_path: Path) -> None:
    top, linked = tmp_path / "top", tmp_path / "linked"
    git(tmp_path, "init", "-q", str(top))
    git(top, "commit", "-q", "--allow-empty", "-m", "first")
    git(top, "worktree", "add", "-q", str(linked))
    (top / ".git" / "info").mkdir(exist_ok=True)
    (top / ".git" / "info" / "exclude").write_text("a.py\n")
    make(linked, ["a.py", "b.py"])
    assert answered(linked, ["a.py", "b.py"]) == asked(linked, ["a.py", "b.py"]) == {"a.py"}


def test_repositories_in_one_another(tmp_path: Path) -> None:
    """A clone in an ignored folder is left out with it; a repository around the working folder's own says nothing."""
    for folder in (".", "ours", "ours/vendor/lib", "ours/kept"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        git(tmp_path / folder, "init", "-q", "--template=")
    (tmp_path / ".gitignore").write_text("*\n")
    (tmp_path / "ours" / ".gitignore").write_text("vendor/\n")
    (tmp_path / "ours" / "kept" / ".gitignore").write_text("b.py\n")
    made = make(tmp_path / "ours", ["a.py", "vendor/lib/a.py", "kept/a.py", "kept/b.py"])
    assert answered(tmp_path / "ours", made) == {"vendor/lib/a.py", "kept/b.py"}


@pytest.mark.parametrize("kind", ["folder", "bare", "file", "fifo"])
def test_what_only_looks_like_a_repository_is_none(tmp_path: Path, kind: str) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("*.py\n")
    inner = tmp_path / "pkg"
    inner.mkdir()
    if kind == "folder":
        (inner / ".git").mkdir()
    elif kind == "bare":
        git(inner, "init", "-q", "--bare", ".")
    elif kind == "file":
        (inner / ".git").write_text("gitdir: /dev/stdin\n")
    else:
        os.mkfifo(inner / ".git")
    make(inner, ["a.py"])
    assert answered(inner, ["a.py"]) == {"a.py"}, "the repository around it is asked"


def test_links_and_odd_files_in_the_place_of_patterns_are_not_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "patterns").write_text("*.py\n")
    for folder in ("link", "fifo", "folder"):
        make(tmp_path, [f"{folder}/a.py"])
    (tmp_path / "link" / ".gitignore").symlink_to("../patterns")
    os.mkfifo(tmp_path / "fifo" / ".gitignore")
    (tmp_path / "folder" / ".gitignore").mkdir()
    made = ["link/a.py", "fifo/a.py", "folder/a.py"]
    assert answered(tmp_path, made) == set()
    assert asked(tmp_path, ["link/a.py"]) == set(), "git follows no link either"


def test_too_many_patterns_are_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_bytes(b"a\n" * LARGEST)
    with pytest.raises(ConfigError, match="more than 1048576 bytes of patterns"):
        answered(tmp_path, ["a.py"])


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b"*a" * 100 + b"b", b"a" * 255),
        (b"**/a/" * 50 + b"b", b"/".join([b"a"] * 1000)),
        (b"**/*a*a*a*a/" * 10 + b"b", b"/".join([b"a" * 100] * 100)),
        (b"[[:alpha:]]*" * 60 + b"-", b"a" * 255),
    ],
)
def test_no_pattern_takes_long(line: bytes, path: bytes) -> None:
    """Each of these would take longer than the age of the universe where parts of a match are tried again."""
    compiled = pattern(line)
    assert compiled is not None
    assert not compiled.fits(tuple(path.split(b"/")), False)
