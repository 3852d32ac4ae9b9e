"""The fixes that findings of `distml check` carry, written into files.

A fix is applied whole or not at all. One that overlaps another waits for the next run; one that would leave a file that
no longer parses is not applied.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from distml.autofix.proposal import Left, Reason
from distml.diagnostics.model import Diagnostic, Edit
from distml.engine.config import load
from distml.engine.run import run
from distml.rewrites.model import Rewritten
from distml.rewrites.writing import WriteError, read_file, write_file
from distml.source.reading import UnreadableError


class Fixed(NamedTuple):
    """What a fixer did to the files of a folder: why, by file, and what it left as it is."""

    reasons: dict[str, tuple[Reason, ...]]
    left: tuple[Left, ...] = ()


def fix_findings(folder: str, files: Sequence[str]) -> Fixed:
    """Check `files` of the project in `folder` and write what mends their findings."""
    places = {os.path.join(folder, name): name for name in files}
    found = run(list(places), load(None, folder)).diagnostics
    return write_fixes([each for each in found if each.fix], places)


def write_fixes(findings: Iterable[Diagnostic], places: dict[str, str]) -> Fixed:
    """Apply the fixes of `findings` to the files at `places`, path as found -> name to report."""
    edited: dict[str, list[Edit]] = {}
    reasons: dict[str, list[Reason]] = {}
    for finding in findings:
        fix = finding.fix
        if fix is None or not all(_free(edit, edited, places) for edit in fix.edits):
            continue
        for edit in fix.edits:
            edited.setdefault(edit.span.path, []).append(edit)
        path = finding.span.path if finding.span.path in places else fix.edits[0].span.path
        reasons.setdefault(path, []).append(Reason(finding.span.line, fix.description, finding.message, finding.code))
    left: list[Left] = []
    for path, edits in edited.items():
        problem = _write(path, edits)
        if problem:
            reasons.pop(path, None)
            left.append(Left(places[path], edits[0].span.line, "", problem))
    return Fixed({places[path]: tuple(each) for path, each in reasons.items()}, tuple(left))


def edited_text(text: str, edits: Iterable[Edit]) -> str:
    """`text` with edits that do not overlap."""
    starts = _line_starts(text)
    for edit in sorted(edits, key=lambda each: each.span[1:3], reverse=True):
        span = edit.span
        start, end = starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1
        text = text[:start] + edit.replacement + text[end:]
    return text


def _free(edit: Edit, edited: dict[str, list[Edit]], places: dict[str, str]) -> bool:
    """Whether an edit is in a file that may change and apart from all edits there."""
    start, end = edit.span[1:3], edit.span[3:5]
    others = edited.get(edit.span.path, ())
    return edit.span.path in places and all(end < each.span[1:3] or start > each.span[3:5] for each in others)


def _write(path: str, edits: Sequence[Edit]) -> str:
    """Write the edits into a file; why not, if not."""
    try:
        before = read_file(path)
        after = edited_text(before, edits)
        with warnings.catch_warnings(action="ignore"):
            ast.parse(after.removeprefix("\ufeff"))
        write_file(path, Rewritten(before, after))
    except (UnreadableError, WriteError) as error:
        return str(error)
    except (SyntaxError, ValueError, IndexError, RecursionError) as error:
        return f"the file would not parse any more: {error}"
    return ""


def _line_starts(text: str) -> list[int]:
    """Offsets at which lines begin; a line ends at LF, CR or CR LF. A byte order mark is part of no line."""
    starts = [1 if text.startswith("\ufeff") else 0]
    for position, char in enumerate(text):
        if char == "\n" or (char == "\r" and text[position + 1 : position + 2] != "\n"):
            starts.append(position + 1)
    return starts
