"""The refused programs of tests/cases/choreo: how many, and that no part of the tool stumbles over any of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from distml.choreo.project import project_source

from cases.expectations import expectations

FOLDER = Path(__file__).parents[1] / "cases" / "choreo"
CHOICE = {"knowledge-of-choice", "labels", "loops"}
PROGRAMS = [
    pytest.param(program, id=f"{page.stem}-{number}")
    for page in sorted(FOLDER.glob("*.md"))
    for number, program in enumerate(
        re.findall(r"^```py\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL), 1
    )
]
REFUSED = [str(each.id) for each in PROGRAMS if expectations(str(each.values[0]))]


def test_there_are_enough() -> None:
    assert len(REFUSED) >= 60
    assert sum(name.rpartition("-")[0] in CHOICE for name in REFUSED) >= 25
    assert len(PROGRAMS) - len(REFUSED) >= 20


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_is_projected_unless_it_is_refused(program: str) -> None:
    found = project_source(program, "case.py")
    assert bool(found.findings) == bool(expectations(program))
    assert bool(found.files) != bool(found.findings)
    for role, text in found.files.items():
        compile(text, role, "exec")


@pytest.mark.parametrize("program", PROGRAMS)
def test_inferring_selects_keeps_what_is_right(program: str) -> None:
    inferred = project_source(program, "case.py", infer_selects=True)
    if not expectations(program):
        assert inferred.source == program
    for role, text in inferred.files.items():
        compile(text, role, "exec")
