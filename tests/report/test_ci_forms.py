"""What CI systems read: JUnit's XML and GitLab's code quality report, by their descriptions and by a reader of JUnit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.cli.main import main
from distml.diagnostics.model import Diagnostic, Fix, Related, Span
from distml.engine.results import Report
from distml.report.context import Context
from distml.report.forms import form

# What all consumers share: https://github.com/testmoapp/junitxml, and the schemas of Jenkins' xUnit plugin and of Ant.
ELEMENTS: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"name", "tests", "failures", "errors", "time"}, set(), {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors"}, {"name", "tests", "failures", "errors"}, {"testcase"}),
    "testcase": ({"name", "classname", "time"}, {"name", "classname"}, {"failure", "error"}),
    "failure": ({"type", "message"}, {"type", "message"}, set()),
    "error": ({"type", "message"}, {"type", "message"}, set()),
}
"""By element: the attributes that are known, those that must be there, and the elements inside."""

# The table of fields in https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(?!\./)."},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}, "end": {"type": "integer"}},
                    },
                },
            },
        },
    },
}

_text = st.text(st.characters(), max_size=12)
_span = st.builds(
    lambda path, line, column: Span(path, line, column, line, column + 1),
    st.sampled_from(["a.py", "b.py", "q\"<&>'\n].py"]),
    st.integers(1, 99),
    st.integers(1, 99),
)
_finding = st.builds(
    Diagnostic,
    st.sampled_from(["SHP101", "SHP503", "SRC101", "SRC201"]),
    _text,
    _span,
    st.lists(st.builds(Related, _text, _span), max_size=2).map(tuple),
    st.none() | _text,
    st.none() | st.builds(Fix, _text, st.just(())),
)
_report = st.builds(
    lambda findings, checked: Report(tuple(findings), checked=tuple(checked), files=3, seconds=0.25),
    st.lists(_finding, max_size=5),
    st.lists(st.sampled_from(["a.py", "b.py", "c.py"]), unique=True),
)


def rendered(name: str, report: Report) -> str:
    return "\n".join(form(name)(report, Context())) + "\n"


def check(element: ET.Element) -> None:
    known, needed, inside = ELEMENTS[element.tag]
    assert needed <= set(element.attrib) <= known
    assert {each.tag for each in element} <= inside
    for each in element:
        check(each)


@settings(max_examples=40)
@given(_report)
def test_junit_is_well_formed_and_its_counts_are_right(report: Report) -> None:
    root = ET.fromstring(rendered("junit", report).encode())
    assert root.tag == "testsuites"
    check(root)
    for element in (root, *root.iter("testsuite")):
        for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert int(element.attrib[name]) == len(list(element.iter(tag)))
    broken = sum(each.code.startswith("SRC") for each in report.diagnostics)
    assert int(root.attrib["errors"]) == broken
    assert int(root.attrib["failures"]) == len(report.diagnostics) - broken
    named = {each.span.path for each in report.diagnostics} | set(report.checked)
    assert len(list(root.iter("testsuite"))) == len(named)


@pytest.mark.requires("junitparser")
def test_a_reader_of_junit_finds_the_findings(tmp_path: Path) -> None:
    import junitparser

    finding = Diagnostic(
        "SHP101", "needs <64> & \x1b[1m\n]]>", Span("a.py", 3, 5, 3, 9), (Related("here", Span("b.py", 1, 1, 1, 2)),)
    )
    text = rendered("junit", Report((finding,), checked=("a.py", "b.py"), files=2))
    found = junitparser.JUnitXml.fromstring(text.encode())
    cases = {(suite.name, case.name): case.result for suite in found for case in suite}
    assert set(cases) == {("a.py", "SHP101 matmul-mismatch (3:5)"), ("b.py", "distml")}
    (failure,) = cases["a.py", "SHP101 matmul-mismatch (3:5)"]
    assert isinstance(failure, junitparser.Failure)
    assert (failure.type, failure.message) == ("error", "needs <64> & \\x1b[1m ]]>")
    assert failure.text.splitlines()[:2] == ["a.py:3:5: needs <64> & \\x1b[1m ]]>", "note: here (b.py:1:1)"]
    assert not cases["b.py", "distml"]


@settings(max_examples=40)
@given(_report)
def test_code_quality_has_the_fields_that_gitlab_reads(report: Report) -> None:
    issues = json.loads(rendered("gitlab", report))
    jsonschema.validate(issues, CODE_QUALITY)
    assert len({each["fingerprint"] for each in issues}) == len(issues) == len(report.diagnostics)


PROGRAM = """import torch

def f():
    a = torch.zeros(3, 4)
    a @ a
    a @ a

def g():
    a = torch.zeros(3, 4)
    a @ a
"""


def issues(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["check", "--no-cache", "--format", "gitlab", "."]) == 1
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_fingerprints_move_with_their_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pkg").mkdir()
    file = folder / "pkg" / "a.py"
    file.write_text(PROGRAM)
    before = issues(capsys)
    assert [each["location"] for each in before][:1] == [{"path": "pkg/a.py", "lines": {"begin": 5, "end": 5}}]
    assert [each["severity"] for each in before] == ["major"] * 3
    file.write_text(f"# moved\n\n{PROGRAM}".replace("a @ a\n    a", "a  @  a\n\n    a"))
    after = issues(capsys)
    assert [each["fingerprint"] for each in after] == [each["fingerprint"] for each in before]
    assert [each["location"]["lines"]["begin"] for each in after] == [7, 9, 13]
    file.write_text(PROGRAM.replace("def g", "def h"))
    assert [each["fingerprint"] for each in issues(capsys)][2] != before[2]["fingerprint"]
