"""What a survey says, as findings: one for each training loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.diagnostics.model import Diagnostic, Related, Span
from distml.rewrites.horovod.plan import Loop, Plan, Remark
from distml.rewrites.horovod.rewrite import Outcome
from distml.rewrites.horovod.tree import Survey
from distml.source.suppressions import apply

DONE = frozenset({"HVD201", "HVD202"})
"""Refusals of programs in which nothing is left to do: they are told, and are no findings."""


def findings(found: Survey) -> Iterator[Diagnostic]:
    """Loops that could be made distributed, or the reason why one cannot; in a stable order, less those suppressed."""
    yield from found.problems
    for outcome in found.outcomes:
        for finding in _of(outcome):
            unit = next(each for each in outcome.plan.program.units.values() if each.source.path == finding.span.path)
            yield from apply(unit.source, [finding]).kept


def _of(outcome: Outcome) -> Iterator[Diagnostic]:
    plan = outcome.plan
    if any(each.code in DONE for each in plan.refusals):
        return
    if not plan.refusals:
        yield from (_loop(loop, plan) for loop in plan.loops)
        return
    for remark in plan.refusals:
        related = [Related("the training loop", plan.span(loop.node)) for loop in plan.loops[:1]]
        message = f"cannot be made distributed: {remark.message}"
        yield Diagnostic(remark.code, message, header(remark.node, plan), tuple(related), remark.instead or None)


def _loop(loop: Loop, plan: Plan) -> Diagnostic:
    edits = sum(len(patch.edits) for patch in plan.patches.values())
    message = f"{loop.what} trains in one process; it can be made distributed ({edits} changes in the program)"
    related = tuple(Related(f"{each.code}: {each.message}", header(each.node, plan)) for each in plan.warnings)
    hint = "`distml horovod --diff` shows the changes with their reasons, `--write` applies them"
    return Diagnostic(loop.code, message, header(loop.node, plan), related, hint)


def header(node: ast.expr | ast.stmt, plan: Plan) -> Span:
    """Where a node stands; of a statement with a body, its first line."""
    span = plan.span(node)
    body = getattr(node, "body", None)
    if isinstance(body, list) and span.end_line > span.line:
        lines = plan.program.unit(node).source.lines
        return span._replace(end_line=span.line, end_column=len(lines[span.line - 1]) + 1)
    return span


def remarks(plan: Plan) -> Iterator[tuple[str, Remark]]:
    """Refusals and warnings, named so."""
    yield from (("refused", each) for each in plan.refusals)
    yield from (("warning", each) for each in plan.warnings)
