"""The text of files with the fixes that findings carry.

A fix is made whole or not at all: one whose edits overlap those of an earlier finding, or reach a file that may not be
changed, is left out. After the next check it may fit. One fix that several findings carry is made once, for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import NamedTuple

from distml.diagnostics.model import Diagnostic, Edit

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Change(NamedTuple):
    """Replace what stands between two offsets of a text."""

    start: int
    end: int
    replacement: str


def mended(findings: Iterable[Diagnostic], texts: Mapping[str, str]) -> dict[str, str]:
    """The new text of each file of `texts` that the fixes of `findings` change."""
    return {path: _applied(texts[path], made) for path, made in _chosen(findings, texts)[1].items() if made}


def fitting(findings: Iterable[Diagnostic], texts: Mapping[str, str]) -> list[Diagnostic]:
    """Those of `findings` whose fixes `mended` makes."""
    return _chosen(findings, texts)[0]


def _chosen(
    findings: Iterable[Diagnostic], texts: Mapping[str, str]
) -> tuple[list[Diagnostic], dict[str, list[Change]]]:
    """The findings whose fixes are made, and the changes to each file."""
    chosen: list[Diagnostic] = []
    changes: dict[str, list[Change]] = {path: [] for path in texts}
    starts = {path: _line_starts(text) for path, text in texts.items()}
    for finding in findings:
        edits = finding.fix.edits if finding.fix else ()
        if edits and all(
            edit.span.path in texts and edit.span.end_line <= len(starts[edit.span.path]) for edit in edits
        ):
            wanted = [(edit.span.path, _change(edit, starts[edit.span.path])) for edit in edits]
            if all(change.start < change.end and change in changes[path] for path, change in wanted):
                chosen.append(finding)
            elif all(_fits(change, changes[path]) for path, change in wanted):
                chosen.append(finding)
                for path, change in wanted:
                    changes[path].append(change)
    return chosen, changes


def _line_starts(text: str) -> list[int]:
    return [0, *accumulate(len(line) for line in _LINE.findall(text))]


def _change(edit: Edit, starts: list[int]) -> Change:
    span = edit.span
    start, end = starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1
    return Change(start, end, edit.replacement)


def _fits(change: Change, made: list[Change]) -> bool:
    """Whether a change overlaps none of those made."""
    return all(_apart(change, other) for other in made)


def _apart(one: Change, other: Change) -> bool:
    between = int(one.start == one.end or other.start == other.end)  # beside an insertion the order would count
    return one.end + between <= other.start or other.end + between <= one.start


def _applied(text: str, changes: list[Change]) -> str:
    pieces, at = [], 0
    for change in sorted(changes):
        pieces += [text[at : change.start], change.replacement]
        at = change.end
    return "".join([*pieces, text[at:]])
