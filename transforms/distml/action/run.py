"""The Action from inputs to exit code: one check, told in annotations, summary, SARIF, patch and comment."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence

from distml.action import event, toolkit
from distml.action.checkout import checkout, named_from, within
from distml.action.comment import keep
from distml.action.settings import Settings, read
from distml.autofix.compute import compute
from distml.autofix.fixes import fix_findings
from distml.autofix.patch import patch
from distml.diagnostics.registry import rule
from distml.diagnostics.rule import Severity
from distml.engine.adoption import adopt, wishes
from distml.engine.cache import Cache
from distml.engine.config import Config, ConfigError, load
from distml.engine.results import Report
from distml.engine.run import run as run_checks
from distml.git.clone import Git, GitError
from distml.github.rest import ApiError
from distml.report.context import Context
from distml.report.forms import form
from distml.report.markup import fenced
from distml.report.merging import merged
from distml.writing.files import File, WriteError, write_files

PATCH = "distml.patch"


def main() -> int:
    """Run; 0, 1 for findings that `fail-on` names, 2 where the run itself failed."""
    toolkit.prepare_output()
    try:
        return _run(read())
    except (toolkit.InputError, ConfigError, WriteError, OSError) as error:
        toolkit.annotate("error", str(error), "distml")
        return 2


def _run(settings: Settings) -> int:
    workspace = os.path.realpath(os.curdir)
    _enter(settings.working_directory, workspace)
    top = checkout()
    paths = _paths(settings, top)
    report = _checked(paths, settings) if paths else Report()
    report, away = within(workspace, report)
    for path in away:
        said = f"{path}: it leads out of the workspace, or into git's own folder: what is found there is not shown"
        toolkit.annotate("warning", said, "distml")
    unasked = _nothing_checked(report, paths)
    mended = _patch(paths) if settings.fix and paths and not unasked else b""
    if top is not None:
        report = named_from(top, report)
        os.chdir(top)
    page = _page(report)
    with toolkit.group("distml"):
        toolkit.echo(form("text")(report, Context(overlay=report.overlay)))
    _annotate(report)
    toolkit.summary(page + _patch_section(mended))
    toolkit.output("findings", str(len(report.diagnostics)))
    toolkit.output("sarif-file", _keep_sarif(settings, report, workspace))
    toolkit.output("patch", _keep_patch(mended, workspace))
    if settings.comment:
        _comment(page, len(report.diagnostics))
    return 2 if unasked else _exit_code(report, settings)


def _enter(folder: str, workspace: str) -> None:
    """Work in a folder of the workspace. Raises `InputError`."""
    place = os.path.realpath(folder)
    if not os.path.isdir(place) or os.path.commonpath([place, workspace]) != workspace:
        raise toolkit.InputError(f"working-directory is not a folder of the workspace: {folder}")
    os.chdir(place)


def _nothing_checked(report: Report, paths: Sequence[str]) -> bool:
    """Say so where no file was checked; whether files were asked for, which makes it an error."""
    if report.files or not paths:
        return False
    asked = any(os.path.isfile(path) for path in paths)
    said = f"nothing was checked: there is no Python file in {', '.join(paths)}"
    toolkit.annotate("error" if asked else "warning", said, "distml")
    return asked


def _paths(settings: Settings, top: str | None) -> list[str]:
    """What to check."""
    for path in settings.paths:
        if not os.path.lexists(path):
            raise toolkit.InputError(f"paths: no such file or folder: {path}")
    change = event.pull_request() if settings.changed_only else None
    if change is None:
        return list(settings.paths)
    try:
        changed = event.changed_files(change, event.repository(), top)
    except event.UnknownError as error:
        said = f"cannot list the files that this pull request changes ({error}): checking all paths"
        toolkit.annotate("warning", said, "distml")
        return list(settings.paths)
    chosen = event.to_check(changed, settings.paths)
    if not chosen:
        said = f"nothing was checked: this pull request changes no Python file in {', '.join(settings.paths)}"
        toolkit.annotate("notice", said, "distml")
    return chosen


def _checked(paths: Sequence[str], settings: Settings) -> Report:
    config = _config(settings)
    wanted = wishes(config, settings.baseline or None, since=settings.since or None)
    kept = os.environ.get("DISTML_CACHE_DIR")
    return adopt(run_checks(paths, config, cache=Cache(kept, config) if kept else None), config, wanted)


def _config(settings: Settings) -> Config:
    config = load(None, os.curdir)
    return config._replace(select=settings.families) if settings.families else config


def _annotate(report: Report) -> None:
    places = Context()
    for finding in report.diagnostics:
        kind = rule(finding.code)
        span, cell = places.in_file(finding.span)
        notes = [f"{each.message} ({places.start(each.span)})" for each in finding.related]
        text = "\n".join([cell + finding.message, *notes, *([f"help: {finding.hint}"] if finding.hint else [])])
        level: toolkit.Level = "error" if kind.severity is Severity.ERROR else "warning"
        toolkit.annotate(level, text, f"{kind.code} {kind.name}", span)


def _page(report: Report) -> str:
    return "\n".join(form("markdown")(report, Context())) + "\n"


def _patch(paths: Sequence[str]) -> bytes:
    """What mends the findings in the commit that was checked out; nothing where there is no commit."""
    try:
        git = Git(os.curdir)
        top = git.ask("rev-parse", "--show-toplevel")
        wanted = [os.path.relpath(os.path.realpath(each), top) for each in paths]
        return patch(git, compute(git, git.ask("rev-parse", "HEAD"), [fix_findings], wanted))
    except GitError as error:
        toolkit.annotate("warning", f"fix: no patch was made: {error}", "distml")
        return b""


def _patch_section(mended: bytes) -> str:
    if not mended:
        return ""
    return f"\n<details><summary>Safe fixes</summary>\n\n{fenced(mended.decode('utf-8', 'replace'), 'diff')}\n\n</details>\n"


def _keep_patch(mended: bytes, workspace: str) -> str:
    """Write the patch where no checkout is, and no patch of another step; its path, empty without one."""
    if not mended:
        return ""
    path = os.path.join(tempfile.mkdtemp(prefix="distml-", dir=_temporary()), PATCH)
    _write(path, mended, workspace)
    return path


def _keep_sarif(settings: Settings, report: Report, workspace: str) -> str:
    """Write SARIF, in which each folder that is checked by itself has a category; its path in the workspace."""
    path, folder = settings.sarif_file, os.path.normpath(settings.working_directory)
    if path:
        log = json.loads("".join(form("sarif")(report, Context())))
        whole = merged([log], "distml" if folder == os.curdir else f"distml/{folder}")
        os.chdir(workspace)  # what is written is named from there
        _write(path, json.dumps(whole).encode(), workspace)
    return path


def _write(path: str, data: bytes, workspace: str) -> None:
    """Write a file into the workspace or the runner's folder for temporary files. Raises `WriteError`."""
    write_files([File(path, data)], [workspace, os.path.realpath(_temporary())])


def _temporary() -> str:
    return os.environ.get("RUNNER_TEMP") or tempfile.gettempdir()


def _comment(page: str, findings: int) -> None:
    """The comment is a courtesy: that it cannot be written (a fork has no right to) fails nothing."""
    change, host = event.pull_request(), event.repository()
    if change is None or host is None:
        return
    try:
        keep(host, change.number, page, findings)
    except ApiError as error:
        toolkit.annotate("warning", f"comment: not written: {error}", "distml")


def _exit_code(report: Report, settings: Settings) -> int:
    if report.failed:
        return 2
    counted = {"error": (Severity.ERROR,), "warning": (Severity.ERROR, Severity.WARNING), "never": ()}
    return int(any(rule(each.code).severity in counted[settings.fail_on] for each in report.diagnostics))
