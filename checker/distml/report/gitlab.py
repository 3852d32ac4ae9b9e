"""The report as GitLab's code quality report, which merge requests show as findings that are new and that are gone.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from distml.diagnostics.model import Diagnostic
from distml.diagnostics.registry import rule
from distml.diagnostics.rule import Severity
from distml.engine.baseline import fingerprints, relative
from distml.engine.results import Report
from distml.report.context import Context

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor"}


def render(report: Report, context: Context) -> Iterator[str]:
    """A JSON array with an object for each finding; paths are from the working folder, that of the repository in a job."""
    base = os.path.realpath(os.curdir)
    known = zip(report.diagnostics, fingerprints(report, base), strict=True)
    yield json.dumps([_issue(finding, fingerprint, base, context) for finding, fingerprint in known], indent=2)


def _issue(finding: Diagnostic, fingerprint: str, base: str, context: Context) -> dict[str, Any]:
    kind = rule(finding.code)
    span, cell = context.in_file(finding.span)
    return {
        "description": f"{kind.code} {kind.name}: {cell}{' '.join(finding.message.split())}",
        "check_name": kind.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[kind.severity],
        "location": {
            "path": relative(span.path, base),
            "lines": {"begin": span.line, "end": max(span.line, span.end_line)},
        },
    }
