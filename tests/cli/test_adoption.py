"""`distml check` with a baseline and with `--since`: each way of running it, each form, each wrong use."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import jsonschema
import pytest

from distml.cli.main import main

from delivery.repositories import git

pytestmark = pytest.mark.requires("git")
SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "sarif-2.1.0-rtm.5.json").read_text("utf-8"))
OLD = "import torch\n\nold = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"
NEW = "import torch\n\nnew = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"
FIXABLE = "import torch\n\nold = torch.zeros(6 / 2)\n"
FORMS = ("text", "concise", "json", "sarif", "github", "markdown")
BASELINE = ["--baseline", "b.json"]
Text = pytest.CaptureFixture[str]


@pytest.fixture
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one finding, which its baseline holds."""
    monkeypatch.setenv("DISTML_CACHE_DIR", str(folder / ".cache"))
    (folder / "pyproject.toml").write_text("[tool.distml]\njobs = 0\n")
    (folder / "old.py").write_text(OLD)
    git(folder, "init", "-q")
    git(folder, "add", "old.py")
    git(folder, "commit", "-q", "-m", "first")
    assert main(["check", *BASELINE, "--write-baseline"]) == 0
    return folder


@pytest.mark.parametrize("asked", [BASELINE, ["--since", "HEAD"], [*BASELINE, "--since", "HEAD"]], ids=" ".join)
@pytest.mark.parametrize("form", FORMS)
def test_forms_and_exit_codes(project: Path, capsys: Text, asked: list[str], form: str) -> None:
    assert main(["check", "--format", form, *asked]) == 0
    assert "old = " not in capsys.readouterr().out
    (project / "new.py").write_text(NEW)
    for _ in range(2):  # the second from the cache
        capsys.readouterr()
        assert main(["check", "--format", form, *asked]) == 1
        out = capsys.readouterr().out
        assert "new.py" in out
        assert "old.py" not in out
    if form == "sarif":
        jsonschema.validate(json.loads(out), SCHEMA)
        (result,) = json.loads(out)["runs"][0]["results"]
        assert result.get("baselineState") == ("new" if "--baseline" in asked else None)


def test_the_summary_counts_what_is_left_out(project: Path, capsys: Text) -> None:
    main(["check", *BASELINE])
    assert "No new problems found" in (out := capsys.readouterr().out)
    assert "1 in the baseline" in out
    main(["check", "--since", "HEAD"])
    assert "1 on lines that did not change" in capsys.readouterr().out


def test_it_shrinks_and_does_not_grow(project: Path, capsys: Text) -> None:
    (project / "new.py").write_text(NEW)
    before = (project / "b.json").read_bytes()
    assert main(["check", *BASELINE, "--update-baseline"]) == 1
    assert (project / "b.json").read_bytes() == before
    (project / "old.py").write_text("import torch\n")
    capsys.readouterr()
    assert main(["check", *BASELINE]) == 1
    assert capsys.readouterr().err == ("distml: b.json: 1 finding no longer found; --update-baseline removes them\n")
    assert main(["check", *BASELINE, "--update-baseline"]) == 1
    assert json.loads((project / "b.json").read_bytes())["findings"] == []


def test_the_configuration_names_one(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Text) -> None:
    (project / "pyproject.toml").write_text('[tool.distml]\nbaseline = "b.json"\njobs = 0\n')
    (project / "sub").mkdir()
    assert main(["check"]) == 0
    monkeypatch.chdir(project / "sub")
    assert main(["check", ".."]) == 0
    (project / "old.py").write_text(NEW)
    assert main(["check", "..", "--write-baseline"]) == 0
    assert main(["check", ".."]) == 0


def test_an_editor_sends_a_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text, code in ((f"# a comment\n{OLD}", 0), (OLD + NEW, 1)):
        for asked in (BASELINE, ["--since", "HEAD"]):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
            assert main(["check", "--stdin-filename", "old.py", *asked]) == code


def test_fixes_are_of_what_is_reported(project: Path) -> None:
    (project / "old.py").write_text(FIXABLE)
    assert main(["check", *BASELINE, "--write-baseline"]) == 0
    assert main(["check", *BASELINE, "--fix"]) == 0
    assert (project / "old.py").read_text() == FIXABLE
    git(project, "commit", "-q", "-a", "-m", "second")
    (project / "new.py").write_text(FIXABLE)
    assert main(["check", "--since", "HEAD", "--fix"]) == 0
    assert (project / "old.py").read_text() == FIXABLE
    assert (project / "new.py").read_text() == FIXABLE.replace("/", "//")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--baseline", "absent.json"],
        ["--baseline", ""],
        ["--baseline", "old.py"],
        ["--baseline", "old.py", "--write-baseline"],
        ["--baseline", "."],
        ["--baseline", "absent.json", "--update-baseline"],
        ["--write-baseline"],
        ["--update-baseline"],
        [*BASELINE, "--write-baseline", "--since", "HEAD"],
        [*BASELINE, "--write-baseline", "--diff"],
        [*BASELINE, "--update-baseline", "--watch"],
        [*BASELINE, "--update-baseline", "--stdin-filename", "old.py"],
        ["--since", "absent"],
        ["--since=--output=x"],
        ["--since", "HEAD; touch x"],
    ],
    ids=" ".join,
)
def test_wrong_use_is_one_line(project: Path, capsys: Text, arguments: list[str]) -> None:
    capsys.readouterr()
    before = {path: path.read_bytes() for path in project.glob("*.*") if path.is_file()}
    assert main(["check", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("distml: error: ")
    assert said.err.count("\n") == 1
    assert {path: path.read_bytes() for path in project.glob("*.*") if path.is_file()} == before


def test_a_link_out_of_the_project_is_not_followed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "b.json"
    outside.write_bytes((project / "b.json").read_bytes())
    (project / "link.json").symlink_to(outside)
    (project / "new.py").write_text(NEW)
    before = outside.read_bytes()
    assert main(["check", "--baseline", "link.json", "--write-baseline"]) == 2
    assert outside.read_bytes() == before


def test_a_commit_that_stands_for_another_is_not_believed(project: Path) -> None:
    """`git replace` makes one commit look like another, so that nothing seems to have changed."""
    (project / "new.py").write_text(NEW)
    git(project, "add", "new.py")
    git(project, "commit", "-q", "-m", "second")
    assert main(["check", "--since", "HEAD~1"]) == 1
    git(project, "replace", "HEAD~1", "HEAD")
    assert main(["check", "--since", "HEAD~1"]) == 1
