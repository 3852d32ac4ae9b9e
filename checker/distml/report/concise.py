"""The report with one line for each finding: `path:line:column: error[CODE] message`."""

from __future__ import annotations

from collections.abc import Iterator

from distml.diagnostics.printable import safe
from distml.diagnostics.registry import rule
from distml.engine.results import Report
from distml.report.context import Context


def render(report: Report, context: Context) -> Iterator[str]:
    """One line for each finding, and nothing else."""
    for finding in report.diagnostics:
        kind = rule(finding.code)
        where = context.place(finding.span)
        yield f"{where}: {kind.severity.value}[{kind.code}] {safe(' '.join(finding.message.split()))}"
    if context.verbose:
        for lost in report.lost:
            where = context.place(lost.span)
            yield f"{where}: lost track: {safe(' '.join(lost.reason.split()))}"
