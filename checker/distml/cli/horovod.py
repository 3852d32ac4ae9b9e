"""`distml horovod`: single-process training programs made distributed."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from distml.cli.check import FORMATS, seconds
from distml.cli.coloring import add_color, color, style
from distml.engine.config import ConfigError
from distml.report.printing import complain, hand_over, say, say_painted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from distml.diagnostics.style import Style
    from distml.engine.config import Config
    from distml.rewrites.horovod.options import Options
    from distml.rewrites.horovod.rewrite import Outcome
    from distml.rewrites.horovod.tree import Survey
    from distml.rewrites.model import Rewritten
    from distml.source.notebook import Notebook

SUMMARY = "Make single-process training programs distributed, with Horovod, torch.distributed or accelerate."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml horovod`."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="scripts, notebooks, folders (default: working folder)"
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="only report the training loops that could be rewritten")
    mode.add_argument("--diff", action="store_true", help="print the changes as a patch")
    mode.add_argument("--write", action="store_true", help="make the changes")
    parser.add_argument(
        "--backend",
        choices=("horovod", "ddp", "accelerate"),
        default="horovod",
        help="ddp: torch.distributed; both it and accelerate are for PyTorch",
    )
    parser.add_argument(
        "--framework", choices=("auto", "tensorflow", "keras", "torch"), default="auto", help="only loops of this one"
    )
    parser.add_argument(
        "--scale-lr", choices=("linear", "none"), default="linear", help="learning rate times the number of ranks"
    )
    parser.add_argument(
        "--shard",
        choices=("auto", "steps", "none"),
        default="auto",
        help="auto: shard the data, equal steps on all ranks; steps: only divide the steps",
    )
    parser.add_argument(
        "--warmup", type=_epochs, default=0, metavar="N", help="epochs over which Keras raises the rate"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="form of the report (default: text)")
    parser.add_argument(
        "--time-limit", type=seconds, default=60.0, metavar="SECONDS", help="for each program (default: 60)"
    )
    add_color(parser)
    parser.add_argument("--config", metavar="FILE", help="read [tool.distml] from this file")
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 although there are findings")


def run(options: Namespace) -> int:
    """Survey, then report, show or write; 0, 1 or 2."""
    from distml.engine.config import load
    from distml.rewrites.horovod.options import Options

    if options.format not in ("text", "json") and (options.diff or options.write):
        raise ConfigError(f"--format {options.format} is for reports; --diff and --write know text and json")
    config = load(options.config, os.curdir)
    chosen = Options(options.backend, options.framework, options.scale_lr, options.shard, options.warmup)
    found, notebooks = _survey(options.paths or [os.curdir], config, chosen, options)
    failed = any(each.code == "SRC201" for each in found.problems)
    if options.check or not (options.diff or options.write):
        code = _report(found, notebooks, config, options)
    else:
        code = _change(found, notebooks, options)
    return 2 if failed else 0 if options.exit_zero else code


def _survey(
    paths: list[str], config: Config, chosen: Options, options: Namespace
) -> tuple[Survey, dict[str, Notebook]]:
    from distml.engine.discovery import discover
    from distml.rewrites.horovod.tree import survey
    from distml.rewrites.writing import read_file
    from distml.source.notebook import LARGEST, Notebook, is_notebook
    from distml.source.project import Project
    from distml.source.reading import UnreadableError

    for path in paths:
        if not os.path.lexists(path):
            raise ConfigError(f"no such file or folder: {path}")
    files = discover(paths, config, (".py", ".ipynb"))
    notebooks: dict[str, Notebook] = {}
    problems = list(files.problems)
    for path in filter(is_notebook, list(files.files)):
        try:
            notebooks[path] = Notebook(read_file(path, LARGEST), path)
        except UnreadableError as error:
            problems.append(error.diagnostic)
            files.files.remove(path)
    sources = [os.path.join(os.path.abspath(config.folder), source) for source in config.src]
    project = Project(
        sources=sources,
        unmarked=[*(path for path in paths if os.path.isdir(path)), os.curdir],
        max_file_size=config.max_file_size,
        shown=files.shown,
    )
    limited = partial(_limited, options.time_limit)
    found = survey(files.files, chosen, project, texts=not options.check, limited=limited)
    found.problems[:0] = problems
    return found, notebooks


@contextmanager
def _limited(limit: float) -> Iterator[None]:
    from distml.engine.limits import Alarm, OutOfTimeError

    alarm = Alarm(limit)
    try:
        with alarm:
            yield
    except (OutOfTimeError, Exception):
        if alarm.rang:
            raise TimeoutError(
                f"the analysis of the program was stopped after {limit:g} s of processor time (--time-limit)"
            ) from None
        raise


def _report(found: Survey, notebooks: Mapping[str, Notebook], config: Config, options: Namespace) -> int:
    """The findings, or in text the whole review."""
    from distml.engine.results import Report
    from distml.engine.selection import selector
    from distml.report.context import Context
    from distml.report.forms import form
    from distml.rewrites.horovod.findings import findings

    wanted = selector(config)
    listed = tuple(filter(wanted, findings(found)))
    if options.format == "text" and not options.check:
        _tell(found, notebooks, style(options))
    else:
        report = Report(listed, files=found.files, skipped=found.skipped)
        say_painted(form(options.format)(report, Context(color(options))))
    return int(bool(listed))


def _tell(found: Survey, notebooks: Mapping[str, Notebook], style: Style) -> None:
    from distml.rewrites.horovod.review import as_text

    for problem in found.problems:
        say(f"{problem.span.path}:{problem.span.line}: {problem.code} {problem.message}")
    told = 0
    for outcome in found.outcomes:
        if outcome.plan.loops or outcome.plan.refusals:
            told += 1
            say_painted(as_text(outcome, notebooks, style))
    if not told:
        say("no training loops found" if found.files else "no files to look at")


def _change(found: Survey, notebooks: Mapping[str, Notebook], options: Namespace) -> int:
    """Print or make the changes; 1 where something was refused, or there is a patch to apply."""
    from distml.rewrites.horovod.findings import DONE
    from distml.rewrites.horovod.review import as_object, as_text
    from distml.rewrites.writing import unified

    objects = []
    changed = refused = False
    delivered = [(outcome, _files(outcome, notebooks)) for outcome in found.outcomes]
    if options.write:
        _write({path: each for _, files in delivered for path, each in files.items()}, options.paths or [os.curdir])
    for outcome, files in delivered:
        changed = changed or any(each.source != each.before for each in files.values())
        refused = refused or any(each.code not in DONE - {"HVD202"} for each in outcome.plan.refusals)
        if options.format == "json":
            objects.append(as_object(outcome, notebooks, {path: unified(path, each) for path, each in files.items()}))
            continue
        if options.diff:
            hand_over("".join(unified(path, each) for path, each in files.items()))
        if outcome.plan.loops or outcome.plan.refusals:
            to = sys.stderr if options.diff else sys.stdout
            say_painted(as_text(outcome, notebooks, style(options, to)), to)
    for problem in found.problems:
        complain(f"{problem.span.path}:{problem.span.line}: {problem.code} {problem.message}")
    if options.format == "json":
        import json

        hand_over(json.dumps(objects, indent=2) + "\n")
    return int(refused or bool(found.problems) or (options.diff and changed))


def _files(outcome: Outcome, notebooks: Mapping[str, Notebook]) -> dict[str, Rewritten]:
    """The changed files by the paths that were given; notebooks as notebooks."""
    from distml.rewrites.model import Rewritten

    files: dict[str, Rewritten] = {}
    for location, rewritten in outcome.files.items():
        path = outcome.plan.program.units[location].source.path
        notebook = notebooks.get(path)
        if notebook is not None and rewritten.source != rewritten.before:
            rewritten = Rewritten(notebook.text, notebook.written(rewritten.source), rewritten.edits)
        files[path] = rewritten
    return files


def _write(files: Mapping[str, Rewritten], paths: Sequence[str]) -> None:
    """Write the files of all programs, or none."""
    from distml.rewrites.writing import write_rewritten
    from distml.source.reading import UnreadableError
    from distml.writing.files import WriteError, roots_of

    try:
        write_rewritten(files, roots_of(paths))
    except (WriteError, UnreadableError) as error:
        raise ConfigError(str(error)) from None


def _epochs(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"must be a whole number of epochs, 0 or more, not {text!r}")
    return int(text)
