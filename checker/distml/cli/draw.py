"""`distml draw`: a model as a graph, with shapes on its edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.cli.gradual import add_inputs, in_time, question_about_inputs
from distml.engine.config import ConfigError
from distml.report.printing import hand_over

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SUMMARY = "Draw a model as a graph of its layers, with the shapes of what goes between them."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml draw`."""
    add_inputs(parser, "a file, or in it a class, a function, Class.method, or a variable that holds a model")
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
    from distml.gradual.draw import find_drawings
    from distml.gradual.folding import folded
    from distml.report.drawings import FORMS, NotInstalled

    if options.depth is not None and options.depth < 0:
        raise ConfigError("--depth is negative")
    question = question_about_inputs(options)
    found = in_time(question, lambda: find_drawings(question, options.input))
    shown = found if options.depth is None else tuple(folded(each, options.depth) for each in found)
    try:
        hand_over(FORMS[options.format](shown))
    except NotInstalled as error:
        raise ConfigError(str(error)) from None
    return 1 if any(each.failures for each in found) else 0
