"""Every rule documents itself; its page is current; its example produces the finding, its remedy does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from distml.diagnostics.registry import UnknownRuleError, all_rules, find, rule
from distml.diagnostics.rule import SECTIONS, Rule
from distml.engine.config import Config
from distml.engine.run import run
from distml.report.pages import index, page

DOCS = Path(__file__).parents[2] / "docs" / "rules"
RULES = all_rules()
WITHOUT_EXAMPLE = {"SRC102", "SRC103", "SRC104", "SRC105", "SRC106", "SRC107", "SRC201"}
EXAMPLES = [each for each in RULES if each.code not in WITHOUT_EXAMPLE]


def by_code(each: Rule) -> str:
    return each.code


def test_codes_and_names_are_unique() -> None:
    assert len({each.code for each in RULES}) == len(RULES)
    assert len({each.name for each in RULES}) == len(RULES)


def test_rules_are_found_by_code_and_by_name() -> None:
    assert rule("SHP101").name == "matmul-mismatch"
    assert find("shp101") is find("matmul-mismatch") is rule("SHP101")


@pytest.mark.parametrize("unknown", ["SHP199", "XYZ101", "shp101", "SHP1010", ""])
def test_unknown_codes_have_no_rule(unknown: str) -> None:
    with pytest.raises(UnknownRuleError):
        rule(unknown)


@pytest.mark.parametrize("each", RULES, ids=by_code)
def test_a_rule_is_documented(each: Rule) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", each.name)
    assert each.summary.endswith(".")
    sections = SECTIONS[:2] if each.code in WITHOUT_EXAMPLE else SECTIONS
    assert [title for title in sections if not each.section(title)] == []
    if each.code not in WITHOUT_EXAMPLE:
        assert each.program("Example")
        assert each.program("Instead")


@pytest.mark.parametrize("each", RULES, ids=by_code)
def test_the_page_is_current(each: Rule, compare: Callable[[Path, str], None]) -> None:
    compare(DOCS / f"{each.code}.md", page(each))


def test_the_index_is_current(compare: Callable[[Path, str], None]) -> None:
    compare(DOCS / "index.md", index(RULES))
    assert {path.stem for path in DOCS.glob("*.md")} == {"index", *(each.code for each in RULES)}


@pytest.mark.requires("distml.interp.check")
@pytest.mark.parametrize("each", EXAMPLES, ids=by_code)
def test_the_example_produces_the_finding(each: Rule, folder: Path) -> None:
    (folder / "example.py").write_text(each.program("Example"))
    report = run(["example.py"], Config(jobs=0))
    assert [finding.code for finding in report.diagnostics] == [each.code]


@pytest.mark.requires("distml.interp.check")
@pytest.mark.parametrize("each", EXAMPLES, ids=by_code)
def test_the_remedy_produces_none(each: Rule, folder: Path) -> None:
    (folder / "remedy.py").write_text(each.program("Instead"))
    assert run(["remedy.py"], Config(jobs=0)).diagnostics == ()
