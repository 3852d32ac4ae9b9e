"""`distml draw` as a command: forms, exit codes, one line for wrong use, nothing run, nothing of the file but text."""

from __future__ import annotations

import json
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from distml.cli.main import main

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.head = nn.Linear({features}, 10)

    def forward(self, x):
        y = self.conv(x)
        for _ in range(2):
            y = y + torch.relu(y)
        return self.head(y.mean((2, 3)))
"""


@pytest.fixture(autouse=True)
def program(folder: Path) -> Path:
    path = folder / "net.py"
    path.write_text(NET.format(features=8))
    return path


def drawn(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["draw", *arguments]) == code
    return capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    (graph,) = json.loads(drawn(capsys, "net.py::Net", "--input", "x: float[2, 3, 8, 8]", "--format", "json"))
    assert set(graph) == {"name", "path", "nodes", "edges", "modules", "unused", "failures", "notes"}
    shown = [(each["kind"], each["name"] or each["type"], each["shape"], each["line"]) for each in graph["nodes"]]
    assert shown == [
        ("input", "x", "[2, 3, 8, 8]", 11),
        ("call", "conv", "[2, 8, 8, 8]", 12),
        ("call", "relu", "[2, 8, 8, 8]", 14),
        ("call", "+", "[2, 8, 8, 8]", 14),
        ("call", "relu", "[2, 8, 8, 8]", 14),
        ("call", "+", "[2, 8, 8, 8]", 14),
        ("call", "mean", "[2, 8]", 15),
        ("call", "head", "[2, 10]", 15),
        ("output", "output", "[2, 10]", 11),
    ]
    place = {each["id"]: number for number, each in enumerate(graph["nodes"])}
    edges = sorted((place[each["source"]], place[each["target"]]) for each in graph["edges"])
    assert edges == [(0, 1), (1, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 5), (5, 6), (6, 7), (7, 8)]


def test_every_model_of_a_file(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text(program.read_text() + "\n\nclass Other(Net):\n    pass\n")
    assert {each["name"] for each in json.loads(drawn(capsys, "net.py", "--format", "json"))} == {
        "Net.forward",
        "Other.forward",
    }


def test_what_must_fail_is_drawn_up_to_there(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text(NET.format(features=9))
    text = drawn(capsys, "net.py::Net", "--input", "x: float[2, 3, 8, 8]", code=1)
    assert "fails at line 15" in text and ":::fails" in text and "output" not in text.partition("classDef")[0]


HOSTILE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("</script><script>alert(1)</script>", nn.Linear(3, 3))
        setattr(self, 'a"]; click n0 call x()', nn.Linear(3, 3))
        self.d = nn.ModuleDict({"\\x1b]0;owned\\x07<img src=x onerror=y>": nn.Linear(3, 3)})

    def forward(self, x):
        for each in self.children():
            x = each(x) if isinstance(each, nn.Linear) else x
        for name in self.d:
            x = self.d[name](x)
        return x  # </td><script>alert(2)</script>


open("run.txt", "w").write("run")
"""


class Page(HTMLParser):
    """Tags of a page, and what its scripts hold."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("form", ["mermaid", "html", "json"])
def test_nothing_of_the_file_is_run_or_drives_a_terminal(
    program: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(HOSTILE)
    text = drawn(capsys, "net.py::Net", "--format", form)
    assert not (program.parent / "run.txt").exists()
    assert "\x1b" not in text and "\x07" not in text


def test_names_are_text_in_mermaid(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text(HOSTILE)
    text = drawn(capsys, "net.py::Net")
    assert not any(each in text for each in ("<script", "<img", "\n  click", "onerror=y>"))


def test_a_page_runs_its_own_script_alone_and_loads_nothing(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text(HOSTILE)
    page = Page()
    page.feed(drawn(capsys, "net.py::Net", "--format", "html"))
    tags = Counter(tag for tag, _ in page.tags)
    assert tags["script"] == 1 and not {"img", "link", "iframe", "object"} & tags.keys()
    assert not any(name.startswith("on") or name == "src" for _, attrs in page.tags for name in attrs)
    (policy,) = (attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none'")


@pytest.mark.requires("pygraphviz")
def test_a_picture(capsys: pytest.CaptureFixture[str], program: Path) -> None:
    program.write_text(HOSTILE)
    picture = ET.fromstring(drawn(capsys, "net.py::Net", "--format", "svg"))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [each for each in picture.iter() if each.tag.rpartition("}")[2] in ("script", "image", "foreignObject")]


def test_a_picture_without_the_library(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    assert main(["draw", "net.py::Net", "--format", "svg"]) == 2
    assert "distml[draw]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.py"], "no such file: missing.py"),
        (["."], "name one file"),
        (["net.py::None"], "None"),
        (["net.py::Net", "--depth", "-1"], "--depth is negative"),
        (["net.py::Net", "--input", "z: float[3]"], "z"),
        (["net.py", "--input", "x: float[3]"], "FILE::NAME"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draw", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_a_model_that_goes_on_for_ever_ends(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "\n".join(f"        x = self.f{i}(x) + self.f{i}(x)" for i in range(40))
    methods = "\n".join(
        f"    def f{i}(self, x):\n        return self.f{i + 1}(x) + self.f{i + 1}(x)" for i in range(40)
    )
    program.write_text(
        f"from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n{body}\n        return x\n{methods}\n"
    )
    assert main(["draw", "net.py::Net", "--input", "x: float[3]", "--time-limit", "5"]) in (0, 1, 2)
