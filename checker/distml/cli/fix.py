"""`distml check --fix`: write the fixes that findings carry and report what remains; `--diff` only shows them.

`--add-ignore` writes comments that hide the findings, by the same means.

A file is written in one step, and only while it is what was checked.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from distml.cli.outcome import code, look, show
from distml.engine.config import Config
from distml.engine.discovery import discover
from distml.report.printing import complain, hand_over, say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from distml.diagnostics.model import Diagnostic, Span
    from distml.engine.results import Report
    from distml.rewrites.model import Rewritten

    Fixes = Callable[[Sequence[Diagnostic], Mapping[str, bytes]], Sequence[Diagnostic]]

ROUNDS = 10  # a fix that touches another one waits for the next


def fix(paths: list[str], config: Config, options: Namespace) -> int:
    """Check and write fixes until there are none, then report; the exit code, 2 where a file could not be written."""
    from distml.writing.files import roots_of

    out = sys.stdout if options.format in ("text", "concise") else sys.stderr
    roots, failed = roots_of(paths), set[str]()
    for _ in range(ROUNDS):
        report, changes = _changes(paths, config, options)
        open_ = {path: each for path, each in changes.items() if path not in failed}
        failed |= {path for path, each in open_.items() if not _written(path, each, roots, out)}
        if not any(each.edits for path, each in open_.items() if path not in failed):
            break
    else:
        report = look(paths, config, options)
    return max(show(report, options), 2 if failed else 0)


def diff(paths: list[str], config: Config, options: Namespace) -> int:
    """Print what fixing would change, as a patch; the exit code for the findings there are."""
    from distml.rewrites.writing import unified

    report, changes = _changes(paths, config, options)
    for path, each in changes.items():
        _refused(path, each)
        hand_over(unified(path, each))
    return code(report, options)


def add_ignore(paths: list[str], config: Config, options: Namespace) -> int:
    """Check, write a comment for each finding that a comment hides, and report what is left; the exit code as for `fix`."""
    from distml.writing.files import roots_of

    out = sys.stdout if options.format in ("text", "concise") else sys.stderr
    _, changes = _changes(paths, config, options, _ignoring)
    roots = roots_of(paths)
    failed = [path for path, each in changes.items() if not _written(path, each, roots, out, "suppressed")]
    return max(show(look(paths, config, options), options), 2 if failed else 0)


def _as_they_are(findings: Sequence[Diagnostic], _contents: Mapping[str, bytes]) -> Sequence[Diagnostic]:
    return findings


def _ignoring(findings: Sequence[Diagnostic], contents: Mapping[str, bytes]) -> Sequence[Diagnostic]:
    """Findings whose fixes are comments that hide all that can be hidden."""
    from distml.source.file import SourceFile
    from distml.source.ignoring import NEVER, ignoring

    hidden: dict[str, list[Diagnostic]] = {}
    for each in findings:
        if not each.code.startswith(NEVER) and each.span.path in contents:
            hidden.setdefault(each.span.path, []).append(each)
    sources = (SourceFile(path, path, contents[path], module="", is_package=False) for path in hidden)
    return [made for source in sources for made in ignoring(source, hidden[source.path])]


def _changes(
    paths: list[str], config: Config, options: Namespace, fixes: Fixes = _as_they_are
) -> tuple[Report, dict[str, Rewritten]]:
    """A report, and the files below `paths` with the fixes of its findings; those that changed meanwhile are left out.

    `fixes` says which fixes: from the findings and the contents of files to findings that carry them.
    """
    from distml.autofix.mending import rewritten
    from distml.rewrites.writing import text_of
    from distml.source.hashing import content_hash
    from distml.source.reading import UnreadableError

    before = {}
    for path in discover(paths, config).files:
        with suppress(UnreadableError):  # the report says so
            before[path] = content_hash(_read(path, config))
    report = look(paths, config, options)
    contents = {}
    for path in {place.path for each in report.diagnostics for place in _places(each)} & before.keys():
        with suppress(UnreadableError):
            data = _read(path, config)
            if content_hash(data) == before[path]:
                contents[path] = data
    findings = fixes(report.diagnostics, contents)
    changed = {edit.span.path for each in findings if each.fix for edit in each.fix.edits} & contents.keys()
    texts = {path: text_of(contents[path], path) for path in changed}
    return report, dict(sorted(rewritten(findings, texts).items()))


def _places(finding: Diagnostic) -> list[Span]:
    return [finding.span, *(edit.span for edit in (finding.fix.edits if finding.fix else ()))]


def _read(path: str, config: Config) -> bytes:
    from distml.source.notebook import limit_of
    from distml.source.reading import read_bytes

    return read_bytes(path, path, limit_of(path, config.max_file_size))


def _written(path: str, change: Rewritten, roots: Sequence[str], out: TextIO, done: str = "fixed") -> bool:
    """Write a file and say what was done in it; False where it could not be written."""
    from distml.rewrites.writing import write_file
    from distml.source.reading import UnreadableError
    from distml.writing.files import WriteError

    _refused(path, change)
    if not change.edits:
        return True
    try:
        write_file(path, change, roots)
    except (WriteError, UnreadableError) as error:
        complain(f"distml: not {done}: {error}")
        return False
    say(*dict.fromkeys(f"{path}:{each.place}: {done} [{each.rule}]: {each.what}" for each in change.edits), to=out)
    return True


def _refused(path: str, change: Rewritten) -> None:
    for each in change.refusals:
        complain(f"distml: not fixed: {path}: {each.reason}")
