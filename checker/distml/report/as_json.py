"""The report for programs: one JSON array of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from distml.diagnostics.model import Diagnostic, Fix, Span
from distml.diagnostics.registry import rule
from distml.engine.results import Report
from distml.report.context import Context


def render(report: Report, context: Context) -> Iterator[str]:
    """A JSON array with an object for each finding."""
    yield json.dumps([_finding(finding, context) for finding in report.diagnostics], indent=2)


def _finding(finding: Diagnostic, context: Context) -> dict[str, Any]:
    """The object for one finding; columns count from 1, `end_column` is one past the last character."""
    kind = rule(finding.code)
    found: dict[str, Any] = {
        "code": finding.code,
        "name": kind.name,
        "severity": kind.severity.value,
        "message": finding.message,
        **_place(finding.span, context),
        "related": [{"message": each.message, **_start(each.span, context)} for each in finding.related],
    }
    if finding.hint is not None:
        found["hint"] = finding.hint
    if finding.fix is not None:
        found["fix"] = _fix(finding.fix, context)
    return found


def _start(span: Span, context: Context) -> dict[str, Any]:
    cell = context.cell(span)
    if cell is not None:
        return {"path": span.path, "cell": cell.cell, "line": cell.line, "column": cell.column}
    return {"path": span.path, "line": span.line, "column": span.column}


def _place(span: Span, context: Context) -> dict[str, Any]:
    end = context.cell(span) or span
    return {**_start(span, context), "end_line": end.end_line, "end_column": end.end_column}


def _fix(fix: Fix, context: Context) -> dict[str, Any]:
    edits = [{**_place(edit.span, context), "replacement": edit.replacement} for edit in fix.edits]
    return {"description": fix.description, "edits": edits}
