"""How many findings there are of each rule, for people and as JSON; for people, how much is known of the functions too."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from distml.diagnostics.registry import rule
from distml.diagnostics.style import Style
from distml.engine.results import Report
from distml.report.context import Context
from distml.report.summary import summary
from distml.report.tracking import project


class Count(NamedTuple):
    """The findings of one rule: how many, and how many of them carry a fix."""

    code: str
    name: str
    severity: str
    findings: int
    fixable: int


def counts(report: Report) -> list[Count]:
    """The most frequent first."""
    found = Counter(finding.code for finding in report.diagnostics)
    fixes = Counter(finding.code for finding in report.diagnostics if finding.fix is not None)
    rules = map(rule, found)
    made = [Count(kind.code, kind.name, kind.severity.value, found[kind.code], fixes[kind.code]) for kind in rules]
    return sorted(made, key=lambda each: (-each.findings, each.code))


def render(report: Report, context: Context) -> Iterator[str]:
    """A line for each rule, how much is known, and the summary line."""
    style, listed = Style(context.color), counts(report)
    width = max((len(str(each.findings)) for each in listed), default=0)
    for each in listed:
        fixable = f", {each.fixable} with a fix" if each.fixable else ""
        yield f"{str(each.findings).rjust(width)}  {each.severity}[{each.code}] {each.name}{fixable}"
    if listed:
        yield ""
    told = list(project(report.tracked, context))
    yield from (*told, "") if told else ()
    yield summary(report, style)


def render_json(report: Report, _context: Context) -> Iterator[str]:
    """A JSON array with an object for each rule."""
    listed = [
        {
            "code": each.code,
            "name": each.name,
            "severity": each.severity,
            "count": each.findings,
            "fixable": each.fixable,
        }
        for each in counts(report)
    ]
    yield json.dumps(listed, indent=2)
