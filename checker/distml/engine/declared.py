"""A run over declared files, for build systems: nothing but the files given can change its result.

It also says which of them did, so that a build can leave out what was not read. `distml.source.essence` gives the digest
by which one file depends on the meaning of another and not on its comments.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from distml.diagnostics.model import Diagnostic
from distml.engine.config import Config
from distml.engine.one import FLEETING
from distml.engine.results import FileResult, Report
from distml.engine.run import run
from distml.source.file import SourceFile
from distml.source.files import Declared
from distml.source.project import Project

ROOT = os.path.join(os.sep, "declared")  # where the files seem to lie: the same on every machine


class Outcome(NamedTuple):
    """The report on some files; `read` are those it depends on, `shown` those of which it names a place.

    `fleeting` are findings that may be otherwise next time, such as a time limit: nothing should be built on them.
    """

    report: Report
    read: frozenset[str]
    shown: frozenset[str]
    fleeting: tuple[Diagnostic, ...]


def check_declared(
    paths: Sequence[str], contents: Mapping[str, bytes], roots: Sequence[str], config: Config
) -> Outcome:
    """Check `paths`, which are among `contents`: declared files by relative path; imports are looked up in `roots`.

    A finding in another file that the check of that file alone makes too belongs to that file and is left out.
    """
    declared = Declared({os.path.join(ROOT, path): data for path, data in contents.items()})
    config = config._replace(respect_gitignore=False)
    sources = [*roots, *(os.path.normpath(os.path.join(config.folder, source)) for source in config.src)]

    def checked(chosen: Sequence[str]) -> tuple[Report, _Traces]:
        traces = _Traces()
        files = Project(ROOT, sources=sources, max_file_size=config.max_file_size, files=declared)
        return run(chosen, config, cache=traces, project=files), traces

    report, traces = checked(paths)
    findings = list(report.diagnostics)
    others = sorted({finding.span.path for finding in findings} & contents.keys() - set(paths))
    if others:
        alone, more = checked(others)
        traces.read |= more.read
        theirs = {(finding.code, finding.span) for finding in alone.diagnostics}
        findings = [each for each in findings if each.span.path in paths or (each.code, each.span) not in theirs]
    read = frozenset(contents) if traces.all else frozenset(traces.read & contents.keys())  # folders are packages too
    fleeting = tuple(finding for finding in findings if finding.code in FLEETING)
    return Outcome(report._replace(diagnostics=tuple(findings), seconds=0.0), read, _places(findings), fleeting)


def _places(findings: Sequence[Diagnostic]) -> frozenset[str]:
    spans = [finding.span for finding in findings]
    spans += [each.span for finding in findings for each in finding.related]
    spans += [edit.span for finding in findings if finding.fix for edit in finding.fix.edits]
    return frozenset(span.path for span in spans)


class _Traces:
    """Remembers no results, but what they depend on."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.all = False

    def get(self, _path: str) -> FileResult | None:
        return None

    def put(self, path: str, result: FileResult) -> None:
        self.read |= {path, *result.consulted}
        self.all = self.all or not result.lasting

    def trace(self, source: SourceFile, project: Project) -> tuple[str, ...]:
        reached = project.consulted(source)
        return tuple(sorted(os.path.relpath(location, ROOT) for location in reached))
