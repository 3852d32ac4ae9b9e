"""Which files a run takes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from distml.engine.config import Config
from distml.engine.discovery import discover
from distml.engine.patterns import matches


def make(folder: Path, *files: str) -> None:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_a_folder_is_walked_in_order(folder: Path) -> None:
    make(folder, "b.py", "a.pyi", "c.txt", "pkg/z.py", "pkg/a.py", "pkg/inner/m.py", "app/n.py", "notebook.ipynb")
    assert discover(["."], Config()).files == [
        "a.pyi",
        "b.py",
        "notebook.ipynb",
        "app/n.py",
        "pkg/a.py",
        "pkg/z.py",
        "pkg/inner/m.py",
    ]
    assert discover(["pkg", "./b.py", "pkg/a.py"], Config()).files == ["pkg/a.py", "pkg/z.py", "pkg/inner/m.py", "b.py"]


def test_what_is_nobodys_source_is_left_out(folder: Path) -> None:
    make(
        folder,
        ".venv/a.py",
        "venv/a.py",
        "node_modules/a.py",
        "build/a.py",
        "x.egg-info/a.py",
        "__pycache__/a.py",
        ".git/a.py",
        "a.py",
    )
    assert discover(["."], Config()).files == ["a.py"]


def test_what_is_asked_for_by_name_is_taken(folder: Path) -> None:
    make(folder, "build/a.py", "script", "env/lib/site-packages/torch/a.py")
    assert discover(["build", "script"], Config()).files == ["build/a.py", "script"]
    assert discover(["env/lib/site-packages"], Config()).files == ["env/lib/site-packages/torch/a.py"]


def test_configured_exclusions_hold_everywhere(folder: Path) -> None:
    make(folder, "a.py", "vendored/b.py", "tests/data/c.py", "tests/d.py")
    config = Config(folder=str(folder), exclude=("vendored", "tests/data"))
    assert discover([".", "vendored/b.py"], config).files == ["a.py", "tests/d.py"]


def test_links_to_folders_are_not_followed(folder: Path) -> None:
    make(folder, "pkg/a.py")
    (folder / "pkg/loop").symlink_to("..")
    (folder / "pkg/self").symlink_to("self")
    (folder / "pkg/outside").symlink_to("/usr")
    (folder / "twice.py").symlink_to("pkg/a.py")
    found = discover(["."], Config())
    assert [os.path.realpath(file) for file in found.files] == [str(folder / "pkg/a.py")]
    assert found.problems == []
    assert discover(["pkg/loop/pkg"], Config()).files == ["pkg/loop/pkg/a.py"], "unless given"


def test_a_folder_that_cannot_be_read_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(folder, "a.py", "closed/b.py", "open/c.py")
    listdir = os.listdir

    def refusing(path: str) -> list[str]:
        if path == "closed":
            raise PermissionError(13, "Permission denied", path)
        return listdir(path)

    monkeypatch.setattr(os, "listdir", refusing)
    found = discover(["."], Config())
    assert found.files == ["a.py", "open/c.py"]
    assert [(each.code, each.span.path) for each in found.problems] == [("SRC107", "closed")]


@pytest.mark.requires("git")
def test_what_git_ignores_is_left_out_on_request(folder: Path) -> None:
    make(folder, "a.py", "out/b.py")
    (folder / ".gitignore").write_text("out/\n")
    asked = Config(respect_gitignore=True)
    assert discover(["."], asked).files == ["a.py", "out/b.py"], "no repository"
    subprocess.run(["git", "init", "-q"], check=True)
    assert discover(["."], asked).files == ["a.py"]
    assert discover(["."], Config()).files == ["a.py", "out/b.py"]


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("/p/a/build/c.py", "build", True),
        ("/p/a/c.py", "*.py", True),
        ("/p/tests/a/b.py", "tests/*", True),
        ("/p/tests/a/b.py", "./tests/", True),
        ("/p/x/tests/a.py", "tests/*", False),
        ("/p/x/tests/a.py", "**/tests/*", True),
        ("/p/a.py", "/p/a.py", False),
        ("/other/a.py", "a.py", True),
        ("/p/buildings/a.py", "build", False),
    ],
)
def test_patterns(path: str, pattern: str, fits: bool) -> None:
    assert matches(path, pattern, "/p") is fits
