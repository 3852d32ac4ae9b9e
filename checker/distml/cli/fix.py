"""`distml check --fix`: write the fixes that findings carry and report what remains; `--diff` only shows them.

A file is written in one step, and only while it is what was checked.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from distml.cli.check import code, look, show
from distml.engine.config import Config
from distml.engine.discovery import discover
from distml.report.printing import complain, hand_over, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.engine.results import Report
    from distml.rewrites.model import Rewritten

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


def _changes(paths: list[str], config: Config, options: Namespace) -> tuple[Report, dict[str, Rewritten]]:
    """A report, and the files below `paths` with the fixes of its findings; those that changed meanwhile are left out."""
    from distml.autofix.mending import rewritten
    from distml.rewrites.writing import text_of
    from distml.source.file import content_hash
    from distml.source.reading import UnreadableError

    before = {}
    for path in discover(paths, config).files:
        with suppress(UnreadableError):  # the report says so
            before[path] = content_hash(_read(path, config))
    report = look(paths, config, options)
    texts = {}
    for path in {edit.span.path for each in report.diagnostics if each.fix for edit in each.fix.edits} & before.keys():
        with suppress(UnreadableError):
            data = _read(path, config)
            if content_hash(data) == before[path]:
                texts[path] = text_of(data, path)
    return report, dict(sorted(rewritten(report.diagnostics, texts).items()))


def _read(path: str, config: Config) -> bytes:
    from distml.source.notebook import limit_of
    from distml.source.reading import read_bytes

    return read_bytes(path, path, limit_of(path, config.max_file_size))


def _written(path: str, change: Rewritten, roots: Sequence[str], out: TextIO) -> bool:
    """Write a file and say what was fixed in it; False where it could not be written."""
    from distml.rewrites.writing import write_file
    from distml.source.reading import UnreadableError
    from distml.writing.files import WriteError

    _refused(path, change)
    if not change.edits:
        return True
    try:
        write_file(path, change, roots)
    except (WriteError, UnreadableError) as error:
        complain(f"distml: not fixed: {error}")
        return False
    say(*dict.fromkeys(f"{path}:{each.place}: fixed [{each.rule}]: {each.what}" for each in change.edits), to=out)
    return True


def _refused(path: str, change: Rewritten) -> None:
    for each in change.refusals:
        complain(f"distml: not fixed: {path}: {each.reason}")
