"""`distml project`: any name that Python takes for a class is the name of a role, and nothing is accepted in silence."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from distml.cli.main import main

PAIR = """\
from distml.choreo import At, Channel, Role


class First(Role): ...


class Second(Role): ...


def send_on(ch: Channel[int, First, Second], n: At[int, First]) -> At[int, Second]:
    return ch.com(n)


def send(ch: Channel[int, First, Second], n: At[int, First]) -> At[int, Second]:
    return send_on(ch, n)
"""
NAMES = ["A_B", "_A", "A_", "with_selects", "on_A", "Größe", "A1_2"]


@pytest.mark.parametrize("first", NAMES)
def test_the_name_of_a_role_only_changes_names(folder: Path, first: str) -> None:
    (folder / "plain.py").write_text(PAIR)
    (folder / "named.py").write_text(PAIR.replace("First", first))
    assert main(["project", "plain.py", "-o", "plain"]) == main(["project", "named.py", "-o", "named"]) == 0
    for role, named in (("first", first.lower()), ("second", "second")):
        expected = (folder / "plain" / f"plain_{role}.py").read_text().replace("First", first)
        assert programs(folder / "named" / f"named_{named}.py") == without_fingerprint(expected)


def programs(path: Path) -> str:
    return without_fingerprint(path.read_text())


def without_fingerprint(text: str) -> str:
    tree = ast.parse(text)
    tree.body = [each for each in tree.body if "__protocol__" not in ast.unparse(each)]
    return ast.unparse(tree)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.py"], "no choreography in none.py"),
        (["two.py", "-o", ""], "--output"),
        (["two.py", "--role", ""], "role"),
    ],
)
def test_what_projects_nothing_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (folder / "none.py").write_text("x = 1\n")
    (folder / "two.py").write_text(PAIR)
    assert main(["project", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert {each.name for each in folder.iterdir()} <= {"none.py", "two.py", "pyproject.toml"}


def test_what_is_no_file_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    command = [sys.executable, "-m", "distml.cli", "project", "pipe.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "not a regular file" in done.stderr


KINDS = {
    "programs": ([], "p_first.py"),
    "a completed choreography": (["--infer-selects"], "p_with_selects.py"),
    "diagrams": (["--diagram"], "p_send.mmd"),
}
OTHER = '"""The program of Third, projected from a choreography by distml."""\n'
THERE = ["", "print('mine')\n", "\n", "\xe4\xff\n", OTHER, "%% other\n"]


@pytest.mark.parametrize("there", THERE)
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_not_made_here_is_not_replaced(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: str, there: str
) -> None:
    """Nor is anything else written then."""
    options, name = KINDS[kind]
    (folder / "p.py").write_text(PAIR)
    (folder / "out").mkdir()
    (folder / "out" / name).write_bytes(there.encode("latin-1"))
    assert main(["project", "p.py", "-o", "out", *options]) == 2
    assert name in capsys.readouterr().err
    assert {each.name: each.read_bytes() for each in (folder / "out").iterdir()} == {name: there.encode("latin-1")}


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_made_here_is_replaced(folder: Path, kind: str) -> None:
    options, name = KINDS[kind]
    (folder / "p.py").write_text(PAIR)
    assert main(["project", "p.py", "-o", "out", *options]) == 0
    first = (folder / "out" / name).read_text()
    (folder / "p.py").write_text(PAIR.replace("return send_on(ch, n)", "return ch.com(n + 1)"))
    assert main(["project", "p.py", "-o", "out", *options]) == 0
    assert (folder / "out" / name).read_text() != first


@pytest.mark.parametrize("options", [[], ["--diagram"]])
def test_two_files_whose_programs_have_one_name_do_not_share_it(folder: Path, options: list[str]) -> None:
    (folder / "a_b.py").write_text(PAIR.replace("First", "C").replace("def send(", "def c("))
    (folder / "a.py").write_text(PAIR.replace("First", "B_C").replace("def send(", "def b_c("))
    assert main(["project", "a_b.py", "-o", "out", *options]) == 0
    before = {each.name: each.read_bytes() for each in (folder / "out").iterdir()}
    assert main(["project", "a.py", "-o", "out", *options]) == 2
    assert {each.name: each.read_bytes() for each in (folder / "out").iterdir()} == before
