"""The report as workflow commands of GitHub Actions, which become annotations on the lines of a change.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Iterator

from distml.diagnostics.printable import safe
from distml.diagnostics.registry import rule
from distml.engine.results import Report
from distml.report.context import Context


def render(report: Report, context: Context) -> Iterator[str]:
    """One command for each finding, and one where nothing was checked; whatever a message holds, it stays one command."""
    if not report.files:
        yield "::warning title=distml::Nothing was checked"
    for finding in report.diagnostics:
        kind = rule(finding.code)
        span, cell = context.in_file(finding.span)
        columns = {} if cell else {"col": span.column, "endColumn": span.end_column}  # of JSON they say nothing
        properties = {
            "file": span.path,
            "line": span.line,
            "endLine": span.end_line,
            **columns,
            "title": f"{kind.code} {kind.name}",
        }
        listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
        notes = [f"{each.message} ({context.start(each.span)})" for each in finding.related]
        if finding.hint:
            notes.append(f"help: {finding.hint}")
        if finding.fix:
            notes.append(f"fix: {finding.fix.description}")
        yield f"::{kind.severity.value} {listed}::{_data(chr(10).join([cell + finding.message, *notes]))}"


def _data(text: str) -> str:
    return safe(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
