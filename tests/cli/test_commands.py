"""The command line: arguments, exit codes, streams."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from distml.cli import commands
from distml.cli.main import main
from distml.diagnostics.version import VERSION

from engine.fakes import fake

BOOM = "import torch\nboom\n"


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """The checker of the engine's tests in place of the interpreter, in this process."""
    monkeypatch.setattr("distml.engine.one._interpreter", lambda: fake)
    monkeypatch.delenv("NO_COLOR", raising=False)


def distml(*arguments: str) -> int:
    return main(list(arguments))


def test_exit_codes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text("import torch\n")
    assert distml("check") == 0
    (folder / "b.py").write_text(BOOM)
    assert distml("check") == 1
    assert distml("check", "a.py") == 0
    assert distml("check", "--exit-zero") == 0
    assert distml("check", "--ignore", "SHP1,SHP2") == 0
    assert distml("check", "--ignore", "SHP2", "--ignore", "SHP1") == 0
    assert distml("check", "--select", "SRC") == 0
    (folder / "c.py").write_text("import torch\ncrash\n")
    assert distml("check", "--exit-zero", "--select", "SHP") == 2
    assert "SHP101" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "absent.py"], "no such file or folder: absent.py"),
        (["check", "--select", "XYZ"], "no rule has the code, prefix or name 'XYZ'"),
        (["check", "--config", "absent.toml"], "absent.toml: cannot be read"),
        (["check", "--stdin-filename", "a.py", "b.py"], "--stdin-filename takes no PATH"),
        (["check", "--stdin-filename", "."], "--stdin-filename names a folder: ."),
        (["check", "--stdin-filename", "/"], "--stdin-filename names a folder: /"),
        (["explain", "SHP110"], "no rule 'SHP110'; did you mean SHP"),
        (["explain", "matmul-mismach"], "did you mean matmul-mismatch?"),
        (["explain", "qqqq"], "`distml rules` lists them"),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert distml(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert err.startswith("distml: error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["--nonsense"],
        ["check", "--nonsense"],
        ["check", "--format", "xml"],
        ["check", "--jobs", "-1"],
        ["check", "--jobs", "x"],
        ["check", "--time-limit", "0"],
        ["check", "--time-limit", "nan"],
        ["check", "--verb"],
        ["explain"],
    ],
)
def test_wrong_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        distml(*arguments)
    assert left.value.code == 2
    assert "usage: distml" in capsys.readouterr().err


def test_a_wrong_configuration_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pyproject.toml").write_text("[tool.distml]\nfoo = 1\n")
    assert distml("check") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_command_line_adds_to_the_configuration(folder: Path) -> None:
    (folder / "a.py").write_text(f"{BOOM}# distml: ignore\n")
    (folder / "pyproject.toml").write_text("[tool.distml]\nignore = ['SHP101']\n")
    assert distml("check") == 1
    assert distml("check", "--ignore", "SRC301") == 0


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["check", "--help"], ["--version"]):
        with pytest.raises(SystemExit) as left:
            distml(*arguments)
        assert left.value.code == 0
    out = capsys.readouterr().out
    assert "explain" in out
    assert "--stdin-filename" in out
    assert f"distml {VERSION}\n" in out


def test_json_goes_to_standard_output_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text(BOOM)
    assert distml("check", "--format", "json") == 1
    out, err = capsys.readouterr()
    assert [(found["path"], found["line"]) for found in json.loads(out)] == [("a.py", 2)]
    assert err == ""


def test_standard_input_is_checked_as_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text("import torch\n")
    (folder / "net.py").write_text(BOOM)
    for name in ("a.py", "./new.py"):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"import torch\n# follow net\nboom = 1\n")))
        assert distml("check", "--stdin-filename", name) == 1
    out = capsys.readouterr().out
    assert "a.py:3:1: error[SHP101]" in out
    assert "3 | boom = 1" in out
    assert "\nnew.py:3:1: error[SHP101]" in out
    assert "net.py:2:1" in out


def test_the_cache_is_used_unless_told_otherwise(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text(BOOM)
    said = []
    for arguments in ([], [], ["--no-cache"]):
        assert distml("check", *arguments) == 1
        said.append("1 cached" in capsys.readouterr().out)
    assert said == [False, True, False]


def test_color(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.py").write_text(BOOM)

    def colored(*arguments: str) -> bool:
        distml("check", *arguments)
        return "\x1b" in capsys.readouterr().out

    assert not colored()
    assert colored("--color", "always")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert colored()
    assert not colored("--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colored()


def test_verbose_says_where_tracking_was_lost(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text("import torch\nlost\n")
    assert distml("check", "--verbose") == 0
    assert "a.py:2:1: lost track: unknown call" in capsys.readouterr().out


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("SHP101", "shp101", "matmul-mismatch"):
        assert distml("explain", name) == 0
        assert capsys.readouterr().out.startswith("# SHP101 matmul-mismatch (error)\n\nMatrix product")


def test_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert distml("rules") == 0
    assert "SHP101  error    matmul-mismatch" in capsys.readouterr().out
    assert distml("rules", "--format", "json") == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert set(first) == {"code", "name", "severity", "summary"}


def test_commands_of_other_parts_register_by_entry_point(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = SimpleNamespace(
        SUMMARY="Rewrite.",
        configure=lambda parser: parser.add_argument("--to"),
        run=lambda options: 40 + int(options.to),
    )
    point = SimpleNamespace(name="rewrite", load=lambda: command)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] if group == commands.GROUP else [])
    assert distml("rewrite", "--to", "2") == 42
    with pytest.raises(SystemExit):
        distml("--help")
    assert ["rewrite", "Rewrite."] in [line.split() for line in capsys.readouterr().out.splitlines()]


def test_watching_checks_again_when_a_file_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text("import torch\n")
    changes = iter(
        [lambda: None, lambda: (folder / "a.py").write_text(BOOM), lambda: (folder / "b.py").write_text(BOOM)]
    )

    def sleep(seconds: float) -> None:
        change = next(changes, None)
        if change is None:
            raise KeyboardInterrupt
        change()

    monkeypatch.setattr("distml.cli.watch.time.sleep", sleep)
    assert distml("check", "--watch") == 130
    lines = [line for line in capsys.readouterr().out.splitlines() if "checked" in line]
    assert [line.split(";")[0] for line in lines] == ["No problems found", "Found 1 error", "Found 2 errors"]
