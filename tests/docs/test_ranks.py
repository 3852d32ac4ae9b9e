"""docs/ranks.md: its programs are found to be what they are said to be, its command says what is shown, all rules are listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from distml.diagnostics.registry import all_rules
from distml.spmd.library import operations

from cases.conftest import BLOCK, check
from cases.expectations import compare, expectations
from delivery.pages import ROOT, blocks, shell

PAGE = (ROOT / "docs" / "ranks.md").read_text("utf-8")
PROGRAMS = [block["program"] for block in BLOCK.finditer(PAGE)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_said_of_a_program(program: str, tmp_path: Path) -> None:
    assert compare(expectations(program), check({"case.py": program}, tmp_path)) == []


def test_the_command_says_what_is_shown(tmp_path: Path) -> None:
    (program,) = blocks("ranks.md", "py train.py")
    (tmp_path / "train.py").write_text(re.sub(r"  # error.*", "", program), "utf-8")
    (command,) = blocks("ranks.md", "sh")
    (shown,) = re.findall(r"^```\n(train.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    done = shell(command.replace("check", "check --no-cache"), tmp_path)
    assert done.stdout.partition("\n\n")[0] + "\n" == shown


def test_every_rule_is_listed() -> None:
    rows = re.findall(r"^\| \[(SPM\d+)\]\(rules/\1\.md\) \| (\w+) \|", PAGE, re.MULTILINE)
    assert rows == [(each.code, each.severity.value) for each in all_rules() if each.code.startswith("SPM")]


def test_every_library_is_named() -> None:
    libraries = {name.partition(".")[0] for name in operations()}
    words = PAGE.lower().replace("pytorch", "pytorch torch")
    assert {name for name in libraries if name.lower() not in words} == set()
