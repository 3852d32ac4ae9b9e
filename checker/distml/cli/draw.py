"""`distml draw`: a model as a graph, with shapes on its edges."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from distml.cli.check import seconds
from distml.cli.gradual import in_time
from distml.engine.config import ConfigError, load
from distml.report.printing import hand_over

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SUMMARY = "Draw a model as a graph of its layers, with the shapes of what goes between them."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml draw`."""
    parser.add_argument(
        "subject",
        metavar="FILE[::NAME]",
        help="a file, or in it a class, a function, Class.method, or a variable that holds a model",
    )
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
        "--depth", type=int, metavar="N", help="fold modules that lie deeper than this; 0 folds all (default: none)"
    )
    parser.add_argument(
        "--format",
        choices=("mermaid", "html", "svg", "json"),
        default="mermaid",
        help="form of the graph (default: mermaid); svg needs the extra `draw`",
    )


def run(options: Namespace) -> int:
    """Draw; 1 where a line must fail, else 0."""
    from distml.engine.environment import environment
    from distml.gradual.draw import find_drawings
    from distml.gradual.folding import folded
    from distml.gradual.questions import Question
    from distml.report.drawings import FORMS, NotInstalled

    if options.where is not None and not options.where.strip():
        raise ConfigError("--where is empty")
    if options.depth is not None and options.depth < 0:
        raise ConfigError("--depth is negative")
    packages = environment(load(None, os.curdir))
    question = Question(options.subject, options.where, 1, options.time_limit, packages)
    found = in_time(question, lambda: find_drawings(question, options.input))
    shown = found if options.depth is None else tuple(folded(each, options.depth) for each in found)
    try:
        hand_over(FORMS[options.format](shown))
    except NotInstalled as error:
        raise ConfigError(str(error)) from None
    return 1 if any(each.failures for each in found) else 0
