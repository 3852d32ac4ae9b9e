"""Reports of smoke runs: for a terminal, as JSON, and as Markdown for a job summary.

What the script printed is text of others: it is made safe where it is shown.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from distml.diagnostics.printable import safe
from distml.report.markup import fenced, prose
from distml.smoke.model import Report, Speed

SHOWN_LINES = 30
MARKS = {"passed": "ok", "failed": "FAILED", "unknown": "unknown"}


def as_text(report: Report) -> str:
    """One line a verdict; where something failed, the end of the output."""
    head = f"{safe(report.script)}: {report.processes} processes, {report.launcher}, {report.backend}"
    width = max(len(verdict.name) for verdict in report.verdicts)
    lines = [f"{head}, {report.steps} steps, {report.seconds:.1f} s"]
    lines += [f"  {v.name.ljust(width)}  {MARKS[v.status].ljust(7)}  {safe(v.text)}" for v in report.verdicts]
    lines += [f"  {line}" for line in _speeds(report)]
    lines += [f"  note: {safe(note)}" for note in report.notes]
    if not report.ok and report.output.strip():
        lines += ["  the end of the output:", *(f"    {safe(line)}" for line in _tail(report.output))]
    return "\n".join(lines) + "\n"


def as_json(report: Report) -> dict[str, Any]:
    """Every field, and whether all is well."""
    return {"ok": report.ok, **asdict(report)}


def as_markdown(report: Report) -> str:
    """A table of verdicts, the speed, and the end of the output where something failed."""
    state = "passed" if report.ok else "failed"
    lines = [f"### Smoke run of {prose(report.script)}: {state}", ""]
    lines += [f"{report.processes} processes, {report.launcher}, {report.backend}, {report.steps} steps.", ""]
    lines += ["| checked | verdict | found |", "|---|---|---|"]
    lines += [f"| {verdict.name} | {MARKS[verdict.status]} | {prose(verdict.text)} |" for verdict in report.verdicts]
    lines += ["", *(f"- {prose(line)}" for line in _speeds(report)), *(f"- {prose(note)}" for note in report.notes)]
    if not report.ok and report.output.strip():
        lines += ["", fenced("\n".join(_tail(report.output)), "text")]
    return "\n".join(lines).rstrip() + "\n"


def _tail(output: str) -> list[str]:
    return output.splitlines()[-SHOWN_LINES:]


def _speeds(report: Report) -> list[str]:
    lines = [_speed(speed) for speed in report.speeds]
    if report.scaling is not None:
        share = report.scaling / report.processes
        lines.append(f"scaling: {report.scaling:.2f} times one process with the large batch, {share:.0%} of ideal")
    return lines


def _speed(speed: Speed) -> str:
    samples = "" if speed.samples is None else f", {speed.samples:.4g} samples/s"
    who = "1 process" if speed.processes == 1 else f"{speed.processes} processes"
    return f"speed: {speed.steps:.4g} steps/s{samples} in {who}"
