"""`distml check` on notebooks: every form of report names the cell, fixes and suppressions work in cells."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from distml.cli.main import main

SETUP = ["%matplotlib inline\n", "import torch\n", "x = torch.zeros(3, 4)"]
WRONG = ["# now\n", "%time y = x @ x"]


def code(source: list[str] | str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def text(*sources: list[str] | str, **more: Any) -> str:
    title = {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}
    return json.dumps(
        {"cells": [title, *map(code, sources)], "metadata": {}, "nbformat": 4, "nbformat_minor": 4, **more}, indent=1
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 1) -> str:
    assert main(["check", "--no-cache", *arguments]) == code
    return capsys.readouterr().out


@pytest.fixture
def wrong(folder: Path) -> Path:
    path = folder / "deep" / "a.ipynb"
    path.parent.mkdir()
    path.write_text(text(SETUP, "%%bash\nrm -rf /", WRONG))
    return path


def file_line(path: Path, part: str) -> int:
    return next(number for number, line in enumerate(path.read_text().split("\n"), 1) if part in line)


def test_every_form_names_the_cell_and_the_line_in_it(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = file_line(wrong, "y = x @ x")
    assert said(capsys, "--format", "concise", ".").startswith("deep/a.ipynb:cell 4:2:11: error[SHP101] ")
    shown = said(capsys, ".").splitlines()
    assert shown[0].startswith("deep/a.ipynb:cell 4:2:11: error[SHP101]")
    assert shown[1:3] == ["  2 | %time y = x @ x", "    |           ^^^^^"]
    assert any("--> deep/a.ipynb:cell 2:3:" in each for each in shown)
    assert "  3 | x = torch.zeros(3, 4)" in shown
    (finding,) = json.loads(said(capsys, "--format", "json", "."))
    assert {name: finding[name] for name in ("path", "cell", "line", "column", "end_line", "end_column")} == {
        "path": "deep/a.ipynb", "cell": 4, "line": 2, "column": 11, "end_line": 2, "end_column": 16,
    }  # fmt: skip
    assert {(each["cell"], each["line"]) for each in finding["related"]} == {(2, 3)}
    annotation = said(capsys, "--format", "github", ".")
    assert annotation.startswith(f"::error file=deep/a.ipynb,line={line},endLine={line},title=SHP101")
    assert "::cell 4, line 2: x @ x" in annotation
    (result,) = json.loads(said(capsys, "--format", "sarif", "."))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": line, "endLine": line}
    assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "cell 4, line 2"
    assert result["message"]["text"].startswith("cell 4, line 2: ")
    assert "| `deep/a.ipynb:cell 4:2:11` |" in said(capsys, "--format", "markdown", ".")


def test_the_cache_and_standard_input_give_the_same(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = said(capsys, "--format", "json", ".")
    for _ in range(2):
        assert main(["check", "--format", "json", "."]) == 1
        assert capsys.readouterr().out == first


def test_notebooks_are_left_out_on_request_and_by_language(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pyproject.toml").write_text('[tool.distml]\nexclude = ["*.ipynb"]\n')
    said(capsys, ".", code=0)
    Path("pyproject.toml").unlink()
    wrong.write_text(text(SETUP, WRONG, metadata={"kernelspec": {"language": "R"}}))
    assert "1 without tensors" in said(capsys, ".", code=0)


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"cells": [{"cell_type": "code"}]}'])
def test_a_broken_notebook_costs_itself_alone(wrong: Path, broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.ipynb").write_text(broken)
    assert sorted(each["code"] for each in json.loads(said(capsys, "--format", "json", "."))) == ["SHP101", "SRC108"]


def test_a_cell_that_is_no_python_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.ipynb").write_text(text("!ls", "x = 1\n\nprint 'x'", "'''open", "closed'''"))
    assert said(capsys, "--format", "concise", ".").startswith("a.ipynb:cell 3:3:1: error[SRC101]")
    Path("a.ipynb").write_text(text("x = 1", "y = '''open", "closed'''"))
    assert said(capsys, "--format", "concise", ".").startswith("a.ipynb:cell 3:1:5: error[SRC101]")


def test_comments_in_cells_suppress_and_fixes_are_written_into_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = ["%cd ..\n", "y = x @ x  # distml: ignore[SHP101]\n", "z = 1  # distml: ignore[SHP102]\n"]
    before = text(SETUP, hidden, "%%bash\nls é")
    Path("a.ipynb").write_text(before)
    (finding,) = json.loads(said(capsys, "--format", "json", "."))
    assert (finding["code"], finding["cell"], finding["line"]) == ("SRC301", 3, 3)
    assert finding["fix"]["edits"][0]["cell"] == 3
    patch = said(capsys, "--diff", ".")
    assert [line for line in patch.splitlines() if line.startswith(("-", "+"))][2:] == [
        '-    "z = 1  # distml: ignore[SHP102]\\n"', '+    "z = 1\\n"',
    ]  # fmt: skip
    assert "a.ipynb:cell 3:3: fixed [SRC301]" in said(capsys, "--fix", ".", code=0)
    assert Path("a.ipynb").read_text() == before.replace("z = 1  # distml: ignore[SHP102]", "z = 1")
    Path("a.ipynb").write_text(text(SETUP, WRONG, "# distml: ignore-file"))
    said(capsys, ".", code=0)


def test_a_baseline_holds_when_cells_move(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "--baseline", "b.json", "--write-baseline", ".", code=0)
    assert json.loads(Path("b.json").read_text())["findings"][0]["text"] == "%time y = x @ x"
    wrong.write_text(text(SETUP, "!echo it's new", WRONG))
    said(capsys, "--baseline", "b.json", ".", code=0)


def test_changed_lines_are_those_of_the_file(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], check=True, capture_output=True
        )

    git("init", "-q")
    git("add", "deep")
    git("commit", "-q", "-m", "a")
    wrong.write_text(wrong.read_text().replace("# Title", "# Heading"))
    said(capsys, "--since", "HEAD", ".", code=0)
    wrong.write_text(wrong.read_text().replace("y = x @ x", "z = x @ x"))
    said(capsys, "--since", "HEAD", ".")


def test_the_limit_on_size_is_for_the_code(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pyproject.toml").write_text("[tool.distml]\nmax-file-size = 200\n")
    assert len(wrong.read_text()) > 500
    assert "SHP101" in said(capsys, ".")
    wrong.write_text(text(SETUP, WRONG, "x" * 200))
    assert "SRC103" in said(capsys, ".")
