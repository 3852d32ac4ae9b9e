"""The report as JUnit's XML, which most CI systems show as a list of tests: a suite a file, a failed test a finding.

A file without findings is one test that passed. What distml could not check is an error, not a failure.
https://github.com/testmoapp/junitxml describes the elements; no schema is binding.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from distml.diagnostics.model import Diagnostic
from distml.diagnostics.printable import safe
from distml.diagnostics.registry import rule
from distml.engine.results import Report
from distml.engine.run import UNFINISHED
from distml.report.context import Context


def render(report: Report, context: Context) -> Iterator[str]:
    """One document, a line for each element."""
    files: dict[str, list[Diagnostic]] = {path: [] for path in report.checked}
    for finding in report.diagnostics:
        files.setdefault(finding.span.path, []).append(finding)
    broken = sum(map(_is_error, report.diagnostics))
    tests = sum(len(each) or 1 for each in files.values())
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    counted = _attributes(tests=tests, failures=len(report.diagnostics) - broken, errors=broken)
    yield f"<testsuites {_attributes(name='distml')} {counted} {_attributes(time=f'{report.seconds:.3f}')}>"
    for path, findings in files.items():
        yield from _suite(path, findings, context)
    yield "</testsuites>"


def _suite(path: str, findings: list[Diagnostic], context: Context) -> Iterator[str]:
    broken = sum(map(_is_error, findings))
    counted = _attributes(tests=len(findings) or 1, failures=len(findings) - broken, errors=broken)
    yield f"  <testsuite {_attributes(name=path)} {counted}>"
    if not findings:
        yield f"    <testcase {_attributes(name='distml', classname=path)}/>"
    for finding in findings:
        kind = rule(finding.code)
        name = f"{kind.code} {kind.name} ({context.spot(finding.span)})"
        kind_of = "error" if _is_error(finding) else "failure"
        said = _attributes(type=kind.severity.value, message=" ".join(finding.message.split()))
        yield f"    <testcase {_attributes(name=name, classname=path)}>"
        yield f"      <{kind_of} {said}>{escape(context.place(finding.span))}: {_line(finding.message)}"
        yield from _notes(finding, context)
        yield f"      </{kind_of}>"
        yield "    </testcase>"
    yield "  </testsuite>"


def _notes(finding: Diagnostic, context: Context) -> Iterator[str]:
    """What explains a finding; each line begins with words of ours, so that no runner takes it for a command."""
    for each in finding.related:
        yield f"note: {_line(each.message)} ({escape(context.place(each.span))})"
    if finding.hint:
        yield f"help: {_line(finding.hint)}"
    if finding.fix:
        yield f"fix: {_line(finding.fix.description)}"


def _line(text: str) -> str:
    return escape(safe(" ".join(text.split())))


def _is_error(finding: Diagnostic) -> bool:
    """Whether a file was not checked, or not to its end."""
    return finding.code.startswith(UNFINISHED)


def _attributes(**values: object) -> str:
    return " ".join(f"{name}={quoteattr(safe(str(value)))}" for name, value in values.items())
