"""`distml shapes`: the source with the shapes of tensors beside its lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from distml.cli.coloring import add_color, color
from distml.cli.gradual import add_inputs, in_time, question_about_inputs
from distml.report.printing import hand_over, say_painted

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SUMMARY = "Show the source with the shape of each tensor beside its line."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml shapes`."""
    add_inputs(parser, "a file, or in it a function, a class, Class.method, or a variable that holds a model")
    parser.add_argument(
        "--format", choices=("text", "json", "html"), default="text", help="form of the answer (default: text)"
    )
    add_color(parser)


def run(options: Namespace) -> int:
    """Show; 1 where a line must fail, else 0."""
    from distml.gradual.shapes import find_shapes

    question = question_about_inputs(options)
    shown = in_time(question, lambda: find_shapes(question, options.input))
    if options.format == "json":
        from distml.report.shapes import as_json

        hand_over(json.dumps(as_json(shown), indent=2) + "\n")
    elif options.format == "html":
        from distml.report.shapes_page import as_html

        hand_over(as_html(shown))
    else:
        from distml.report.shapes import as_text

        say_painted(as_text(shown, color(options)))
    return 1 if shown.failures else 0
