"""Nothing checked is never silent: said on standard error and in the reports, and an error where files were asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from distml.cli.main import main

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "sarif-2.1.0-rtm.5.json").read_text("utf-8"))
FOLDERS = ([], ["."], ["empty"], ["empty", "docs"], ["excluded"])
NAMED = (["excluded/a.py"], ["excluded/a.py", "docs"], ["excluded/a.py", "excluded/b.py"])


@pytest.fixture
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without a Python file that the configuration does not exclude."""
    monkeypatch.delenv("DISTML_NOTHING_CHECKED", raising=False)
    (folder / "pyproject.toml").write_text('[tool.distml]\nexclude = ["excluded"]\n')
    for name in ("empty", "docs", "excluded"):
        (folder / name).mkdir()
    (folder / "docs" / "index.md").write_text("x\n")
    for name in ("a.py", "b.py"):
        (folder / "excluded" / name).write_text("import torch\n")
    return folder


@pytest.mark.parametrize("mode", [[], ["--diff"], ["--fix"], ["--exit-zero"], ["--format", "json"]])
@pytest.mark.parametrize("paths", [*FOLDERS, *NAMED], ids=" ".join)
def test_what_it_is(project: Path, capsys: pytest.CaptureFixture[str], paths: list[str], mode: list[str]) -> None:
    level, code = ("error", 2) if paths in NAMED else ("warning", 0)
    assert main(["check", *mode, *paths]) == code
    said = capsys.readouterr()
    assert said.err.startswith(f"distml: {level}: nothing was checked in {', '.join(paths) or '.'}: ")
    assert said.err.count("\n") == 1
    assert "No problems found" not in said.out


@pytest.mark.parametrize("paths", [FOLDERS[0], NAMED[0]], ids=" ".join)
@pytest.mark.parametrize(("level", "code"), [("warning", 0), ("error", 2)])
@pytest.mark.parametrize("by", ["option", "environment", "both"])
def test_it_can_be_decided(
    project: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str], level: str, code: int, by: str
) -> None:
    """The option before the environment."""
    if by != "option":
        monkeypatch.setenv("DISTML_NOTHING_CHECKED", level if by == "environment" else "error")
    assert main(["check", *paths, *([] if by == "environment" else ["--nothing-checked", level])]) == code


def test_a_wrong_environment_is_said(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISTML_NOTHING_CHECKED", "1")
    assert main(["check"]) == 2
    assert "DISTML_NOTHING_CHECKED must be warning or error, not '1'" in capsys.readouterr().err


def test_one_checked_file_is_enough(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "good.py").touch()
    assert main(["check", "excluded/a.py", "empty", "good.py"]) == 0
    assert capsys.readouterr().err == ""


def test_what_cannot_be_read_is_reported(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings about files and folders count as before."""
    (project / "gone.py").symlink_to("nowhere")
    assert main(["check", "gone.py"]) == 1


def test_an_editor_sends_an_excluded_file(project: Path) -> None:
    command = [sys.executable, "-m", "distml.cli", "check", "--stdin-filename", "excluded/a.py"]
    done = subprocess.run(command, input="import torch\n", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr.startswith("distml: warning: nothing was checked in excluded/a.py")


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("text", "Nothing was checked ("),
        ("markdown", "### distml: Nothing was checked"),
        ("github", "::warning title=distml::Nothing was checked"),
        ("sarif", '"Nothing was checked."'),
    ],
)
def test_reports_say_it(project: Path, capsys: pytest.CaptureFixture[str], form: str, said: str) -> None:
    main(["check", "--format", form])
    out = capsys.readouterr().out
    assert said in out
    if form == "sarif":
        jsonschema.validate(json.loads(out), SCHEMA)
    (project / "good.py").touch()
    main(["check", "--format", form])
    assert said not in capsys.readouterr().out


def test_names_that_begin_with_a_dash(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After `--` everything is a name; without it the complaint says what to do."""
    names = ["-dash.py", "--exit-zero", "--config=x.py"]
    for name in names:
        (project / name).write_text("def f(:\n")
    assert main(["check", "--format", "concise", "--", *names]) == 1
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == names
    with pytest.raises(SystemExit):
        main(["check", "-dash.py"])
    assert "write -- before file names that begin with a dash" in capsys.readouterr().err
