"""`distml migrate`: the static shapes that functions can be annotated with."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from distml.cli.coloring import add_color, style
from distml.cli.gradual import add_question, add_writing, asked, deliver, read
from distml.engine.config import ConfigError
from distml.report.printing import hand_over, say_painted

SUMMARY = "Find the shapes a function's inputs can be annotated with, or what contradicts them."
STYLES = ("jaxtyping", "fx", "comment")


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml migrate`."""
    add_question(parser, least=1)
    parser.add_argument("--concrete", action="store_true", help="show sizes that satisfy everything instead of names")
    parser.add_argument("--style", choices=STYLES, default="jaxtyping", help="how annotations are written")
    add_color(parser)
    add_writing(parser, "the annotations")


def run(options: Namespace) -> int:
    """Answer; 0 where every function has a static migration, else 1."""
    from distml.gradual.migrate import migrate

    question, found = asked(options, migrate)
    if not found:
        raise ConfigError(f"{question.subject} has no function with a tensor among its parameters")
    if options.diff or options.write:
        from distml.rewrites.annotate import annotate, targets_of

        annotated = annotate(read(question.path), targets_of(found), options.style)
        deliver(question.path, annotated, write=options.write)
    elif options.format == "json":
        from distml.report.migrations import as_json

        hand_over(json.dumps(as_json(found), indent=2) + "\n")
    else:
        from distml.report.migrations import as_text

        say_painted(as_text(found, options.concrete, style(options)))
    return 0 if all(m.verdict == "static" for m in found) else 1
