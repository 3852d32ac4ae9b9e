"""The pictures of the tutorial and the README are what the commands print and what the language server says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from delivery.pages import ROOT, blocks, shell

PAGE = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
PICTURES = ROOT / "docs" / "pictures"
SHOWN = re.findall(r"^```sh picture\n(.*)\n```\n\n!\[.+\]\(pictures/(\S+)\)$", PAGE, re.MULTILINE)
COLORED = re.compile(r"^distml (check|shapes)")
EXAMPLE = ROOT / "examples" / "classifier.py"

pytestmark = pytest.mark.requires("rich")


def test_every_command_of_the_tutorial_has_its_picture() -> None:
    assert [f"{command}\n" for command, _ in SHOWN] == blocks("tutorial.md", "sh picture")
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    used = {name for page in pages for name in re.findall(r"\]\((?:docs/)?pictures/(\S+)\)", page.read_text("utf-8"))}
    assert used == {path.name for path in PICTURES.iterdir()}


@pytest.mark.requires("pygraphviz")
@pytest.mark.parametrize(("command", "name"), SHOWN, ids=[name for _, name in SHOWN])
def test_a_picture_is_what_the_command_prints(
    command: str, name: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    from docs.picture import terminal

    shutil.copytree(ROOT / "examples", folder / "examples")
    for program in ("net.py", "train.py"):
        (folder / program).write_text(blocks("tutorial.md", f"py {program}")[0], "utf-8")
    done = shell(COLORED.sub(r"\g<0> --color always", command), folder)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    _, _, into = command.partition(" > ")
    _hold(name, (folder / into).read_text("utf-8") if into else terminal(command, done.stdout), request)


@pytest.mark.requires("pygls", "pytest_lsp")
def test_the_editor_shows_what_the_server_says(folder: Path, request: pytest.FixtureRequest) -> None:
    from docs.picture import editor

    path = folder / EXAMPLE.name
    shutil.copy(EXAMPLE, path)
    (place,) = re.finditer(r"^.*(features)\(images\).*$", EXAMPLE.read_text("utf-8"), re.MULTILINE)
    line = place.string.count("\n", 0, place.start()) + 1
    _hold("hover.svg", editor(path, line - 3, line, place.start(1) - place.start()), request)


def _hold(name: str, made: str, request: pytest.FixtureRequest) -> None:
    from docs.picture import words

    assert not re.search(r"https?:(?!//www\.w3\.org/)", re.sub(r"<!DOCTYPE[^>]*>", "", made)), "it loads something"
    if request.config.getoption("--update-docs"):
        (PICTURES / name).write_text(made, "utf-8")
    assert words((PICTURES / name).read_text("utf-8")) == words(made), "run `make docs`"
