"""`distml check`: find the errors and report them."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from distml.cli.coloring import add_color
from distml.cli.outcome import LEVELS, NOTHING_CHECKED, adopted, check, show
from distml.engine.config import MOST_JOBS, MOST_SECONDS, SHOWN, Config, ConfigError, load
from distml.engine.environment import NONE
from distml.engine.run import run as run_checks

if TYPE_CHECKING:
    pass

SUMMARY = "Find tensor-shape errors in files and folders."
DIGITS = 18  # of a number on the command line, before Python is asked what it is
COUNTED = ("text", "json")
FORMATS = ("text", "concise", "json", "sarif", "github", "markdown", "junit", "gitlab")


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml check`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: the working folder)")
    parser.add_argument("--format", choices=FORMATS, default="text", help="form of the report (default: text)")
    parser.add_argument("--select", type=_codes, action="extend", metavar="CODES", help="report only these rules")
    parser.add_argument("--ignore", type=_codes, action="extend", metavar="CODES", help="do not report these rules")
    parser.add_argument("--config", metavar="FILE", help="read [tool.distml] from this file")
    add_python(parser)
    parser.add_argument("--jobs", type=_count, metavar="N", help="worker processes; 0 checks in this process")
    parser.add_argument("--time-limit", type=seconds, metavar="SECONDS", help="for each file (default: 10)")
    parser.add_argument("--no-cache", action="store_true", help="neither use nor write remembered results")
    parser.add_argument(
        "--nothing-checked",
        choices=LEVELS,
        help=f"how to report that no file was checked (default: ${NOTHING_CHECKED}; else error where a file is named)",
    )
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 although there are findings")
    parser.add_argument("--stdin-filename", metavar="PATH", help="check standard input as if it were this file")
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="say how much is known of each function, and where tracking of shapes was lost",
    )
    parser.add_argument("--baseline", metavar="FILE", help="do not report the findings that are in this file")
    updates = parser.add_mutually_exclusive_group()
    updates.add_argument(
        "--write-baseline",
        dest="update",
        action="store_const",
        const="write",
        default="",
        help="write all findings into the baseline",
    )
    updates.add_argument(
        "--update-baseline",
        dest="update",
        action="store_const",
        const="shrink",
        help="remove from the baseline what is no longer found; nothing is added",
    )
    parser.add_argument(
        "--since", metavar="REV", help="report only findings that touch lines changed since this commit"
    )
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--watch", action="store_true", help="check again whenever a file changes")
    again.add_argument(
        "--add-ignore", action="store_true", help="write comments that suppress the findings; report what remains"
    )
    again.add_argument("--fix", action="store_true", help="write the fixes that findings carry; report what remains")
    again.add_argument("--diff", action="store_true", help="print a patch with these fixes instead; change nothing")
    parser.add_argument(
        "--statistics", action="store_true", help="count findings by rule instead of showing them (text or json)"
    )
    add_color(parser)


def run(options: Namespace) -> int:
    """Check; 0, 1 or 2."""
    config = configuration(options)
    _refuse_updates(options)
    if options.statistics and options.format not in COUNTED:
        raise ConfigError(f"--statistics knows the forms {' and '.join(COUNTED)}, not {options.format}")
    if options.stdin_filename is not None:
        if options.paths not in ([], ["-"]) or options.watch or options.fix or options.diff or options.add_ignore:
            raise ConfigError("--stdin-filename takes no PATH, no --watch, --fix, --diff or --add-ignore")
        if sys.stdin is None:
            raise ConfigError("standard input is closed")
        path = os.path.normpath(options.stdin_filename)
        if os.path.isdir(path):
            raise ConfigError(f"--stdin-filename names a folder: {path}")
        overlay = {os.path.realpath(path): sys.stdin.buffer.read()}
        return show(adopted(run_checks([path], config, overlay=overlay), config, options), options)
    paths = options.paths or [os.curdir]
    for path in paths:
        if not os.path.lexists(path):
            raise ConfigError(f"no such file or folder: {path}")
    if options.watch:
        from distml.cli.watch import watch

        return watch(paths, config, options)
    if options.fix or options.diff or options.add_ignore:
        from distml.cli.fix import add_ignore, diff, fix

        return (fix if options.fix else diff if options.diff else add_ignore)(paths, config, options)
    return check(paths, config, options)


def add_python(parser: ArgumentParser) -> None:
    """The argument that names the environment."""
    parser.add_argument(
        "--python", metavar="PATH", help="interpreter or environment whose packages are followed; none for none"
    )


def python_of(options: Namespace) -> str | None:
    """What it says; None where it was not given."""
    given: str | None = options.python
    return given if given in (None, NONE) else os.path.abspath(given)


def configuration(options: Namespace) -> Config:
    """The configuration file with what the command line says instead."""
    config = load(options.config, os.curdir)
    given = {
        "select": tuple(options.select) if options.select else None,
        "ignore": (*config.ignore, *options.ignore) if options.ignore else None,
        "jobs": options.jobs,
        "time_limit": options.time_limit,
        "python": python_of(options),
        "tracked": options.statistics or (options.verbose and options.format == "text") or None,
    }
    return config._replace(**{name: value for name, value in given.items() if value is not None})


def _refuse_updates(options: Namespace) -> None:
    """A baseline is written by a run that sees everything as it is."""
    if not options.update:
        return
    other = {
        "--since": options.since is not None,
        "--diff": options.diff,
        "--add-ignore": options.add_ignore,
        "--watch": options.watch,
        "--stdin-filename": options.stdin_filename is not None,
    }
    for name, given in other.items():
        if given:
            raise ConfigError(f"a baseline cannot be written together with {name}")


def _codes(text: str) -> list[str]:
    return [code for part in text.split(",") if (code := part.strip())]


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > DIGITS or int(text) > MOST_JOBS:
        raise ArgumentTypeError(f"must be a whole number from 0 to {MOST_JOBS}, not {text[:SHOWN]!r}")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds from the command line."""
    try:
        count = float(text)
    except ValueError:
        count = 0.0
    if not 0 < count < MOST_SECONDS:
        raise ArgumentTypeError(f"must be a number of seconds above 0 and below {MOST_SECONDS}, not {text[:SHOWN]!r}")
    return count
