"""What a rewrite does to a program, for the person who reviews it: loops, changes with reasons, warnings, refusals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from distml.diagnostics.printable import safe
from distml.diagnostics.registry import rule
from distml.diagnostics.style import Style
from distml.rewrites.horovod.findings import header, remarks
from distml.rewrites.horovod.plan import Plan
from distml.rewrites.horovod.rewrite import Outcome
from distml.rewrites.patch import Patch
from distml.source.notebook import Notebook


def as_text(outcome: Outcome, notebooks: Mapping[str, Notebook], style: Style) -> Iterator[str]:
    """The review of one program, line by line; safe to print."""
    plan = outcome.plan
    for loop in plan.loops:
        yield f"{style.place(_at(plan, loop.node, notebooks))}: {safe(loop.what)} {style.dim(f'[{loop.code}]')}"
    for kind, remark in remarks(plan):
        place = style.place(_at(plan, remark.node, notebooks))
        level = (style.red if kind == "refused" else style.yellow)(kind)
        yield f"{place}: {level}: {remark.code} {rule(remark.code).name}: {safe(remark.message)}"
        if remark.instead:
            yield f"    {safe(remark.instead)}"
    if plan.refusals:
        yield "nothing is changed"
    else:
        yield from _changes(plan.patches.values(), notebooks, style)
    yield ""


def _changes(patches: Iterable[Patch], notebooks: Mapping[str, Notebook], style: Style) -> Iterator[str]:
    """A line for each change; a reason stands at the first that has it."""
    reasons: set[str] = set()
    told: set[str] = set()
    for path, edit in ((patch.source.path, edit) for patch in patches for edit in patch.edits):
        place = style.place(_spot(path, edit.line, notebooks))
        line = f"{place}: {style.green(safe(edit.what))} {style.dim(f'[{edit.rule}]')}"
        if line not in told:
            yield line
        if edit.reason not in reasons:
            yield f"    {safe(edit.reason)}"
        told.add(line)
        reasons.add(edit.reason)


def _spot(path: str, line: int, notebooks: Mapping[str, Notebook]) -> str:
    place = notebooks[path].place_of_line(line) if path in notebooks else None
    return f"{path}:{place or line}"


def _at(plan: Plan, node: Any, notebooks: Mapping[str, Notebook]) -> str:
    span = plan.span(node)
    return _spot(span.path, span.line, notebooks)


def as_object(outcome: Outcome, notebooks: Mapping[str, Notebook], diffs: Mapping[str, str]) -> dict[str, Any]:
    """The review of one program for other programs; `diffs` are the patches by path."""
    plan = outcome.plan
    changed = {} if plan.refusals else plan.patches
    return {
        "loops": [{"code": loop.code, "what": loop.what, **_place(plan, loop.node, notebooks)} for loop in plan.loops],
        "edits": [
            {"path": patch.source.path, **_line(patch.source.path, edit.line, notebooks), "what": edit.what,
             "reason": edit.reason, "rule": edit.rule}
            for patch in changed.values()
            for edit in patch.edits
        ],
        "warnings": [_remark(plan, each, notebooks) for each in plan.warnings],
        "refusals": [_remark(plan, each, notebooks) for each in plan.refusals],
        "diffs": {patch.source.path: diffs.get(patch.source.path, "") for patch in changed.values()},
    }  # fmt: skip


def _remark(plan: Plan, remark: Any, notebooks: Mapping[str, Notebook]) -> dict[str, Any]:
    told = {"code": remark.code, "name": rule(remark.code).name, "message": remark.message, "instead": remark.instead}
    return {**told, **_place(plan, remark.node, notebooks)}


def _place(plan: Plan, node: Any, notebooks: Mapping[str, Notebook]) -> dict[str, Any]:
    span = header(node, plan)
    return {"path": span.path, **_line(span.path, span.line, notebooks)}


def _line(path: str, line: int, notebooks: Mapping[str, Notebook]) -> dict[str, int]:
    place = notebooks[path].place_of_line(line) if path in notebooks else None
    return {"line": line} if place is None else {"cell": place.cell, "line": place.line}
