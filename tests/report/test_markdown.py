"""The report as Markdown: one row for each finding, whatever names and messages hold."""

from __future__ import annotations

from distml.diagnostics.model import Diagnostic, Edit, Fix, Related, Span
from distml.engine.results import Report
from distml.report.context import Context
from distml.report.markdown import ROWS, render

MATMUL = Diagnostic(
    "SHP101",
    "needs 64, gets 128",
    Span("net.py", 7, 11, 7, 27),
    (Related("64 is set here", Span("net.py", 4, 12, 4, 31)),),
    "make weights (128, 10)",
    Fix("change 64", (Edit(Span("net.py", 4, 24, 4, 26), "128"),)),
)


def rendered(*findings: Diagnostic) -> str:
    return "\n".join(render(Report(findings, files=3, seconds=0.5), Context())) + "\n"


def test_a_table() -> None:
    assert (
        rendered(MATMUL)
        == """\
### distml: Found 1 error, 1 with a fix; 3 files checked (0.50 s)

| Where | Rule | Finding |
|---|---|---|
| `net.py:7:11` | error SHP101 matmul-mismatch | needs 64, gets 128<br>64 is set here (`net.py:4`)\
<br>**help**: make weights (128, 10)<br>**fix**: change 64 |

`distml explain SHP101` says more about a rule.
"""
    )


def test_nothing_found() -> None:
    assert rendered() == "### distml: No problems found; 3 files checked (0.50 s)\n"


def test_names_and_messages_stay_in_their_cells() -> None:
    hostile = "a|b`\n| ${{ x }} | <img src=x> @owner"
    row = rendered(Diagnostic("SHP101", hostile, Span(hostile, 1, 1, 1, 2))).splitlines()[4]
    assert row.replace("\\|", "").count("|") == 4
    assert "<img" not in row.replace("\\<", "")
    assert "@owner" not in row


def test_a_long_report_says_what_it_leaves_out() -> None:
    text = rendered(*[MATMUL] * (ROWS + 5))
    assert text.count("`net.py:7:11`") == ROWS
    assert "5 more findings are not shown." in text
