"""The report with one line for each finding: `path:line:column: error[CODE] message`."""

from __future__ import annotations

from collections.abc import Iterator

from distml.diagnostics.printable import safe
from distml.diagnostics.registry import rule
from distml.engine.results import Report
from distml.report.context import Context, place


def render(report: Report, context: Context) -> Iterator[str]:
    """One line for each finding, and nothing else."""
    for finding in report.diagnostics:
        kind = rule(finding.code)
        where = place(finding.span.path, finding.span.line, finding.span.column)
        yield f"{where}: {kind.severity.value}[{kind.code}] {safe(' '.join(finding.message.split()))}"
    if context.verbose:
        for lost in report.lost:
            where = place(lost.span.path, lost.span.line, lost.span.column)
            yield f"{where}: lost track: {safe(' '.join(lost.reason.split()))}"
