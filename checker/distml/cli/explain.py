"""`distml explain`: the page of a rule."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from difflib import get_close_matches

from distml.diagnostics.registry import UnknownRuleError, all_rules, find
from distml.engine.config import ConfigError
from distml.report.pages import page
from distml.report.printing import hand_over

SUMMARY = "Explain a rule: what it finds, why it matters, an example, what to write instead."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml explain`."""
    parser.add_argument("rule", metavar="RULE", help="a code such as SHP101, or a name such as matmul-mismatch")


def run(options: Namespace) -> int:
    """Print the page."""
    try:
        hand_over(page(find(options.rule)))
    except UnknownRuleError:
        raise ConfigError(f"no rule {options.rule!r}{_suggestion(options.rule)}") from None
    return 0


def _suggestion(given: str) -> str:
    known = [text for rule in all_rules() for text in (rule.code, rule.name)]
    near = get_close_matches(given.upper(), known, 1) or get_close_matches(given.lower(), known, 1)
    return f"; did you mean {near[0]}?" if near else "; `distml rules` lists them"
