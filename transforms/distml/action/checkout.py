"""Where the repository of the run lies: `actions/checkout` can put it, and others, anywhere in the workspace.

What GitHub shows at lines of files is named from the top of the repository, whatever folder was checked from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from distml.diagnostics.model import Diagnostic, Edit, Fix, Related, Span
from distml.engine.results import Report
from distml.git.clone import Git, GitError, named


def checkout() -> str | None:
    """The folder of this repository's checkout, from the working folder; None where nothing shows which it is.

    It is the one whose remote is `$GITHUB_REPOSITORY`; else the one around the working folder, else the only one below.
    """
    around, below = _around(), list(_below())
    every = [*([around] if around else []), *below]
    wanted = os.environ.get("GITHUB_REPOSITORY", "").lower()
    ours = [each for each in every if _remote(each) == wanted]
    if ours:
        return ours[0]
    return around or (below[0] if len(below) == 1 else None)


def within(workspace: str, report: Report) -> tuple[Report, list[str]]:
    """The report without what files outside of the workspace say, and those files, by the names that links give them.

    A pull request can add a link to any file of the runner, and a finding shows a line of it. git's own folder has tokens.
    """
    places = {each.span.path for each in report.diagnostics} | {each.span.path for each in report.lost}
    places |= {each.span.path for finding in report.diagnostics for each in finding.related}
    away = {path for path in places if not _is_inside(os.path.realpath(path), workspace)}
    found = [each for each in report.diagnostics if each.span.path not in away]
    kept = report._replace(
        diagnostics=tuple(
            each._replace(related=tuple(other for other in each.related if other.span.path not in away))
            for each in found
        ),
        lost=tuple(each for each in report.lost if each.span.path not in away),
    )
    return kept, sorted(away)


def _is_inside(path: str, workspace: str) -> bool:
    inside = os.path.relpath(path, workspace).split(os.sep)
    return inside[0] != os.pardir and ".git" not in inside


def named_from(top: str, report: Report) -> Report:
    """The report with all paths from the folder `top` on; those outside of it are named from there too."""

    def span(place: Span) -> Span:
        return place._replace(path=os.path.relpath(place.path, top))

    return report._replace(
        diagnostics=tuple(_moved(each, span) for each in report.diagnostics),
        lost=tuple(each._replace(span=span(each.span)) for each in report.lost),
    )


def _moved(finding: Diagnostic, span: Callable[[Span], Span]) -> Diagnostic:
    fix = finding.fix
    return finding._replace(
        span=span(finding.span),
        related=tuple(Related(each.message, span(each.span)) for each in finding.related),
        fix=fix and Fix(fix.description, tuple(Edit(span(each.span), each.replacement) for each in fix.edits)),
    )


def _around() -> str | None:
    try:
        return os.path.relpath(Git(os.curdir).ask("rev-parse", "--show-toplevel"))
    except GitError:
        return None


def _below() -> Iterator[str]:
    for folder, folders, files in os.walk(os.curdir):
        if ".git" in (*folders, *files) and folder != os.curdir:
            folders.clear()
            yield os.path.normpath(folder)
        folders[:] = sorted(each for each in folders if not each.startswith("."))


def _remote(folder: str) -> str | None:
    try:
        return named(Git(folder).address("origin"))
    except GitError:
        return None
