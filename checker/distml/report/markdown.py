"""The report as GitHub's Markdown, for the summary of a job and for comments on a change: a table of findings."""

from __future__ import annotations

from collections.abc import Iterator

from distml.diagnostics.model import Diagnostic
from distml.diagnostics.registry import rule
from distml.diagnostics.style import Style
from distml.engine.results import Report
from distml.report.context import Context
from distml.report.markup import code, prose
from distml.report.summary import summary

ROWS = 200  # more make a page that nobody reads, and that GitHub refuses at 1 MiB


def render(report: Report, context: Context) -> Iterator[str]:
    """A heading, a row for each of the first `ROWS` findings, and where to read more."""
    yield f"### distml: {prose(summary(report, Style(False)))}"
    shown = report.diagnostics[:ROWS]
    if not shown:
        return
    yield from ("", "| Where | Rule | Finding |", "|---|---|---|")
    yield from (_row(finding, context) for finding in shown)
    yield ""
    if len(report.diagnostics) > ROWS:
        yield f"{len(report.diagnostics) - ROWS} more findings are not shown."
    yield f"`distml explain {shown[0].code}` says more about a rule."


def _row(finding: Diagnostic, context: Context) -> str:
    kind = rule(finding.code)
    notes = [f"{prose(each.message)} ({code(context.start(each.span))})" for each in finding.related]
    if finding.hint:
        notes.append(f"**help**: {prose(finding.hint)}")
    if finding.fix:
        notes.append(f"**fix**: {prose(finding.fix.description)}")
    said = "<br>".join([prose(finding.message), *notes])
    where = code(f"{finding.span.path}:{context.spot(finding.span)}")
    return f"| {where} | {kind.severity.value} {kind.code} {kind.name} | {said} |"
