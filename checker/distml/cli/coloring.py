"""Colors on the command line: one option for every command that prints text for people, and when they are wanted."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from distml.diagnostics.style import Style

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import TextIO

AUTO, ALWAYS, NEVER = "auto", "always", "never"


def add_color(parser: ArgumentParser) -> None:
    """The option `--color`."""
    parser.add_argument(
        "--color",
        choices=(AUTO, ALWAYS, NEVER),
        default=AUTO,
        help="color text (default: auto, on a terminal unless NO_COLOR is set)",
    )


def color(options: Namespace, to: TextIO | None = None) -> bool:
    """Whether text on a stream, by default standard output, is colored."""
    if options.color == AUTO:
        terminal = (to or sys.stdout).isatty()
        return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return bool(options.color == ALWAYS)


def style(options: Namespace, to: TextIO | None = None) -> Style:
    """How text on a stream is painted."""
    return Style(color(options, to))
