"""`distml rules`: the list of all rules."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from distml.cli.coloring import add_color, style
from distml.diagnostics.registry import all_rules
from distml.diagnostics.rule import Rule
from distml.diagnostics.style import Style
from distml.report.printing import hand_over, say_painted

SUMMARY = "List all rules."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml rules`."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the list (default: text)")
    add_color(parser)


def run(options: Namespace) -> int:
    """Print the list."""
    rules = all_rules()
    if options.format == "json":
        hand_over(json.dumps([_object(rule) for rule in rules], indent=2) + "\n")
        return 0
    width = max(len(rule.name) for rule in rules)
    say_painted(_line(rule, width, style(options)) for rule in rules)
    return 0


def _line(rule: Rule, width: int, style: Style) -> str:
    severity = style.severity(rule.severity, f"{rule.severity.value:7}")
    return f"{style.bold(rule.code)}  {severity}  {rule.name.ljust(width)}  {rule.summary}"


def _object(rule: Rule) -> dict[str, str]:
    return {"code": rule.code, "name": rule.name, "severity": rule.severity.value, "summary": rule.summary}
