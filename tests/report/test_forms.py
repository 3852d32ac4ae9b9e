"""Each form of a report, on the same findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from distml.diagnostics.model import Diagnostic, Edit, Fix, Related, Span
from distml.diagnostics.registry import all_rules
from distml.engine.results import LostPlace, Report
from distml.report.context import Context
from distml.report.forms import FORMS, form

SCHEMA = Path(__file__).parents[1] / "data" / "sarif-2.1.0-rtm.5.json"
PROGRAM = """\
import torch

class Net:
\tweights = torch.zeros(64, 10)

\tdef forward(self, x):
\t\tnaïve = x @ self.weights
"""
MATMUL = Diagnostic(
    "SHP101",
    "needs 64, gets 128\nof (32, 128) @ (64, 10)",
    Span("net.py", 7, 11, 7, 27),
    (
        Related("64 is set here", Span("net.py", 4, 12, 4, 31)),
        Related("128 comes from here", Span("data.py", 1, 1, 1, 5)),
    ),
    "make weights (128, 10)",
    Fix("change 64", (Edit(Span("net.py", 4, 24, 4, 26), "128"),)),
)
WARNING = Diagnostic("SHP503", "(32, 1) against (32,)", Span("net.py", 7, 3, 8, 1))
REPORT = Report(
    (MATMUL, WARNING), (LostPlace(Span("net.py", 6, 5, 6, 9), "unknown call"),), files=3, skipped=1, seconds=0.5
)


def rendered(name: str, report: Report = REPORT, **context: Any) -> str:
    return "\n".join(form(name)(report, Context(**context))) + "\n"


@pytest.fixture(autouse=True)
def sources(folder: Path) -> Path:
    (folder / "net.py").write_text(PROGRAM, "utf-8")
    (folder / "data.py").write_text("data = 3\n", "utf-8")
    return folder


def test_text() -> None:
    assert (
        rendered("text")
        == """\
net.py:7:11: error[SHP101] matmul-mismatch: needs 64, gets 128
  of (32, 128) @ (64, 10)
  7 |         naïve = x @ self.weights
    |                 ^^^^^^^^^^^^^^^^
  note: 64 is set here
  4 |     weights = torch.zeros(64, 10)
    |               ^^^^^^^^^^^^^^^^^^^
  note: 128 comes from here
   --> data.py:1:1
  1 | data = 3
    | ^^^^
  = help: make weights (128, 10)
  = fix: change 64

net.py:7:3: warning[SHP503] silent-loss-broadcast: (32, 1) against (32,)
  7 |         naïve = x @ self.weights
    |         ^^^^^^^^^^^^^^^^^^^^^^^^ ...

Found 1 error and 1 warning, 1 with a fix; 3 files checked (1 without tensors, 0.50 s)
"""
    )


def test_text_says_where_tracking_was_lost_if_asked() -> None:
    assert "net.py:6:5: lost track: unknown call\n" in rendered("text", verbose=True)
    assert "lost" not in rendered("text")


def test_text_without_findings() -> None:
    assert rendered("text", Report(files=1)) == "No problems found; 1 file checked (0.00 s)\n"


def test_color_only_on_request() -> None:
    assert "\x1b" not in rendered("text")
    assert "\x1b[1;31merror[SHP101]\x1b[0m" in rendered("text", color=True)


def test_concise() -> None:
    assert rendered("concise") == (
        "net.py:7:11: error[SHP101] needs 64, gets 128 of (32, 128) @ (64, 10)\n"
        "net.py:7:3: warning[SHP503] (32, 1) against (32,)\n"
    )


def test_json() -> None:
    first, second = json.loads(rendered("json"))
    assert first == {
        "code": "SHP101",
        "name": "matmul-mismatch",
        "severity": "error",
        "message": "needs 64, gets 128\nof (32, 128) @ (64, 10)",
        "path": "net.py",
        "line": 7,
        "column": 11,
        "end_line": 7,
        "end_column": 27,
        "related": [
            {"message": "64 is set here", "path": "net.py", "line": 4, "column": 12},
            {"message": "128 comes from here", "path": "data.py", "line": 1, "column": 1},
        ],
        "hint": "make weights (128, 10)",
        "fix": {
            "description": "change 64",
            "edits": [
                {"path": "net.py", "line": 4, "column": 24, "end_line": 4, "end_column": 26, "replacement": "128"}
            ],
        },
    }
    assert second["severity"] == "warning"
    assert second["related"] == []
    assert "fix" not in second
    assert json.loads(rendered("json", Report())) == []


def test_sarif_is_valid_and_carries_the_rules() -> None:
    for report in (REPORT, Report()):
        jsonschema.validate(json.loads(rendered("sarif", report)), json.loads(SCHEMA.read_text("utf-8")))
    (run,) = json.loads(rendered("sarif"))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in all_rules()]
    assert all(rule["help"]["text"] and rule["help"]["markdown"].startswith(f"# {rule['id']}") for rule in rules)
    first, second = run["results"]
    assert rules[first["ruleIndex"]]["id"] == first["ruleId"] == "SHP101"
    assert (first["level"], second["level"]) == ("error", "warning")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "net.py"
    assert place["region"] == {"startLine": 7, "startColumn": 11, "endLine": 7, "endColumn": 27}
    assert len(first["relatedLocations"]) == 2
    assert first["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"] == "128"


@pytest.mark.parametrize(
    ("path", "uri"),
    [("a b/ü.py", "a%20b/%C3%BC.py"), ("/x/a.py", "file:///x/a.py"), ("a:b.py", "a%3Ab.py"), ("\udcff.py", "%FF.py")],
)
def test_sarif_paths_are_uris(path: str, uri: str) -> None:
    report = Report((Diagnostic("SHP101", "", Span(path, 1, 1, 1, 2)),))
    (result,) = json.loads(rendered("sarif", report))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_github() -> None:
    first, second = rendered("github").splitlines()
    assert first == (
        "::error file=net.py,line=7,endLine=7,col=11,endColumn=27,title=SHP101 matmul-mismatch::"
        "needs 64, gets 128%0Aof (32, 128) @ (64, 10)%0A64 is set here (net.py:4)%0A"
        "128 comes from here (data.py:1)%0Ahelp: make weights (128, 10)%0Afix: change 64"
    )
    assert second.startswith("::warning file=net.py")


def test_github_commands_cannot_be_injected() -> None:
    path, message = "a,b:c%\n::error::x.py", "100%\r\n::set-output name=x::y"
    report = Report((Diagnostic("SHP101", message, Span(path, 1, 1, 1, 2)),), files=1)
    (line,) = rendered("github", report).splitlines()
    assert "file=a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3Ax.py,line=1" in line
    assert line.endswith("::100%25%0D%0A::set-output name=x::y")


HOSTILE = "\x1b[31m\x07\x08\r\x9b\u202e\u2066\udcff\x00"


@pytest.mark.parametrize("name", ["text", "concise"])
def test_control_characters_never_reach_a_terminal(name: str, sources: Path) -> None:
    (sources / "evil.py").write_bytes(b"x = '\x1b[31m\xe2\x80\xae\x07' @ y\n")
    span = Span("evil.py", 1, 5, 1, 12)
    evil = Diagnostic(
        "SHP101",
        HOSTILE,
        Span(f"{HOSTILE}\n.py", 1, 1, 1, 2),
        (Related(HOSTILE, span), Related(HOSTILE, Span(HOSTILE, 1, 1, 1, 2))),
        hint=HOSTILE,
        fix=Fix(HOSTILE, ()),
    )
    report = Report((evil, Diagnostic("SHP101", "x", span)), (LostPlace(Span(HOSTILE, 1, 1, 1, 2), HOSTILE),), files=1)
    text = rendered(name, report, verbose=True)
    assert not [char for char in text if char != "\n" and not char.isprintable()]
    assert "\\x1b[31m" in text


def test_carets_under_wide_and_escaped_characters(sources: Path) -> None:
    (sources / "wide.py").write_text("s = '日本\x07e\u0301', x @ y\n", "utf-8")
    lines = rendered("text", Report((Diagnostic("SHP101", "", Span("wide.py", 1, 14, 1, 19)),))).splitlines()
    assert lines[1] == "  1 | s = '日本\\x07e\u0301', x @ y"
    assert lines[2] == "    |" + " " * 18 + "^^^^^"


def test_a_very_long_line_is_cut_around_the_carets(sources: Path) -> None:
    (sources / "long.py").write_text("x" * 5000 + " @ y" + "z" * 5000, "utf-8")
    lines = rendered("text", Report((Diagnostic("SHP101", "", Span("long.py", 1, 5002, 1, 5003)),))).splitlines()
    assert all(len(line) < 200 for line in lines)
    assert lines[1][lines[2].index("^")] == "@"


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(
    "span",
    [
        Span("absent.py", 1, 1, 1, 2),
        Span("net.py", 99, 1, 99, 5),
        Span("net.py", 1, 500, 1, 600),
        Span("net.py", 2, 1, 2, 1),
    ],
)
def test_places_that_are_not_there_do_no_harm(name: str, span: Span) -> None:
    assert "SHP101" in rendered(name, Report((Diagnostic("SHP101", "", span),)))


def test_a_finding_about_a_whole_file_shows_no_line() -> None:
    report = Report((Diagnostic("SRC201", "failed", Span("net.py", 1, 1, 1, 2)),))
    assert "import torch" not in rendered("text", report)
