"""`distml shapes`: the source with the shapes of tensors beside its lines."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from distml.cli.check import color, seconds
from distml.cli.gradual import in_time
from distml.engine.config import ConfigError, load
from distml.report.printing import hand_over, say_painted

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SUMMARY = "Show the source with the shape of each tensor beside its line."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml shapes`."""
    parser.add_argument("subject", metavar="FILE[::NAME]", help="a file, or in it a function, a class, or Class.method")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SHAPE",
        help='the shape of an input of NAME: "x: float[8, 3, h, w]", or any annotation; may be given several times',
    )
    parser.add_argument("--where", metavar="EXPR", help='what to assume of inputs: "x.shape[0] > 5"')
    parser.add_argument(
        "--time-limit", type=seconds, default=60.0, metavar="SECONDS", help="for all of it (default: 60)"
    )
    parser.add_argument(
        "--format", choices=("text", "json", "html"), default="text", help="form of the answer (default: text)"
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="color the text")


def run(options: Namespace) -> int:
    """Show; 1 where a line must fail, else 0."""
    from distml.engine.environment import environment
    from distml.gradual.questions import Question
    from distml.gradual.shapes import find_shapes

    if options.where is not None and not options.where.strip():
        raise ConfigError("--where is empty")
    packages = environment(load(None, os.curdir))
    question = Question(options.subject, options.where, 1, options.time_limit, packages)
    shown = in_time(question, lambda: find_shapes(question, options.input))
    if options.format == "json":
        from distml.report.shapes import as_json

        hand_over(json.dumps(as_json(shown), indent=2) + "\n")
    elif options.format == "html":
        from distml.report.shapes_page import as_html

        hand_over(as_html(shown))
    else:
        from distml.report.shapes import as_text

        say_painted(as_text(shown, color(options.color)))
    return 1 if shown.failures else 0
