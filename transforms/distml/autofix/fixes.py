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
from distml.diagnostics.model import Diagnostic
from distml.engine.config import load
from distml.engine.fixes import fitting, mended
from distml.engine.run import run
from distml.rewrites.model import BOM, Rewritten
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
    findings = list(findings)
    concerned = {edit.span.path for each in findings if each.fix for edit in each.fix.edits}
    texts = {path: read_file(path) for path in places if path in concerned}
    # The places of findings do not count a byte order mark.
    plain = {path: text.removeprefix(BOM) for path, text in texts.items()}
    reasons: dict[str, list[Reason]] = {}
    for finding in fitting(findings, plain):
        assert finding.fix is not None
        path = finding.span.path if finding.span.path in places else finding.fix.edits[0].span.path
        reasons.setdefault(path, []).append(
            Reason(finding.span.line, finding.fix.description, finding.message, finding.code)
        )
    left: list[Left] = []
    for path, text in mended(findings, plain).items():
        problem = _write(path, texts[path], text)
        if problem:
            line = min((each.line for each in reasons.pop(path, ())), default=1)
            left.append(Left(places[path], line, "", problem))
    return Fixed({places[path]: tuple(each) for path, each in reasons.items()}, tuple(left))


def _write(path: str, before: str, text: str) -> str:
    """Write a new text into a file; why not, if not."""
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(text)
        write_file(path, Rewritten(before, (BOM if before.startswith(BOM) else "") + text))
    except (UnreadableError, WriteError) as error:
        return str(error)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"the file would not parse any more: {error}"
    return ""
