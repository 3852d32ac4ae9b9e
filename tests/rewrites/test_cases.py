"""The cases of this folder; `--update-cases` writes what is rewritten and refused anew."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from rewrites.asking import Case, answer, cases, refusals

FILES = sorted((Path(__file__).parent / "cases").glob("*.md"))
CASES = [pytest.param(path, case, id=case.name) for path in FILES for case in cases(path)]

pytestmark = pytest.mark.requires("libcst")


@pytest.mark.parametrize(("path", "case"), CASES)
def test_a_case(path: Path, case: Case, request: pytest.FixtureRequest) -> None:
    rewritten = answer(case, case.program)
    ast.parse(rewritten.source)
    if request.config.getoption("--update-cases"):
        _update(path, case, rewritten.source, refusals(rewritten))
        return
    assert rewritten.source == case.rewritten
    assert refusals(rewritten) == case.refused


@pytest.mark.parametrize(("path", "case"), CASES)
def test_annotating_twice_is_annotating_once(path: Path, case: Case) -> None:
    if " line " not in case.ask:
        once = answer(case, case.program)
        twice = answer(case, once.source)
        assert (twice.source, twice.edits) == (once.source, ())


def _update(path: Path, case: Case, rewritten: str, refused: str) -> None:
    before = f"```py\n{case.program}```\n\n```ask\n{case.ask}```\n"
    old = f"\n```py rewritten\n{case.rewritten}```\n" if case.rewritten else ""
    old += f"\n```refused\n{case.refused}```\n" if case.refused else ""
    new = f"\n```py rewritten\n{rewritten}```\n" + (f"\n```refused\n{refused}```\n" if refused else "")
    text = path.read_text("utf-8")
    assert before + old in text
    path.write_text(text.replace(before + old, before + new, 1), "utf-8")
