"""`distml check --add-ignore`: every finding that a comment can hide is hidden, and nothing else changes. `--statistics`."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.cli.main import main

PARTS = [
    "a @ a",
    "b = a @ a  # why",
    "b = a @ a  # type: ignore  # noqa",
    "b = a @ a  # distml: ignore[SHP102]",
    "b = a @ a  # distml: ignore[SHP101]",
    "torch.relu(\n    a @ a,\n)",
    "print(\n    '''a\n    b''', a @ a, '''c\n    d''')",
    "print('''a\nb''' + str(a @ a) + '''c\nd''')",
    "b = 1 + \\\n    (a @ a).sum() + \\\n    2",
    "b = (1 +  # one\n    a @ a +\n    2)",
    "if a.ndim == 2:\n    a @ a; a + torch.zeros(7)",
    "def f(x):\n    '''Text.'''\n    return a @ a",
    "class C:\n    b = a @ a\n    def g(self):\n        return a + torch.zeros(9)",
    "s = f'''{a\n@ a}\nx'''",
    "a @ a   ",
    "for _ in range(2): a @ \\\n  a",
    "b = 'é' , a @ a",
]


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    main(["check", "--no-cache", "--jobs", "0", "--format", "json", *arguments])
    return [each["code"] for each in json.loads(capsys.readouterr().out)]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff", "# -*- coding: latin-1 -*-\n"]),
    st.booleans(),
)
def test_what_is_suppressed_is_gone_and_twice_is_once(
    folder: Path, capsys: pytest.CaptureFixture[str], parts: list[str], end: str, head: str, last: bool
) -> None:
    text = head + "\n".join(["import torch", "a = torch.zeros(3, 4)", *parts]) + "\n" * last
    encoding = "latin-1" if "latin" in head else "utf-8"
    file = folder / "a.py"
    file.write_bytes(text.replace("\n", end).encode(encoding))
    left = {"SRC301"} & set(checked(capsys, "a.py"))
    assert set(checked(capsys, "--add-ignore", "a.py")) <= left
    after = file.read_bytes()
    assert set(checked(capsys, "a.py")) <= left
    checked(capsys, "--add-ignore", "a.py")
    assert file.read_bytes() == after
    shown = after.decode(encoding).replace(end, "\n")
    assert ast.dump(ast.parse(shown.removeprefix("\ufeff"))) == ast.dump(ast.parse(text.removeprefix("\ufeff")))
    plain = re.sub(r"  # distml: ignore\[[A-Z0-9, ]*\]", "", shown)
    assert plain == re.sub(r"  # distml: ignore\[[A-Z0-9, ]*\]", "", text)


def test_codes_are_added_to_a_comment_that_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import torch\na = torch.zeros(3, 4)\na @ a; a + torch.zeros(7)  # distml: ignore[SHP101]: known\n"
    (folder / "a.py").write_text(text)
    assert main(["check", "--add-ignore", "a.py"]) == 0
    assert "a.py:3: suppressed [SHP102]: suppress SHP102" in capsys.readouterr().out
    assert (folder / "a.py").read_text() == text.replace("[SHP101]", "[SHP101, SHP102]")


def test_what_no_comment_hides_is_left_and_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text("import torch\nx = (\n")
    (folder / "n.ipynb").write_text("{")
    assert sorted(checked(capsys, "--add-ignore", ".")) == ["SRC101", "SRC108"]
    assert (folder / "a.py").read_text() == "import torch\nx = (\n"


def test_cells_of_notebooks_get_comments(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = ["%cd ..\n", "import torch\n", "a = torch.zeros(3, 4)\n", "%time b = a @ a"]
    cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (folder / "n.ipynb").write_text(json.dumps(book, indent=1))
    assert checked(capsys, "--add-ignore", ".") == []
    after = json.loads((folder / "n.ipynb").read_text())["cells"][0]["source"]
    assert after == [*source[:3], "%time b = a @ a  # distml: ignore[SHP101]"]
    assert checked(capsys, ".") == []


def test_only_what_is_reported_is_suppressed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text("import torch\na = torch.zeros(3, 4)\na @ a\na + torch.zeros(7)\n")
    assert checked(capsys, "--add-ignore", "--select", "SHP102", "a.py") == []
    assert checked(capsys, "a.py") == ["SHP101"]


@pytest.mark.parametrize("other", ["--fix", "--diff", "--watch", "--write-baseline", "--stdin-filename=a.py"])
def test_it_goes_with_no_other_way_of_writing(folder: Path, other: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["check", "--baseline", "b.json", "--add-ignore", other])
    except SystemExit as stop:
        code = int(str(stop.code))
    assert code == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("distml")


def test_statistics_count_each_finding_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = "import torch\na = torch.zeros(3, 4)\na @ a\na @ a\na + torch.zeros(7)\nb = 1  # distml: ignore[SHP101]\n"
    (folder / "a.py").write_text(program)
    assert main(["check", "--statistics", "."]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "2  error[SHP101] matmul-mismatch",
        "1  error[SHP102] broadcast-mismatch",
        "1  warning[SRC301] unused-suppression, 1 with a fix",
        "",
    ]
    assert lines[4] == "1 function: 1 tensor: 1 exact (100 %)"
    assert lines[-1].startswith("Found 3 errors and 1 warning")
    assert main(["check", "--statistics", "--format", "json", "."]) == 1
    counted = json.loads(capsys.readouterr().out)
    assert counted[2] == {
        "code": "SRC301", "name": "unused-suppression", "severity": "warning", "count": 1, "fixable": 1,
    }  # fmt: skip
    assert sum(each["count"] for each in counted) == 4
    (folder / "a.py").write_text("")
    assert main(["check", "--statistics", "--format", "json", "."]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["check", "--statistics", "--format", "sarif", "."]) == 2
