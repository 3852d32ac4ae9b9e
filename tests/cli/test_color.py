"""One option for colors: every command that prints text for people takes `--color`, and no other has anything to color."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from distml.cli import commands
from distml.cli.main import main

from delivery.pages import MODEL, ROOT

COLORED = {
    "check": ["check", "--no-cache", "broken.py"],
    "migrate": ["migrate", "model.py::Classifier"],
    "branches": ["branches", "model.py::Classifier"],
    "shapes": ["shapes", "model.py::Classifier"],
    "horovod": ["horovod", "train.py"],
    "rules": ["rules"],
}
"""What each command prints for people: the arguments."""

PLAIN = {
    "draw": "pictures, for programs that show them",
    "server": "the messages of a protocol",
    "explain": "a page of Markdown",
    "project": "programs, or diagrams",
    "run": "what the program that is run gives",
    "merge-sarif": "JSON",
    "completion": "a script for a shell",
    "init": "patches, and questions",
    "autofix": "what a log of a job keeps",
    "smoke": "a table that is kept as Markdown too",
}
"""Commands without colors: what they print."""

PAINT = re.compile(r"\x1b\[[0-9;]*m")
SECONDS = re.compile(r"\d+\.\d\d s")


@pytest.fixture(autouse=True)
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "broken.py").write_text("import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    (folder / "model.py").write_text(MODEL)
    shutil.copy(ROOT / "examples" / "training" / "torch_loop.py", folder / "train.py")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    main(list(arguments))
    out, err = capsys.readouterr()
    return SECONDS.sub("", out), SECONDS.sub("", err)


def test_every_command_is_colored_or_has_a_reason() -> None:
    every = commands.every()
    assert COLORED.keys() | PLAIN.keys() == every.keys()
    assert not COLORED.keys() & PLAIN.keys()


@pytest.mark.parametrize("name", [*COLORED, *PLAIN])
def test_the_option_is_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    option = "--color {auto,always,never} color text (default: auto, on a terminal unless NO_COLOR is set)"
    assert (option in shown) == (name in COLORED)
    assert ("--color" in shown) == (name in COLORED)


@pytest.mark.parametrize("name", COLORED)
def test_colors_come_where_they_are_wanted_and_change_no_word(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = COLORED[name]
    plain, _ = printed(capsys, *arguments)
    assert plain and "\x1b" not in plain
    painted, _ = printed(capsys, *arguments, "--color", "always")
    assert "\x1b" in painted and PAINT.sub("", painted) == plain
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert printed(capsys, *arguments)[0] == painted
    assert printed(capsys, *arguments, "--color", "never")[0] == plain
    for variable, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patched:
            patched.setenv(variable, value)
            assert printed(capsys, *arguments)[0] == plain


@pytest.mark.parametrize("name", COLORED)
def test_what_is_for_programs_has_no_colors(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(capsys, *COLORED[name], "--format", "json", "--color", "always")
    assert "\x1b" not in out
    json.loads(out)


@pytest.mark.parametrize("name", ["migrate", "horovod"])
def test_a_patch_has_no_colors(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(capsys, *COLORED[name], "--diff", "--color", "always")
    assert out.startswith("---") and "\x1b" not in out


def test_the_reasons_beside_a_patch_are_colored_for_where_they_go(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b" not in printed(capsys, "horovod", "train.py", "--diff")[1]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert "\x1b" in printed(capsys, "horovod", "train.py", "--diff")[1]


@pytest.mark.parametrize("command", ["migrate", "branches"])
def test_nothing_of_the_program_drives_a_terminal(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path with the codes of colors is shown escaped, painted or not."""
    path = folder / "a\x1b[1;31mb.py"
    path.write_text(MODEL)
    out, _ = printed(capsys, command, f"{path.name}::Classifier", "--color", "always")
    assert "\\x1b[1;31mb.py" in out
    assert "\x1b[1;31mb.py" not in out
