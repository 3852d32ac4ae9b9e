"""`distml smoke`: the original and the rewritten script as real processes."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from distml.engine.config import ConfigError
from distml.report.printing import complain, hand_over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from distml.rewrites.horovod.options import Backend
    from distml.smoke.model import Options

SUMMARY = (
    "Run a training script and its distributed version as real processes and compare the results. This runs your code."
)
REST = "arguments"
"""What follows `--` is the script's."""


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml smoke`."""
    parser.add_argument("script", metavar="SCRIPT", help="the training script; its own arguments follow --")
    parser.add_argument(
        "--rewritten", metavar="FILE", help="the distributed script, instead of the one rewritten from SCRIPT"
    )
    parser.add_argument("--np", type=int, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--backend", choices=("gloo", "nccl"), default="gloo", help="CPUs or GPUs (default: gloo)")
    parser.add_argument("--share-gpu", action="store_true", help="all processes on the first GPU")
    parser.add_argument("--steps", type=int, default=8, metavar="N", help="optimizer steps, 0 for all (default: 8)")
    parser.add_argument("--launcher", choices=("auto", "horovodrun", "torchrun", "accelerate"), default="auto")
    parser.add_argument("--python", default=sys.executable, metavar="PATH", help="the Python that has the framework")
    parser.add_argument("--timeout", type=float, default=300, metavar="S", help="seconds for each run (default: 300)")
    parser.add_argument("--stall", type=float, default=45, metavar="S", help="seconds without progress (default: 45)")
    parser.add_argument(
        "--tolerance", type=float, default=0.02, metavar="X", help="of losses, relative (default: 0.02)"
    )
    parser.add_argument("--scale-lr", choices=("linear", "none"), default="linear", help="what the rewriting did")
    parser.add_argument("--no-compare", action="store_true", help="do not run the original in one process")
    parser.add_argument("--cwd", metavar="FOLDER", help="where to run; by default a copy of the script's folder")
    parser.add_argument("--json", metavar="FILE", help="also write the report as JSON")
    parser.add_argument("--markdown", metavar="FILE", help="also write the report as Markdown")


def run(options: Namespace) -> int:
    """Run, compare, report; 0 where nothing failed, else 1."""
    from distml.smoke.model import SmokeError
    from distml.smoke.report import as_json, as_markdown, as_text
    from distml.smoke.run import smoke

    script = Path(options.script)
    if not script.is_file():
        raise ConfigError(f"{script} is not a file")
    wanted = _options(options)
    try:
        modules = _rewritten(script, options)
        complain(f"distml smoke runs {script} and its distributed version, in copies of its folder")
        text = modules.pop(script.name)
        report = smoke(
            script, text, python=options.python, options=wanted, arguments=options.arguments, modules=modules
        )
    except SmokeError as error:
        raise ConfigError(str(error)) from None
    hand_over(as_text(report))
    _write({options.json: json.dumps(as_json(report), indent=2) + "\n", options.markdown: as_markdown(report)})
    return 0 if report.ok else 1


def _options(given: Namespace) -> Options:
    from distml.smoke.model import Options

    if given.cwd and not Path(given.cwd).is_dir():
        raise ConfigError(f"{given.cwd} is not a folder")
    return Options(
        np=given.np,
        backend=given.backend,
        steps=given.steps,
        launcher=given.launcher,
        timeout=given.timeout,
        stall=given.stall,
        tolerance=given.tolerance,
        scale_lr=given.scale_lr,
        compare=not given.no_compare,
        share_gpu=given.share_gpu,
        cwd=given.cwd and str(Path(given.cwd).resolve()),
    )


def _rewritten(script: Path, options: Namespace) -> dict[str, str]:
    """The distributed program: texts by path relative to the script's folder."""
    if options.rewritten:
        try:
            return {script.name: Path(options.rewritten).read_text("utf-8")}
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{options.rewritten}: {error}") from None
    from distml.smoke.rewriting import rewritten

    backends: dict[str, Backend] = {"torchrun": "ddp", "accelerate": "accelerate"}
    return rewritten(script, backends.get(options.launcher, "horovod"), options.scale_lr)


def _write(reports: Mapping[str | None, str]) -> None:
    """Write the reports that were asked for, by path."""
    from distml.writing.files import File, WriteError, roots_of, write_files

    asked = {path: text for path, text in reports.items() if path}
    try:
        write_files([File(path, text.encode()) for path, text in asked.items()], roots_of(asked))
    except WriteError as error:
        raise ConfigError(str(error)) from None
