"""Every rule documents itself; its page is current; its example produces the finding, its remedy does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from distml.diagnostics.registry import UnknownRuleError, all_rules, find, rule
from distml.diagnostics.rule import SECTIONS, Rule
from distml.engine.config import Config
from distml.engine.fixes import mended
from distml.engine.run import run
from distml.report.pages import index, page
from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite
from distml.source.project import Project
from distml.training.program import Program

DOCS = Path(__file__).parents[2] / "docs" / "rules"
RULES = all_rules()
WITHOUT_EXAMPLE = {"SRC102", "SRC103", "SRC104", "SRC105", "SRC106", "SRC107", "SRC108", "SRC201"}
FIXED = {"CHO206", "CHO303", "SHP603", "SRC301", "SRC302"}  # their findings carry a fix where there is one answer
WITHOUT_PROGRAM = {"HVD201", "HVD202", "HVD207", "HVD212", "HVD213"}  # what to do instead is no program
REWRITES = [each for each in RULES if each.code.startswith("HVD") and each.code not in {"HVD207", "HVD212"}]
EXAMPLES = [each for each in RULES if each.code not in WITHOUT_EXAMPLE and not each.code.startswith("HVD")]


def by_code(each: Rule) -> str:
    return each.code


def test_codes_and_names_are_unique() -> None:
    assert len({each.code for each in RULES}) == len(RULES)
    assert len({each.name for each in RULES}) == len(RULES)


def test_rules_are_found_by_code_and_by_name() -> None:
    assert rule("SHP101").name == "matmul-mismatch"
    assert find("shp101") is find("matmul-mismatch") is rule("SHP101")
    assert [rule(each.code) for each in RULES] == list(RULES)


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
    if each.code not in WITHOUT_EXAMPLE | WITHOUT_PROGRAM:
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


@pytest.mark.requires("distml.interp.check")
@pytest.mark.parametrize("each", EXAMPLES, ids=by_code)
def test_the_fix_of_the_example_is_the_remedy(each: Rule, folder: Path) -> None:
    (folder / "example.py").write_text(each.program("Example"))
    report = run(["example.py"], Config(jobs=0))
    made = mended(report.diagnostics, {"example.py": each.program("Example")})
    assert made.get("example.py") == (each.program("Instead") if each.code in FIXED else None)


def test_the_page_on_usage_names_what_is_fixed() -> None:
    rows = re.findall(r"^\| ([A-Z]{3}\d{3}) \|", (DOCS.parent / "usage.md").read_text("utf-8"), re.MULTILINE)
    assert set(rows) == FIXED


def remarks(program: str) -> set[str]:
    """The codes that `distml horovod` has for a program: of its loops if it can be rewritten, of warnings and refusals."""
    project = Project("/nowhere", overlay={"/nowhere/example.py": program.encode()})
    source = project.open("example.py")
    found = rewrite(Program([source], project), Options(), [source.location], {source.location: program})
    _ = found.files
    plan = found.plan
    loops = set() if plan.refusals else {loop.code for loop in plan.loops}
    return loops | {remark.code for remark in (*plan.refusals, *plan.warnings)}


@pytest.mark.parametrize("each", REWRITES, ids=by_code)
def test_the_example_of_a_rewrite_is_remarked_on(each: Rule) -> None:
    assert each.code in remarks(each.program("Example"))


@pytest.mark.parametrize("each", [each for each in REWRITES if each.code not in WITHOUT_PROGRAM], ids=by_code)
def test_the_remedy_of_a_rewrite_is_not(each: Rule) -> None:
    assert each.code not in remarks(each.program("Instead"))
