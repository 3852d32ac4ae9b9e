"""`distml branches`: branches and assertions that shapes decide."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from distml.cli.coloring import add_color, style
from distml.cli.gradual import add_question, add_writing, asked, deliver, read
from distml.report.printing import complain, hand_over, say_painted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.gradual.branches import Decision
    from distml.gradual.trial import Bench
    from distml.rewrites.model import Rewritten

SUMMARY = "Find the branches that shapes always or never take, and say when others are taken."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml branches`."""
    add_question(parser, least=0)  # an empty batch reaches a branch like any other input
    add_color(parser)
    add_writing(parser, "what is left without the dead branches")


def run(options: Namespace) -> int:
    """Answer; 0 where no branch is dead, else 1."""
    from distml.gradual.branches import merged

    question, answers = asked(options, _found)
    found = merged(answers)
    if options.diff or options.write:
        deliver(question.path, _without_dead(read(question.path), question.path, found), write=options.write)
    elif options.format == "json":
        from distml.report.branching import as_json

        hand_over(json.dumps(as_json(found), indent=2) + "\n")
    else:
        from distml.report.branching import as_text

        say_painted(as_text(found, style(options)))
    return 1 if any(d.verdict in ("always", "never") for d in found) else 0


def _found(bench: Bench) -> list[Decision]:
    """What is known of the branches of a target; that it was not followed to its end is said."""
    from distml.gradual.branches import find_branches

    found = find_branches(bench)
    reasons = dict.fromkeys(trial.reason for trial in bench.tried if not trial.complete)
    if reasons or bench.late:
        why = next(iter(reasons), "the time limit was reached")
        complain(f"{bench.target.name}: not followed to its end, so that nothing in it is decided: {why}")
    return found


def _without_dead(source: str, path: str, found: Sequence[Decision]) -> Rewritten:
    from distml.rewrites.branches import remove_branches
    from distml.rewrites.model import Decision as Removal
    from distml.rewrites.model import Refusal

    decided, others = [], []
    for d in found:
        if d.path != path or d.verdict not in ("always", "never"):
            continue
        if d.fails:
            why = "the condition itself may fail for an input that gets here, and the failure would go with it"
            others.append(Refusal("condition", d.line, d.column - 1, d.kind, why))
        elif d.own:
            why = f"the condition is {d.verdict} true, whatever input reaches it"
            decided.append(Removal(d.line, d.column - 1, d.kind, d.verdict, why))
        else:
            why = "only calls by what was asked about were looked at"
            others.append(Refusal("callers", d.line, d.column - 1, d.kind, why))
    rewritten = remove_branches(source, decided)
    return replace(rewritten, refusals=(*rewritten.refusals, *others))
