"""docs/draw.md: its commands print what is shown there, and its picture is the one that they make."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from delivery.pages import blocks, shell

PAGE = Path(__file__).parents[2] / "docs" / "draw.md"
PICTURE = PAGE.parent / "pictures" / "residual.svg"


@pytest.fixture(autouse=True)
def program(folder: Path) -> None:
    (text,) = blocks("draw.md", "py residual.py")
    (folder / "residual.py").write_text(text, "utf-8")


def test_the_graph_is_the_one_that_is_shown(folder: Path, request: pytest.FixtureRequest) -> None:
    (command,) = blocks("draw.md", "sh depth")
    done = shell(command, folder)
    assert done.returncode == 0, done.stderr
    if request.config.getoption("--update-docs"):
        before, rest = PAGE.read_text("utf-8").split("```mermaid depth\n")
        PAGE.write_text(f"{before}```mermaid depth\n{done.stdout}```{rest.partition('```')[2]}", "utf-8")
    assert blocks("draw.md", "mermaid depth") == [done.stdout]


@pytest.mark.requires("pygraphviz")
def test_the_picture_is_the_one_that_is_made(folder: Path, request: pytest.FixtureRequest) -> None:
    (command,) = blocks("draw.md", "sh svg")
    done = shell(command, folder)
    assert done.returncode == 0, done.stderr
    made = (folder / "residual.svg").read_text("utf-8")
    if request.config.getoption("--update-docs"):
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(made, "utf-8")
    # Where the text stands depends on the fonts of the machine.
    assert _words(PICTURE.read_text("utf-8")) == _words(made), "run `make docs`"


def _words(svg: str) -> list[str]:
    return sorted(re.findall(r"<(?:text|title)[^>]*>([^<]*)<", svg))


def test_the_page_stands_alone(folder: Path) -> None:
    (command,) = blocks("draw.md", "sh page")
    assert shell(command, folder).returncode == 0
    page = (folder / "residual.html").read_text("utf-8")
    assert "block: Block" in page and "[b, 16, (height + 1)//2, (width + 1)//2]" in page
