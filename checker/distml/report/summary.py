"""The last line of a report."""

from __future__ import annotations

from collections import Counter

from distml.diagnostics.registry import rule
from distml.diagnostics.rule import Severity
from distml.diagnostics.style import Style
from distml.engine.results import Report


def summary(report: Report, style: Style) -> str:
    """`Found 2 errors and 1 warning, 1 with a fix; 3 files checked (0.41 s)`."""
    counts = Counter(rule(finding.code).severity for finding in report.diagnostics)
    errors, warnings = counts[Severity.ERROR], counts[Severity.WARNING]
    parts = [count(errors, "error")] if errors else []
    parts += [count(warnings, "warning")] if warnings else []
    done = f"{count(report.files, 'file')} checked"
    notes = [
        f"{number} {what}"
        for number, what in (
            (report.skipped, "without tensors"),
            (report.cached, "cached"),
            (report.baseline.hidden if report.baseline else 0, "in the baseline"),
            (report.unchanged, "on lines that did not change"),
        )
        if number
    ]
    timing = ", ".join([*notes, f"{report.seconds:.2f} s"])
    if not report.files and not parts:
        return f"{style.yellow('Nothing was checked')} ({timing})"
    if not parts:
        good = "No new problems found" if report.baseline or report.unchanged else "No problems found"
        return f"{style.green(good)}; {done} ({timing})"
    paint = style.red if errors else style.yellow
    fixes = sum(finding.fix is not None for finding in report.diagnostics)
    mended = f", {fixes} with a fix" if fixes else ""
    return f"{paint('Found ' + ' and '.join(parts))}{mended}; {done} ({timing})"


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
