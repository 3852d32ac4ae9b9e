"""One run of the checks for a command: its report, shown, and the exit code."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from distml.cli.coloring import color
from distml.engine.config import Config, ConfigError
from distml.engine.run import run as run_checks

if TYPE_CHECKING:
    from distml.engine.cache import Cache
    from distml.engine.results import Report
    from distml.report.progress import Progress

NOTHING_CHECKED = "DISTML_NOTHING_CHECKED"
LEVELS = ("warning", "error")


def check(paths: list[str], config: Config, options: Namespace) -> int:
    """One run over `paths`, reported; the exit code."""
    return show(look(paths, config, options), options)


def look(paths: list[str], config: Config, options: Namespace) -> Report:
    """One run over `paths`."""
    progress = _progress()
    try:
        report = run_checks(paths, config, cache=_cache(config, options), progress=progress)
    finally:
        if progress is not None:
            progress.clear()
    return adopted(report, config, options)


def adopted(report: Report, config: Config, options: Namespace) -> Report:
    """The report without what the baseline holds and what touches no changed line."""
    if not (options.baseline is not None or options.update or config.baseline or options.since is not None):
        return report
    from distml.engine.adoption import adopt, wishes

    return adopt(report, config, wishes(config, options.baseline, options.update, options.since))


def show(report: Report, options: Namespace) -> int:
    """Print a report; the exit code."""
    from distml.report.context import Context
    from distml.report.forms import form, statistics
    from distml.report.printing import say_painted

    context = Context(color=color(options), verbose=options.verbose, overlay=report.overlay)
    say_painted((statistics(options.format) if options.statistics else form(options.format))(report, context))
    return code(report, options)


def code(report: Report, options: Namespace) -> int:
    """The exit code for a report; where nothing was checked, standard error says so. A baseline is written here."""
    if report.baseline is not None:
        from distml.cli.baseline import conclude

        conclude(report.baseline, options.update)
    wrong = not report.files and _nothing_is_an_error(report, options)
    if report.failed or wrong:
        return 2
    return int(bool(report.diagnostics) and not options.exit_zero)


def _nothing_is_an_error(report: Report, options: Namespace) -> bool:
    """Say that no file was checked; whether that is an error: where files were named, unless told otherwise."""
    from distml.report.printing import complain

    paths = options.paths or [os.curdir]
    named = options.stdin_filename is None and not all(map(os.path.isdir, paths))
    level = options.nothing_checked or os.environ.get(NOTHING_CHECKED) or ("error" if named else "warning")
    if level not in LEVELS:
        raise ConfigError(f"{NOTHING_CHECKED} must be {' or '.join(LEVELS)}, not {level!r}")
    shown = options.stdin_filename or ", ".join(paths[:3]) + (", ..." if paths[3:] else "")
    cause = "what is named is excluded" if named or options.stdin_filename else "no Python files, or all are excluded"
    complain(f"distml: {level}: nothing was checked in {shown}" + ("" if report.diagnostics else f": {cause}"))
    return level == "error"


def _cache(config: Config, options: Namespace) -> Cache | None:
    if options.no_cache:
        return None
    from distml.engine.cache import Cache
    from distml.source.folders import default_folder

    return Cache(default_folder(), config)


def _progress() -> Progress | None:
    if not sys.stderr.isatty():
        return None
    from distml.report.printing import plain
    from distml.report.progress import Progress

    return Progress(plain(sys.stderr))
