"""`distml shapes` as a command: forms, exit codes, one line for wrong use, nothing run and nothing that drives a terminal."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from distml.cli.main import main

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        y = self.conv(x)
        return y.mean((2, 3))
"""


@pytest.fixture(autouse=True)
def program(folder: Path) -> Path:
    path = folder / "net.py"
    path.write_text(NET)
    return path


def distml(*arguments: str) -> int:
    return main(["shapes", *arguments])


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("net.py::Net.forward", "--input", "x: float[b, 3, h, w]") == 0
    assert capsys.readouterr().out == (
        "10 |     def forward(self, x):      x: [b, 3, h, w]\n"
        "11 |         y = self.conv(x)       y: [b, 8, h - 2, w - 2]\n"
        "12 |         return y.mean((2, 3))  return: [b, 8]\n"
    )


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("net.py::Net.forward", "--input", "x: float[2, 3, 9, w]", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"path", "shapes", "failures", "notes", "layers"}
    assert (found["path"], found["failures"], found["notes"]) == ("net.py", [], [])
    assert [(each["kind"], each["name"], each["line"], each["column"]) for each in found["shapes"]] == [
        ("parameter", "x", 10, 23),
        ("assignment", "y", 11, 9),
        ("call", "self.conv", 11, 13),
        ("return", "return", 12, 16),
    ]
    assert found["shapes"][1]["values"] == [{"text": "[2, 8, 7, w - 2]", "shape": [2, 8, 7, "w - 2"]}]


def test_layers_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("net.py::Net", "--input", "x: float[2, 3, 9, w]") == 0
    assert capsys.readouterr().out.endswith(
        "\n"
        "layer  type    output            parameters      bytes  multiply-adds\n"
        "conv   Conv2d  [2, 8, 7, w - 2]         224  448*w - 896  3024*w - 6048\n".replace(
            "      bytes", "        bytes"
        )
        + "total                                   224  448*w - 896  3024*w - 6048\n\n"
    )
    assert distml("net.py::Net", "--input", "x: float[2, 3, 9, 9]", "--format", "json") == 0
    table = json.loads(capsys.readouterr().out)["layers"]
    row = {"name": "conv", "type": "Conv2d", "output": "[2, 8, 7, 7]"}
    amounts = {"parameters": 224, "bytes": 3136, "multiply_adds": 21168}
    assert table == {"rows": [{**row, **amounts}], **amounts}


def test_color_only_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("net.py") == 0
    assert "\x1b" not in capsys.readouterr().out
    assert distml("net.py", "--color", "always") == 0
    assert "\x1b[1;32m" in capsys.readouterr().out


def test_what_must_fail_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("net.py::Net", "--input", "x: float[2, 4, 9, 9]") == 1
    out = capsys.readouterr().out
    assert "fails: conv needs 3 input channels, gets 4" in out
    assert "return:" not in out


def test_nothing_of_the_file_is_run_or_drives_a_terminal(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text(
        "import torch\nopen('ran', 'w')\nx = torch.zeros(2)  # \x1b]0;owned\x07 \u202e\nx\u0301 = x\nraise SystemExit(3)\n"
    )
    assert distml("net.py", "--color", "always") == 0
    out = capsys.readouterr().out
    assert not (program.parent / "ran").exists()
    assert "\x1b]" not in out and "\x07" not in out and "\u202e" not in out
    assert "\\x1b]0;owned\\x07 \\u202e" in out


class _Page(HTMLParser):
    """The elements of a page, whether they are closed in order, and the text of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "td":
            self.cells[-1] += data


def test_a_page_holds_the_source_as_text_and_nothing_that_runs(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = 'y = x  # </td></table><script>alert(1)</script><img src=x onerror="alert(2)"> &lt; \x1b[31m \u202e'
    program.write_text(f"import torch\n\nx = torch.zeros(2, 3)\n{hostile}\n", "utf-8")
    assert distml("net.py", "--format", "html") == 0
    out = capsys.readouterr().out
    page = _Page()
    page.feed(out)
    assert page.open == []
    assert page.tags == set("html head meta title style body h1 table tr td".split())
    assert page.attributes == set("lang charset http-equiv content name class id".split())
    assert "\x1b" not in out and "\u202e" not in out
    shown = hostile.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    assert page.cells == [
        "1",
        "import torch",
        "",
        "2",
        "",
        "",
        "3",
        "x = torch.zeros(2, 3)",
        "x: [2, 3]",
        "4",
        shown,
        "y: [2, 3]",
    ]


def test_a_page_with_layers(capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("net.py::Net", "--input", "x: float[2, 3, 9, 9]", "--format", "html") == 0
    page = _Page()
    page.feed(capsys.readouterr().out)
    assert page.open == []
    assert page.cells[-12:-6] == ["conv", "Conv2d", "[2, 8, 7, 7]", "224", "3,136", "21,168"]
    assert distml("net.py::Net", "--input", "x: float[2, 4, 9, 9]", "--format", "html") == 1
    assert "fails: conv needs 3 input channels" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["absent.py"], "no such file: absent.py"),
        (["."], ". is a folder: name one file"),
        (["net.py::Nat"], "has no function or class 'Nat'"),
        (["net.py::Net.run"], "has no method 'run'"),
        (["net.py::Net", "--where", "y.shape[0] > 1"], "has no input 'y'"),
        (["net.py::Net", "--where", "x.shape[0] >"], "--where"),
        (["net.py::Net", "--where", " "], "--where is empty"),
        (["net.py::Net", "--input", "y: float[3]"], "has no input 'y'"),
        (["net.py::Net", "--input", "x: \x1b[31m"], "is not an input with its shape"),
        (["net.py", "--input", "x: float[3]"], "name what has the inputs"),
        (["broken.py"], "broken.py:1"),
        (["bytes.py"], "bytes.py:1"),
        (["deep.py"], "deep.py:1"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    folder: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "bytes.py").write_bytes(b"x = '\xff\xfe\x00'\n")
    (folder / "deep.py").write_text("x = " + "(" * 3000 + ")" * 3000)
    assert distml(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "\x1b" not in captured.err
    assert says in captured.err


def test_a_notebook_is_shown_by_its_cells(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = {"cell_type": "code", "metadata": {}, "source": ["import torch\n", "x = torch.zeros(2, 3)\n"], "outputs": []}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "net.ipynb").write_text(json.dumps(book))
    assert distml("net.ipynb") == 0
    assert "x = torch.zeros(2, 3)  x: [2, 3]\n" in capsys.readouterr().out


def test_names_that_are_not_functions(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.write_text(NET + "\n\nclass Box:\n    def __init__(self, n):\n        self.x = torch.zeros(n, 2)\n")
    assert distml("net.py::Box") == 0
    assert "self.x: [n, 2]" in capsys.readouterr().out


def test_packages_of_the_projects_environment_are_followed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = folder / ".venv" / "lib" / "python3.11" / "site-packages"
    (site / "zoo-1.0.dist-info").mkdir(parents=True)
    (site / "zoo-1.0.dist-info" / "METADATA").write_text("Name: zoo\nRequires-Dist: torch\n")
    (site / "zoo.py").write_text("from torch import nn\ndef head(n):\n    return nn.Linear(n, 7)\n")
    Path("uses.py").write_text("import torch\nfrom zoo import head\ny = head(4)(torch.zeros(2, 4))\n")
    assert distml("uses.py") == 0
    assert "y: [2, 7]" in capsys.readouterr().out
    assert distml("uses.py", "--python", "none") == 0
    assert "y: [2, 7]" not in capsys.readouterr().out
    (folder / ".venv").rename(folder / "elsewhere")
    assert distml("uses.py") == 0
    assert "y: [2, 7]" not in capsys.readouterr().out
    assert distml("uses.py", "--python", "elsewhere") == 0
    assert "y: [2, 7]" in capsys.readouterr().out
