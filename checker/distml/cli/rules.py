"""`distml rules`: the list of all rules."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from distml.diagnostics.registry import all_rules
from distml.diagnostics.rule import Rule
from distml.report.printing import hand_over, say

SUMMARY = "List all rules."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml rules`."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the list (default: text)")


def run(options: Namespace) -> int:
    """Print the list."""
    rules = all_rules()
    if options.format == "json":
        hand_over(json.dumps([_object(rule) for rule in rules], indent=2) + "\n")
        return 0
    width = max(len(rule.name) for rule in rules)
    say(*(f"{rule.code}  {rule.severity.value:7}  {rule.name.ljust(width)}  {rule.summary}" for rule in rules))
    return 0


def _object(rule: Rule) -> dict[str, str]:
    return {"code": rule.code, "name": rule.name, "severity": rule.severity.value, "summary": rule.summary}
