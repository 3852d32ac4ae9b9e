"""The fixes that findings of `distml check` carry, written into files.

A fix is applied whole or not at all. One that overlaps another waits for the next run; one that would leave a file that
no longer parses is not applied.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from distml.autofix.mending import rewritten
from distml.autofix.proposal import Left, Reason
from distml.diagnostics.model import Diagnostic
from distml.engine.config import load
from distml.engine.run import run
from distml.rewrites.writing import read_file, write_file
from distml.source.reading import UnreadableError
from distml.writing.files import WriteError, roots_of


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
    findings = list(findings)
    concerned = {edit.span.path for each in findings if each.fix for edit in each.fix.edits}
    reasons: dict[str, tuple[Reason, ...]] = {}
    left: list[Left] = []
    roots = roots_of(places)
    for path, change in rewritten(findings, {path: read_file(path) for path in places if path in concerned}).items():
        left += (Left(places[path], each.line, "", each.reason) for each in change.refusals)
        try:
            write_file(path, change, roots)
        except (UnreadableError, WriteError) as error:
            left.append(Left(places[path], min((each.line for each in change.edits), default=1), "", str(error)))
        else:
            reasons[places[path]] = tuple(Reason(each.line, each.what, each.reason, each.rule) for each in change.edits)
    return Fixed({name: each for name, each in reasons.items() if each}, tuple(left))
