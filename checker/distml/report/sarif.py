"""The report as SARIF 2.1.0, for code scanning and other collectors of findings.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from distml.diagnostics.model import Diagnostic, Fix, Span
from distml.diagnostics.registry import all_rules
from distml.diagnostics.rule import Rule
from distml.diagnostics.version import VERSION
from distml.engine.results import Report
from distml.report.context import Context

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(report: Report, context: Context) -> Iterator[str]:
    """One SARIF log with one run, and all rules with their help."""
    rules = all_rules()
    index = {rule.code: position for position, rule in enumerate(rules)}
    driver = {
        "name": "distml",
        "version": VERSION,
        "semanticVersion": VERSION,
        "rules": [_rule(rule) for rule in rules],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.code], rules, context) for finding in report.diagnostics],
    }
    if report.baseline is not None:  # one that is there already is no result of this run
        run["results"] = [{**result, "baselineState": "new"} for result in run["results"]]
    if not report.files:
        said = {"level": "warning", "message": {"text": "Nothing was checked."}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [said]}]
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": " ".join(rule.section("What it finds").split()) or rule.summary},
        "help": {"text": rule.documentation, "markdown": f"# {rule.code} {rule.name}\n\n{rule.documentation}"},
        "defaultConfiguration": {"level": rule.severity.value},
    }


def _result(finding: Diagnostic, index: int, rules: tuple[Rule, ...], context: Context) -> dict[str, Any]:
    _, cell = context.in_file(finding.span)
    found: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": rules[index].severity.value,
        "message": {"text": cell + (finding.message if not finding.hint else f"{finding.message}\n{finding.hint}")},
        "locations": [_location(finding.span, context)],
    }
    if finding.related:
        found["relatedLocations"] = [
            {"id": number, "message": {"text": each.message}, **_location(each.span, context)}
            for number, each in enumerate(finding.related)
        ]
    if finding.fix is not None and not any(context.cell(edit.span) for edit in finding.fix.edits):
        found["fixes"] = [_fix(finding.fix)]
    return found


def _location(span: Span, context: Context) -> dict[str, Any]:
    """Where something is in its file; of a notebook, whose text is JSON, by lines, with its cell."""
    cell = context.cell(span)
    artifact = {"artifactLocation": _artifact(span.path)}
    if cell is None:
        return {"physicalLocation": {**artifact, "region": _region(span)}}
    return {
        "physicalLocation": {**artifact, "region": {"startLine": cell.file_line, "endLine": cell.file_end_line}},
        "logicalLocations": [
            {"name": f"cell {cell.cell}", "fullyQualifiedName": f"cell {cell.cell}, line {cell.line}"}
        ],
    }


def _artifact(path: str) -> dict[str, Any]:
    prefix = "file://" if os.path.isabs(path) else ""
    return {"uri": prefix + quote(path.replace(os.sep, "/").encode("utf-8", "surrogateescape"))}


def _region(span: Span) -> dict[str, Any]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    paths = dict.fromkeys(edit.span.path for edit in fix.edits)
    changes = [
        {
            "artifactLocation": _artifact(path),
            "replacements": [
                {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}}
                for edit in fix.edits
                if edit.span.path == path
            ],
        }
        for path in paths
    ]
    return {"description": {"text": fix.description}, "artifactChanges": changes}
